//===- LawList.cpp - Every identity of attention, and what became of it ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A = φ(Q) [n, m], B = φ(K) [N, m], x [N, D] the layer's input, W its weights, β their bias, E [k, N] a compression, P the
// weights of pairs, s a scale, 1 a vector of ones.
//
//===----------------------------------------------------------------------===//
#include "attune/Laws/LawList.h"

#include "attune/Laws/ApproximateLaw.h"
#include "attune/Laws/RewriteLaw.h"

#include "llvm/Support/ErrorHandling.h"

using namespace attune;

static constexpr ListedLaw laws[] = {
    {"I2", "normaliser", "(A Bᵀ) [V 1] = [(A Bᵀ) V, (A Bᵀ) 1]", "a linear form with a denominator",
     "Rethinking Attention with Performers (arXiv 2009.14794)", LawPlace::Kernels,
     "a vector z = Bᵀ 1 beside the state: a column more would make dv + 1 wide tiles, half of them padding"},
    {"I4", "one E x", "E x W_h for all heads h, and for K and V, from one E x", "the same E and the same x",
     "FLuRKA (arXiv 2306.15799)", LawPlace::Kernels,
     "what compress_first makes once: for all heads of a layer, and for K and V of a tied E. Layers have inputs of "
     "their own"},
    {"I6", "product of W_Q and W_K", "(x W_Q) (x W_K)ᵀ = x (W_Q W_Kᵀ) xᵀ",
     "exact softmax or powers; no rope, no qk_norm", "Attention Is All You Need (arXiv 1706.03762), by associativity",
     LawPlace::NotYet,
     "rare: scores become D wide. With two heads or more it loses at every length; with one head of width D it saves "
     "one "
     "projection of four"},
    {"I7", "powers of products", "⟨x ⊗ x, y ⊗ y⟩ = ⟨x, y⟩²", "always", "PolySketchFormer (arXiv 2310.01655)",
     LawPlace::Kernels,
     "pairs square ⟨S(q), S(k)⟩, r multiply-adds instead of r²; a state needs the lift, which is in its slices. The "
     "symmetric half of the lift is left out: slices of unequal length"},
    {"I8", "powers of products", "⟨x^⊗p, y^⊗p⟩ = ⟨x, y⟩^p", "always", "PolySketchFormer (arXiv 2310.01655)",
     LawPlace::Kernels,
     "polynomial attention raises the product. A state of tensor features has d^p rows: rare, of degree 4, the least "
     "in use, it pays at no length; of degree 2 it would for very long sequences"},
    {"I9", "Hadamard transform", "x H by h log₂ h additions = x times a dense matrix", "h a power of two",
     "PolySketchFormer (arXiv 2310.01655)", LawPlace::Kernels,
     "dense, made by prepare: r of h columns are wanted, and the matrix has no padding. A transform could save less "
     "than "
     "a quarter of an attention"},
    {"I11", "pieces of the sequence", "Bᵀ V = Σ over pieces; softmax's with a rescaling",
     "the order of sums may change", "Transformers are RNNs (arXiv 2006.16236)", LawPlace::Schedule,
     "states and compressions in pieces of a fixed length, merged in order, so that bits depend on N alone"},
    {"I12", "factors that cancel", "softmax(S + u 1ᵀ) = softmax(S); (c W V) / (c W 1) = (W V) / (W 1)",
     "denominator without bias, floor and epsilon; of shifts: no rope, qk_norm or E between, no softcap, nobody reads lse",
     "Rethinking Attention with Performers (arXiv 2009.14794)", LawPlace::Canonical,
     "the graph drops the scale of powers, of sketches and of positive features, and the bias of keys that a softmax "
     "compares; "
     "kernels drop FAVOR's -|q|²/2 and m^-1/2 and take the stabilizer they like. The norms of focused queries stay: "
     "most with few channels, where they are 6 % of an attention (32 of them)"},
    {"I13", "online softmax", "softmax over pieces, merged by maximum and sum", "always",
     "Online normalizer calculation for softmax (arXiv 1805.02867)", LawPlace::Kernels,
     "every softmax; its forward pass stores no weights"},
    {"I14", "windows are views", "f(x)[window] = f(x[window])", "f acts on each token alone",
     "Swin Transformer (arXiv 2103.14030)", LawPlace::Kernels,
     "a window is an attribute of the attention, so that both sides are one graph: projection, rope and qk_norm before "
     "it, maps "
     "in its loads, which have strides; nothing is copied"},
    {"I16", "order of features", "⟨x Π, y Π⟩ = ⟨x, y⟩", "one permutation Π for q and k", "elementary",
     LawPlace::Kernels, "what prepare makes lies as kernels read it: W packed by heads"},
    {"I17", "product of W_V and W_O", "(P x W_V) W_O = P x (W_V W_O) of each head", "no LePE or bias between",
     "Attention Is All You Need (arXiv 1706.03762), by associativity", LawPlace::NotYet,
     "rare: values become D wide in every product with P. With two heads or more it loses at every length; with one "
     "head of "
     "width D it saves one projection of four"},
    {"I18", "blocks that nobody sees", "a block of weights that the mask clears adds 0", "mask known from places alone",
     "FlashAttention (arXiv 2205.14135)", LawPlace::Kernels, "tiles past the diagonal are not visited"},
    {"I19", "E as a product", "(E₁ E₂) x = E₁ (E₂ x)", "E is declared as a product", "Linformer (arXiv 2006.04768)",
     LawPlace::NotYet, "a spec's e is any matrix; pooling without one is agent attention's"},
    {"I20", "recomputation", "weights of a backward pass from lse, features from tokens", "deterministic draws",
     "FlashAttention (arXiv 2205.14135)", LawPlace::NotYet,
     "backward functions make both again, from lse that the forward pass leaves or the backward pass computes; which one is the "
     "caller's choice, as no price of it is known"},
    {"I21", "LePE as an epilogue", "o + L(V), L linear and local", "V as projected, before E",
     "CSWin (arXiv 2107.00652)", LawPlace::Kernels, "added to a block of the output before it is stored"},
    {"I22", "constant stabilizer", "exp(a - c) / Σ exp(b - c) is the same for every c", "epsilon = 0, no guard",
     "Rethinking Attention with Performers (arXiv 2009.14794)", LawPlace::Canonical,
     "terms take the constant one, which needs no pass over the keys; kernels carry a running one of each feature "
     "instead, "
     "since against the constant one features of large tokens vanish in f32"},
    {"I23", "what parameters alone decide", "f(parameters) computed once; equal parameters are one",
     "parameters, not inputs of a run", "elementary", LawPlace::Canonical,
     "equal ops of equal operands become one; prepare makes sketches' matrices, folded and packed weights, each once "
     "for all that "
     "read it; a tied E is one argument. Parameters are given with prepare, so none become literals, and equal ones of "
     "different names stay two"},
};

/// Those that laws register under numbers with that letter, and others of that letter, by their numbers.
static std::vector<ListedLaw> inOrder(char letter, llvm::ArrayRef<ListedLaw> others) {
  std::vector<ListedLaw> list(others.begin(), others.end());
  for (const std::unique_ptr<graph::RewriteLaw> &law : graph::createLaws())
    for (const ListedLaw &identity : law->row.identities)
      if (identity.id.front() == letter)
        list.push_back(identity);
  auto number = [](const ListedLaw &law) { return std::stoi(law.id.drop_front().str()); };
  llvm::sort(list, [&](const ListedLaw &left, const ListedLaw &right) { return number(left) < number(right); });
  return list;
}

std::vector<ListedLaw> attune::listedLaws() { return inOrder('I', laws); }

std::vector<ListedLaw> attune::scheduleLawList() { return inOrder('S', {}); }

std::vector<ListedLaw> attune::approximateLawList() {
  std::vector<ListedLaw> list;
  for (const std::unique_ptr<graph::ApproximateLaw> &law : graph::createApproximateLaws())
    list.push_back(law->listed);
  return list;
}

llvm::StringRef attune::nameOf(LawPlace place) {
  switch (place) {
  case LawPlace::Choice:
    return "choice";
  case LawPlace::Canonical:
    return "canonical";
  case LawPlace::Kernels:
    return "kernels";
  case LawPlace::Schedule:
    return "schedule";
  case LawPlace::NotYet:
    return "not yet";
  case LawPlace::Consent:
    return "consent";
  }
  llvm_unreachable("every place is above");
}

static llvm::StringRef exactness(const ListedLaw &law) { return law.exact ? "exact" : "approximate"; }

static void printList(llvm::ArrayRef<ListedLaw> list, llvm::raw_ostream &out) {
  for (const ListedLaw &law : list)
    out << law.id << "  " << law.name << "  (" << nameOf(law.place) << ", " << exactness(law) << ")\n"
        << "     " << law.formula << "\n"
        << "     if: " << law.condition << "\n"
        << "     " << law.remark << "\n"
        << "     source: " << law.source << "\n";
}

void attune::printLaws(llvm::raw_ostream &out) {
  printList(listedLaws(), out);
  printList(scheduleLawList(), out);
  printList(approximateLawList(), out);
}

/// With the bars of |q| as a table's cell has them.
static std::string cell(llvm::StringRef text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

static void printTable(llvm::ArrayRef<ListedLaw> list, llvm::raw_ostream &out) {
  for (const ListedLaw &law : list) {
    bool named = law.place == LawPlace::Choice || law.place == LawPlace::Consent;
    out << "| " << law.id << " | " << (named ? "`" : "") << law.name << (named ? "`" : "") << " | " << cell(law.formula)
        << " | " << cell(law.condition) << " | **" << nameOf(law.place) << "**, " << exactness(law) << ": "
        << cell(law.remark) << " | " << law.source << " |\n";
  }
}

void attune::printLawTable(llvm::raw_ostream &out) {
  out << "| | law | identity | holds if | who applies it | source |\n|---|---|---|---|---|---|\n";
  printTable(listedLaws(), out);
  out << "| | law | computed | can be if | who applies it | source |\n|---|---|---|---|---|---|\n";
  printTable(scheduleLawList(), out);
  out << "| | law | is replaced by | can be if | who applies it | source |\n|---|---|---|---|---|---|\n";
  printTable(approximateLawList(), out);
}
