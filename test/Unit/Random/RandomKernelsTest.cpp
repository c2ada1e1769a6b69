//===- RandomKernelsTest.cpp - Random specs: kernels against mechanisms --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each seed: the mechanism is evaluated by its definition, and then brought into every form that the laws and the
// pin leave, cut into kernels and run by the interpreter of tile. In the ideal mode what lies between is rounding of
// f64 and of the kernels' f32 constants; in the faithful mode it is the tolerance of the storage type.
//
//===----------------------------------------------------------------------===//
#include "RandomInputs.h"
#include "RandomSpec.h"
#include "SeedCount.h"

#include "attune/Attn/Attn.h"
#include "attune/Graph/Passes.h"
#include "attune/Kernel/Passes.h"
#include "attune/Reference/EvalAttn.h"
#include "attune/Reference/EvalTile.h"
#include "attune/Reference/HostArrays.h"
#include "attune/Reference/Tolerance.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::random;
using namespace attune::reference;

namespace {
class RandomKernelsTest : public testing::TestWithParam<int> {
protected:
  MLIRContext context;

  RandomKernelsTest() { context.loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect>(); }

  OwningOpRef<ModuleOp> parse(const RandomSpec &spec) { return parseSourceString<ModuleOp>(spec.module(), &context); }

  /// The module with host functions and kernels; null if a pass fails.
  OwningOpRef<ModuleOp> kernelsOf(const RandomSpec &spec) {
    OwningOpRef<ModuleOp> module = parse(spec);
    PassManager passes(&context);
    graph::SelectRewritesOptions options;
    if (!spec.pin.empty())
      options.pins = {spec.pinnedLaw() + ":" + spec.pin};
    passes.addPass(graph::createSelectRewrites(options));
    passes.addPass(kernel::createAttnToTile());
    passes.addPass(kernel::createTileSplitReduction());
    if (failed(passes.run(*module)))
      return {};
    return module;
  }

  /// The inputs, rounded to the storage type.
  std::vector<Array> arraysOf(const RandomSpec &spec, const RandomInputs &inputs) {
    Builder builder(&context);
    Type storage = spec.dtype == "f16"    ? Type(builder.getF16Type())
                   : spec.dtype == "bf16" ? Type(builder.getBF16Type())
                                          : Type(builder.getF32Type());
    std::vector<Array> arrays;
    for (const HostTensor *tensor : {&inputs.query, &inputs.key, &inputs.value})
      arrays.push_back(toArray(*tensor, storage));
    if (inputs.lengths)
      arrays.push_back(toArray(*inputs.lengths, builder.getI32Type()));
    return arrays;
  }
};
} // namespace

/// The output of a host function of q, k, v[, lengths], o.
static std::optional<Array> runPlan(func::FuncOp plan, ArrayRef<Array> inputs, ArrayRef<int64_t> shape,
                                    Precision precision, uint64_t seed) {
  std::vector<Argument> arguments(inputs.begin(), inputs.end());
  Array output(shape, std::numeric_limits<double>::quiet_NaN());
  arguments.push_back(output);
  if (failed(evalTile(plan, arguments, {precision, seed, /*checkRaces=*/true})))
    return std::nullopt;
  return output;
}

TEST_P(RandomKernelsTest, AgreeWithTheDefinition) {
  auto seed = static_cast<uint64_t>(GetParam());
  RandomSpec spec = drawSpec(seed, {2, 150, 2, 2, 40});
  RandomInputs inputs = drawInputs(spec, seed);
  std::vector<Array> arrays = arraysOf(spec, inputs);
  OwningOpRef<ModuleOp> mechanism = parse(spec), kernels = kernelsOf(spec);
  ASSERT_TRUE(mechanism && kernels) << spec.yaml();
  FailureOr<std::vector<Array>> expected = evalAttn(*mechanism->getOps<func::FuncOp>().begin(), arrays);
  ASSERT_TRUE(succeeded(expected)) << spec.yaml();
  const Array &output = expected->front();
  // Beyond the range of the tolerances only a finite output is promised.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double storage = inputs.inRange() ? tolerance(*elementTypeOf(spec.dtype), inputs.largestLogit) : infinity;
  double ideal = inputs.inRange() ? 1e-11 : infinity; // float64, and the constants are exact
  int plans = 0;
  for (auto plan : kernels->getOps<func::FuncOp>()) {
    ++plans;
    std::optional<Array> exact = runPlan(plan, arrays, output.shape(), Precision::Ideal, seed);
    ASSERT_TRUE(exact) << spec.yaml();
    EXPECT_EQ(mismatch(*exact, output, ideal), "") << plan.getName().str() << "\n" << spec.yaml();
    std::optional<Array> rounded = runPlan(plan, arrays, output.shape(), Precision::Faithful, seed + 1);
    ASSERT_TRUE(rounded) << spec.yaml();
    EXPECT_EQ(mismatch(*rounded, output, storage), "") << plan.getName().str() << "\n" << spec.yaml();
  }
  EXPECT_GE(plans, 1);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomKernelsTest, testing::Range(0, seedCount(60)));
