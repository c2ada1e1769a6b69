//===- DeltaRuleRegionTest.cpp - The gated delta rule from terms ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rule of DeltaRule.h and its gradient as regions of terms, built by the one builder, cut by the one pass. G is the sum of g from
// the begin of a chunk, a = s q:
//
//   forwards    L_ij = β_i ⟨k_i, k_j⟩ e^(G_i − G_j) for j < i;  U = (I + L)⁻¹ β (v − e^G k S);  o = e^G a S + P U
//               S ← e^(G_C) S + (e^(G_C − G) k)ᵀ U
//   reverse     v̄ = β ((I + L)⁻ᵀ (Pᵀ ō + e^(G_C − G) k S));  S ← e^(G_C) S + (e^G a)ᵀ ō − (e^G k)ᵀ v̄
//
//===----------------------------------------------------------------------===//
#include "DeltaRule.h"

#include "Families.h"
#include "Region.h"
#include "SplitReduction.h"
#include "Terms.h"
#include "attune/Reference/Tolerance.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;
using namespace attune::test;
using reference::Array;
using reference::Precision;
using terms::DecaySpan;

static constexpr DeltaSizes sizes{/*tokens=*/93, /*chunk=*/8, /*features=*/5, /*values=*/3, /*heads=*/2};
static constexpr double exact = 1e-12;

namespace {
/// The sources and the stage of one direction; tokens of a chunk are queries and keys in one.
class DeltaRegion {
public:
  DeltaRegion(ArrayRef<BlockArgument> memories, Direction direction, bool stores)
      : memories(memories), direction(direction), stores(stores) {}

  KernelRegion build(tile::ScheduleAttr schedule) {
    auto extents = std::make_shared<Extents>();
    (*extents)[Axis::Head] = {memories[0], 0};
    (*extents)[Axis::Query] = {memories[0], 1}, (*extents)[Axis::Key] = {memories[1], 1};
    (*extents)[Axis::Batch].memory = memories[0];
    Stage stage{Axis::Query, sizes.chunk, {{"chunks", Border::Begin, Border::End, false}}, extents};
    stage.together = Axis::Key, stage.state = state, stage.reverse = direction == Direction::Reverse;
    stage.begin = term(terms::writtenState(Representation::Plain), {ofHead(memories[5])});
    if (!stores) // as many pieces as the pass is asked for
      stage.cut = StageCut{};
    StepForm step = direction == Direction::Forward ? forwards() : backwards();
    KernelRegion region{"delta", "rule", schedule, {{Axis::Head, tile::Axis::Head}}, extents, {}};
    region.outputs = {{stream(stage, std::move(step)), memories[7], placeOfState()}};
    return region;
  }

private:
  SmallVector<Dimension, 4> placeOfState() const { return {head(), columns(sizes.features), columns(sizes.values)}; }
  static Dimension head() { return {Axis::Head}; }
  static Dimension columns(int64_t count) { return {std::nullopt, 1, 0, 1, count}; }
  Source ofHead(Value memory) const { return fusion::memory(memory, placeOfState()); }
  Source tokens(Value memory, int64_t width) const {
    return fusion::memory(memory, {head(), {Axis::Key, 1, 0, 1, 0, true}, columns(width)});
  }
  Source numbers(Value memory) const { return fusion::memory(memory, {head(), {Axis::Key, 1, 0, 1, 0, true}}); }
  Source decay(DecaySpan span) const { return term(terms::tokenDecay(span, sizes.features), {numbers(memories[3])}); }
  Source decayed(Source x, DecaySpan span) const { return term(terms::decayed(), {std::move(x), decay(span)}); }
  Source pairs(Source rows) const {
    return decayed(term(terms::logits(Representation::Plain, 1, /*wide=*/true), {std::move(rows), k}), DecaySpan::Between);
  }
  Source timesBeta(Source x) const { return term(terms::times(), {std::move(x), beta}); }
  RegionOutput rowsOf(Source rows) const {
    return {std::move(rows), memories[6], {head(), {Axis::Query, 1, 0, 1, 0, true}, columns(sizes.values)}};
  }

  StepForm forwards() const {
    Source held = term(terms::product(), {decayed(k, DecaySpan::Since), state});
    Source written = term(terms::product(), {inverse, timesBeta(term(terms::minus(), {rows, held}))});
    Source o = term(terms::product(), {weights, written, term(terms::product(), {decayed(a, DecaySpan::Since), state})});
    return step({decayed(k, DecaySpan::Until), written}, o);
  }
  StepForm backwards() const {
    Source own = term(terms::product(/*transposed=*/true), {weights, rows});
    Source read = term(terms::product(), {decayed(k, DecaySpan::Until), state, own});
    Source v = timesBeta(term(terms::product(/*transposed=*/true), {inverse, read}));
    Source erased = term(terms::scale(-1), {v});
    return step({decayed(a, DecaySpan::Since), rows, decayed(k, DecaySpan::Since), erased}, v);
  }
  StepForm step(ArrayRef<Source> products, const Source &output) const {
    StepForm result{terms::erasedSums(sizes.features, sizes.values), {decay(DecaySpan::Whole)}};
    llvm::append_range(result.operands, products);
    if (stores)
      result.outputs = {rowsOf(output)};
    return result;
  }

  SmallVector<Value> memories; ///< q, k, rows, g, beta, initial, results, state
  Direction direction;
  bool stores;
  std::shared_ptr<const BoundSource> state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  Source a = term(terms::scale(1 / std::sqrt(double(sizes.features))), {tokens(memories[0], sizes.features)});
  Source k = tokens(memories[1], sizes.features), rows = tokens(memories[2], sizes.values), beta = numbers(memories[4]);
  Source weights = term(terms::lowerTriangle(), {pairs(a)});
  Source inverse = term(terms::unitInverse(), {term(terms::belowDiagonal(), {pairs(timesBeta(k))})});
};

class DeltaRuleRegion : public ::testing::TestWithParam<std::tuple<Direction, bool>> {
protected:
  DeltaRuleRegion() {
    context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, memref::MemRefDialect, func::FuncDialect>();
    context.disableMultithreading();
    auto beta = [](std::mt19937_64 &random, int64_t) { return std::uniform_real_distribution<double>(0, .3)(random); };
    auto g = [](std::mt19937_64 &random, int64_t head) {
      std::uniform_real_distribution<double> share(0, 1);
      double little = -.02 * share(random);
      return head == 1 && share(random) < .025 ? -50 : little;
    };
    tensors = drawDelta(sizes, {1, beta, g}, 7);
  }
  Direction direction() const { return std::get<0>(GetParam()); }
  bool stores() const { return std::get<1>(GetParam()); }

  /// The kernel, and the host function that launches it.
  OwningOpRef<ModuleOp> module() {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    constexpr int64_t any = ShapedType::kDynamic, m = sizes.features, dv = sizes.values;
    auto memory = [&](ArrayRef<int64_t> shape) { return Type(MemRefType::get(shape, builder.getF32Type())); };
    Type features = memory({any, any, m}), values = memory({any, any, dv}), numbers = memory({any, any}), state = memory({any, m, dv});
    SmallVector<Type> types{features, features, values, numbers, numbers, state, values, state};
    builder.setInsertionPointToEnd(module->getBody());
    auto host = func::FuncOp::create(builder, loc, "host", builder.getFunctionType(types, {}));
    builder.setInsertionPointToEnd(host.addEntryBlock());
    auto schedule = cast<tile::ScheduleAttr>(parseAttribute("#tile.schedule<target = cpu, query_tile = 8, key_tile = 8, "
                                                            "piece = 2048, operand = f32, warps = 1, stages = 1>",
                                                            &context));
    kernel::BuildSite site{*module, builder, loc};
    FailureOr<tile::LaunchOp> launch =
        buildRegion(site, DeltaRegion(host.getArguments(), direction(), stores()).build(schedule));
    EXPECT_TRUE(succeeded(launch));
    func::ReturnOp::create(builder, loc);
    return module;
  }

  double errorOf(ModuleOp module) {
    EXPECT_TRUE(succeeded(verify(module)));
    DeltaResults got{Array(tensors.rows.shape()), Array(tensors.initial.shape())};
    auto host = *module.getOps<func::FuncOp>().begin();
    if (failed(reference::evalTile(host, {tensors.q, tensors.k, tensors.rows, tensors.g, tensors.beta, tensors.initial,
                                          got.rows, got.state})))
      return INFINITY;
    DeltaResults want = recurrence(sizes, tensors, direction());
    double state = reference::relativeError(got.state.elements(), want.state.elements());
    return stores() ? std::max(state, reference::relativeError(got.rows.elements(), want.rows.elements())) : state;
  }
  /// After the reduction was split into so many pieces, by the pass that splits every other one.
  double errorOfPieces(int64_t pieces) {
    OwningOpRef<ModuleOp> split = module();
    tile::LaunchOp launch;
    split->walk([&](tile::LaunchOp op) { launch = op; });
    auto kernel = split->lookupSymbol<tile::KernelOp>(launch.getCallee());
    FailureOr<bool> done = attune::kernel::splitReduction(kernel, {launch}, pieces);
    EXPECT_TRUE(succeeded(done) && *done == !stores());
    return errorOf(*split);
  }

  MLIRContext context;
  DeltaTensors tensors;
};
} // namespace

TEST_P(DeltaRuleRegion, IsTheRecurrence) { EXPECT_LE(errorOf(*module()), exact); }

TEST_P(DeltaRuleRegion, AnyCutIsOnePass) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    OwningOpRef<ModuleOp> pieces = module();
    ASSERT_TRUE(succeeded(cutLoops(*pieces, {seed, seed + 100})));
    EXPECT_LE(errorOf(*pieces), exact);
  }
}

TEST_P(DeltaRuleRegion, PiecesSideBySideAreOnePass) {
  for (int64_t pieces : {2, 3, 5, 16})
    EXPECT_LE(errorOfPieces(pieces), exact) << pieces;
}

INSTANTIATE_TEST_SUITE_P(Directions, DeltaRuleRegion,
                         testing::Combine(testing::Values(Direction::Forward, Direction::Reverse), testing::Bool()),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param) == Direction::Forward ? "Forward" : "Reverse") +
                                  (std::get<1>(info.param) ? "Rows" : "State");
                         });
