//===- Linearize.cpp - Kernel attention: quadratic, state, chunked --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   quadratic   o = (visible(A Bᵀ) V) / (visible(A Bᵀ) 1)                A = φ(Q), B = φ(K)
//   state       o = (A S) / (A z),  S = Bᵀ V, z = Bᵀ 1                   no mask between queries and keys (I1)
//   fused_state the same, each head's state made and read in one kernel
//   merged_state the same as state, the pieces of the keys merged by the program that stores the last of them
//   chunked     the causal sums, a chunk at a time, from a carried state (I10)
//   split       the same, the sequence cut into parts: the states of all but the last first, then the parts side by side (I11)
//   grouped     chunked, the query heads of a key-value head one after another in each chunk: one φ(K) and one state (I15)
//
// With φ(x) = S(x) ⊗ S(x) they are the forms of `attn.polysketch` as well. They are equal in real arithmetic. Keys
// that do not exist have features 0, so that they are in none of the sums.
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Execution.h"
#include "attune/Attn/Exponents.h"
#include "attune/Attn/Packed.h"
#include "attune/Laws/RewriteLaw.h"
#include "attune/Kernel/SketchRules.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

static constexpr StringLiteral groupedForm = "grouped", fusedForm = "fused_state", mergedForm = "merged_state",
                        splitForm = "split";

namespace {
/// Types and values that the linear forms of one op share.
struct Terms {
  Terms(OpBuilder &builder, KernelOp op) : builder(builder), op(op), loc(op.getLoc()) {
    ArrayRef<int64_t> o = op.getOutput().getType().getShape(), v = op.getValue().getType().getShape();
    std::tie(queryFeatures, keyFeatures) = buildFeatures(builder, op);
    ArrayRef<int64_t> b = cast<RankedTensorType>(keyFeatures.getType()).getShape();
    numerator = f32({o[0], o[1], o[2], o[3]}), denominator = f32({o[0], o[1], o[2]});
    state = f32({b[0], b[1], b[3], v[3]}), sum = f32({b[0], b[1], b[3]});
  }

  RankedTensorType f32(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getF32Type()); }

  /// The op's results from the terms of a form.
  SmallVector<Value> results(Value num, Value den, Value state, Value sum, Value scale = Value()) {
    if (op.getDenominator().getNone())
      den = Value();
    SmallVector<Value> results{NormalizeOp::create(builder, loc, op.getOutput().getType(), num, den, op.getDenominatorAttr())};
    llvm::append_range(results, finalStates(op, state, sum, scale));
    return results;
  }

  OpBuilder &builder;
  KernelOp op;
  Location loc;
  Value queryFeatures, keyFeatures; // [batch, H, n, m], [batch, G, N, m]
  Type numerator, denominator, state, sum;
};
} // namespace

static bool isStateForm(StringRef form) { return form == "state" || form == fusedForm || form == mergedForm; }

static SmallVector<Value> buildState(OpBuilder &builder, KernelOp op, StringRef form) {
  Terms terms(builder, op);
  auto state =
      StateOp::create(builder, terms.loc, terms.state, terms.sum, terms.keyFeatures, op.getValue(), op.getLengths());
  Execution execution;
  execution.values = form == fusedForm ? Values::Fused : Values::AsUsual;
  execution.ending = form == mergedForm ? Ending::LastBlock : Ending::MergeKernel;
  auto readout = ReadoutOp::create(builder, terms.loc, terms.numerator, terms.denominator, terms.queryFeatures,
                                   state.getState(), state.getSum(), execution.toAttr(builder.getContext()));
  return terms.results(readout.getNumerator(), readout.getDenominator(), state.getState(), state.getSum());
}

static SmallVector<Value> buildChunked(OpBuilder &builder, KernelOp op, StringRef form) {
  Terms terms(builder, op);
  Execution execution;
  execution.split = form == splitForm, execution.grouped = form == groupedForm;
  CausalReadoutOp readout =
      buildCausalReadout(builder, op, terms.queryFeatures, terms.keyFeatures, execution.toAttr(builder.getContext()));
  return terms.results(readout.getNumerator(), readout.getDenominator(), readout.getState(), readout.getSum(), readout.getScale());
}

/// What no form with a state has.
static std::string stateRefusal(KernelOp op) {
  if (op.getWindow())
    return "the blocks of a window would each have a state of their own";
  return "";
}

static constexpr StringLiteral fromInitialState = "pair weights cannot continue from an initial state",
                               noFinalState = "pair weights make no final state";

/// Whether features are exponents that decay, which a state carries row by row.
static bool decaysExponents(KernelOp op) {
  return op.getDecay() && !op.getFeatureMap().isFavor() && carriesExponents(op.getFeatureMap(), op.getKey().getType().getDimSize(3), op.getDenominatorAttr());
}

static std::string quadraticRefusal(KernelOp op) {
  if (op.getCompressKey())
    return "compressed features make no pair weights";
  if (op.getInitialState())
    return fromInitialState.str();
  if (op.getFinalState())
    return noFinalState.str();
  if (op.getErase())
    return "what a key writes depends on what those before it have written";
  if (!hasPairs(op))
    return "every feature of a pair decays in its own way";
  if (decaysExponents(op))
    return "weights of pairs would leave the range of f32, and decay has none of logarithms";
  return "";
}

/// What the order of queries and keys forbids.
static std::string orderRefusal(bool causal, StringRef form) {
  if (isStateForm(form) && causal)
    return "one state for all queries would let a causal query see later keys";
  if ((form == "chunked" || form == splitForm || form == groupedForm) && !causal)
    return "chunks order queries and keys, and this attention is not causal";
  return "";
}

/// What the query heads of a key-value head do not share.
static std::string groupRefusal(KernelOp op) {
  if (op.getQuery().getType().getDimSize(1) == op.getKey().getType().getDimSize(1))
    return "every query head has keys of its own";
  auto parameter = op.getParameter() ? cast<RankedTensorType>(op.getParameter().getType()) : RankedTensorType();
  if (parameter && parameter.getDimSize(0) != 1)
    return "every query head maps the keys in a way of its own";
  if (op.getErase())
    return "every head solves the chunk of its own";
  return "";
}

/// A sketched attention stays one op, which names its form: sketches are squared inside the kernels alone.
static SmallVector<Value> buildSketched(OpBuilder &builder, PolysketchOp op, StringRef form) {
  auto copy = cast<PolysketchOp>(builder.clone(*op));
  decide(copy, [&](Execution &execution) {
    execution.form = form == "quadratic" ? TermForm::AsWritten : form == "state" ? TermForm::State : TermForm::Chunked;
    execution.split = form == splitForm;
  });
  return SmallVector<Value>(copy->getResults());
}

static std::string sketchRefusal(PolysketchOp op, StringRef form) {
  if (form == "quadratic" && op.getInitialState())
    return fromInitialState.str();
  if (form == "quadratic" && op.getFinalState())
    return noFinalState.str();
  std::string order = orderRefusal(op.getCausal(), form);
  if (order.empty() && form == groupedForm)
    return "every query head sketches the keys in a way of its own";
  if (order.empty() && form == splitForm && op.hasStates())
    return "one program has the state that is handed on";
  if (order.empty() && form == splitForm && kernel::sketchNeedsUnit(op.getDegree()))
    return "the unit of sketches of that degree runs along the sequence";
  if (order.empty() && form == fusedForm)
    return "the state of squared sketches is too large to stay in a kernel";
  if (order.empty() && form == mergedForm)
    return "the slices of a state of squared sketches are merged side by side, and one program has all of a piece";
  return order;
}

static constexpr graph::LawForm forms[] = {
    {"quadratic", "every query with every key that it sees, tile by tile: cost grows with n N"},
    {"state", "keys and values are summed up in one matrix first, then queries read it: cost grows with n + N"},
    {"fused_state", "state, with the sum and the reading in one kernel"},
    {"merged_state", "state, with what pieces of the keys sum up to added up in the kernel that makes the last one"},
    {"chunked", "causal, chunk by chunk; what earlier chunks sum up to is carried along: cost grows with n"},
    {"split", "chunked, in parts of the sequence side by side, after what the keys of all but the last sum up to"},
    {"grouped", "chunked, once for all query heads that share a key-value head"},
};

static constexpr ListedLaw identities[] = {
    {"I1", "linearize", "(A Bᵀ) V = A (Bᵀ V)", "not causal; nothing between the product and V; no window",
     "Transformers are RNNs (arXiv 2006.16236)", LawPlace::Choice,
     "quadratic: n N (m + dv) multiply-adds; state: (n + N) m dv, which wins for n, N above some m dv / (m + dv); "
     "fused_state: the same in one kernel, without workspace, which wins where heads occupy the cores; merged_state: "
     "state "
     "without a kernel for the merge of the pieces, which wins where a launch costs more than the counting"},
    {"I10", "linearize", "o_i = A_i (S₀ + Σ_{j ≤ i} B_j v_jᵀ), in chunks", "causal, n = N",
     "PolySketchFormer (arXiv 2310.01655), theorem 3.1", LawPlace::Choice,
     "chunked: n T (m + dv) + 2 n m dv with T tokens a chunk; split: (1 - 1/P) (n m dv and a map of the keys) more, "
     "for P parts of "
     "the sequence side by side, which wins where heads are fewer than cores"},
    {"I15", "linearize", "φ(K), Bᵀ V and loads of K and V once for the H/G query heads of a key-value head",
     "the same K, V and φ; causal, n = N; no window", "GQA (arXiv 2305.13245)", LawPlace::Choice,
     "grouped: chunked with one state a group, n m dv and a map of the keys less for each other head; loses where the "
     "heads of groups are fewer than cores, unless keys: split cuts their sequences. Without causal every state is made once "
     "for a group anyway"},
};

static constexpr graph::LawRow lawRow = {"linearize", "a mechanism with features", "there is no state to go through",
                                         forms, identities};

namespace {
struct LinearizeLaw : graph::RewriteLaw {
  LinearizeLaw() : RewriteLaw(lawRow) {}
  bool appliesTo(Operation *op) const override { return isa<KernelOp, PolysketchOp>(op); }

  std::string refusal(Operation *operation, StringRef form) const override {
    if (form == splitForm)
      if (std::string reason = graph::refuseParts(operation); !reason.empty())
        return reason;
    auto function = operation->getParentOfType<func::FuncOp>();
    if (form == mergedForm && function && attn::isPacked(function))
      return "only the device knows how many pieces a packed sequence has";
    if (auto sketched = dyn_cast<PolysketchOp>(operation))
      return sketchRefusal(sketched, form);
    auto op = cast<KernelOp>(operation);
    if (form == "quadratic")
      return quadraticRefusal(op);
    std::string reason = stateRefusal(op);
    if (reason.empty())
      reason = orderRefusal(op.getCausal(), form);
    if (reason.empty() && form == groupedForm)
      return groupRefusal(op);
    if (reason.empty() && form == splitForm && decaysExponents(op))
      return "the unit of features that decay runs along the sequence";
    if (reason.empty() && op.getCompressKey() && form == fusedForm)
      return "the state is of compressed tokens, which kernels of their own make first";
    if (reason.empty() && op.getCompressKey() && form == mergedForm)
      return "the state is of compressed tokens, which are one piece";
    return reason;
  }

  SmallVector<Value> build(OpBuilder &builder, Operation *operation, StringRef form) const override {
    if (auto sketched = dyn_cast<PolysketchOp>(operation))
      return buildSketched(builder, sketched, form);
    auto op = cast<KernelOp>(operation);
    if (form == "quadratic" || op.getCompressKey())
      return op.decompose(builder);
    if (isStateForm(form))
      return buildState(builder, op, form);
    return buildChunked(builder, op, form);
  }
};
} // namespace

std::unique_ptr<graph::RewriteLaw> graph::createLinearizeLaw() { return std::make_unique<LinearizeLaw>(); }
