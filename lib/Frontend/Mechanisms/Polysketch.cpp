//===- Polysketch.cpp - Sketches of powers -------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../MechanismKind.h"

#include "llvm/Support/MathExtras.h"

namespace attune {

static constexpr llvm::StringRef polysketchFields[] = {"kind", "degree", "size", "local_exact", "denominator", "lepe"};

/// Calls `add` with the two names of each random matrix, of its signs and of its indices, and with its width, in the order of the tree:
/// leaves, of tokens of `d` channels, and then nodes.
static void visitSketches(const Mechanism &m, int64_t d, llvm::function_ref<void(std::string, std::string, int64_t)> add) {
  int64_t leaves = m.degree / 2;
  auto addAt = [&](std::string node, std::string side, int64_t width) { add(node + ".sign" + side, node + ".index" + side, width); };
  for (int64_t i = 0; i < leaves; ++i)
    addAt("sketch.leaf" + std::to_string(i), "", llvm::PowerOf2Ceil(d));
  for (int64_t j = 0; j + 1 < leaves; ++j)
    for (const char *side : {"_a", "_b"})
      addAt("sketch.node" + std::to_string(j), side, m.sketchSize);
}

namespace {
struct Polysketch : MechanismKind {
  constexpr Polysketch() : MechanismKind("polysketch", polysketchFields) {}
  bool hasPacked() const override { return true; }
  bool hasState() const override { return true; }
  /// A state of each query head, which has a sketch of its own, of all products of two entries.
  void addState(const PartState &of) const override {
    const Spec &spec = of.spec;
    int64_t heads = of.part.heads, shared = heads / spec.headsPerKvHead(), products = of.m.sketchSize * of.m.sketchSize;
    of.add("s", {spec.states(), heads, products, spec.valueDim}, Elements::Normal);
    of.add("z", {spec.states(), heads, products}, Elements::Gate);
    of.add("scale", {spec.states(), heads}, Elements::Normal);
    if (!of.m.localExact)
      return;
    of.add("k", {spec.states(), shared, *of.m.localExact, spec.headDim}, Elements::Normal);
    of.add("v", {spec.states(), shared, *of.m.localExact, spec.valueDim}, Elements::Normal);
  }
  double defaultScale(int64_t) const override { return 1; }
  void visit(FieldIO &fields, Mechanism &m) const override {
    auto powerOfTwo = [](int64_t x) { return static_cast<int64_t>(llvm::PowerOf2Ceil(x)); };
    fields.sizeThat(
        "degree", m.degree, [&](int64_t x) { return std::max<int64_t>(4, powerOfTwo(x)); }, "4, 8, 16, ... (2 times a power of two)");
    fields.sizeThat("size", m.sketchSize, powerOfTwo, "a power of two");
    fields.optional("local_exact", m.localExact);
  }
  /// S33: the exact diagonal blocks belong to the causal form.
  void check(PartRules &of) const override {
    if (of.m.localExact && of.good({"kind", "local_exact"}) && of.notCausal())
      of.atKey("local_exact", "causal: true with local_exact", "causal: false", "add `causal: true` or remove `local_exact`");
  }
  void checkSizes(PartSizes &of) const override {
    of.checkCausal();
    if (of.m.localExact && !of.spec.hasState())
      of.checkDivisor("local_exact", *of.m.localExact);
  }
  /// A random sign of each entry and an index of each entry that is kept.
  void addParameters(PartTensors &tensors) const override {
    int64_t heads = tensors.part.heads, kept = tensors.m.sketchSize;
    visitSketches(tensors.m, tensors.spec.headDim, [&](std::string sign, std::string index, int64_t width) {
      tensors.add(sign, {heads, width}, "size", Elements::Sign);
      tensors.add(index, {heads, kept}, "size", Elements::Index, 0, ElementType::I32).bound = width;
    });
  }
  /// p/2 leaves and p/2 - 1 nodes, of two and four tensors.
  int64_t parametersAtMost(const Mechanism &m) const override { return 3 * m.degree + MechanismKind::parametersAtMost(m); }
  mlir::Value build(PartBuilder &of) const override {
    AttnBuilder &b = of.b;
    llvm::SmallVector<mlir::Value> signs, indices;
    visitSketches(of.m, b.spec.headDim, [&](std::string sign, std::string index, int64_t) {
      signs.push_back(of.parameter(sign)), indices.push_back(of.parameter(index));
    });
    mlir::IntegerAttr block = of.m.localExact ? b.integer(*of.m.localExact) : mlir::IntegerAttr();
    mlir::Type types[5] = {}; // of S, z, what they stand in, and of what is held of a block
    if (b.spec.finalState)
      for (auto [type, tensor] : llvm::zip(types, stateTensors(b.spec, of.part, finalPrefix)))
        type = b.typeOf(tensor);
    mlir::Value position = block ? b.argument("state.position") : mlir::Value();
    auto op = attn::PolysketchOp::create(b.builder, of.place, of.output, types[0], types[1], types[2], types[3], types[4], of.q, of.k,
                                         of.v, of.lengths, signs, indices, of.parameter("state.s"), of.parameter("state.z"),
                                         of.parameter("state.scale"), of.parameter("state.k"), of.parameter("state.v"), position,
                                         b.integer(of.m.degree), b.integer(of.m.sketchSize), block, of.scale(), of.guard(), of.causal(),
                                         /*execution=*/{});
    llvm::append_range(b.finalStates, op->getResults().drop_front());
    return op.getOutput();
  }
};
} // namespace

static constexpr Polysketch polysketch;
const MechanismKind &polysketchKind = polysketch;

} // namespace attune
