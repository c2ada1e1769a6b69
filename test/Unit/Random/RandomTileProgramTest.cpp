//===- RandomTileProgramTest.cpp - Random programs of tile: compiled code against the interpreter ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../LoweringCPU/Jit.h"
#include "Choices.h"
#include "RandomTileProgram.h"
#include "SeedCount.h"

#include "attune/Reference/EvalTile.h"
#include "attune/Reference/Tolerance.h"
#include "attune/Support/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cstring>
#include <set>

using namespace mlir;
using namespace attune;
using namespace attune::random;
using namespace attune::reference;

namespace {
/// Elements as the machine stores them, and as the interpreter has them.
struct Memory {
  ProgramMemory shape;
  std::vector<char> bytes;
  Array array;

  Memory(const ProgramMemory &memory, uint64_t seed)
      : shape(memory), array({memory.planes, memory.rows, memory.columns}) {
    bytes.resize(array.count() * bytesOf(type()));
    Choices choices(seed, memory.name);
    for (int64_t i = 0; i < array.count(); ++i)
      set(i, memory.isOutput ? 0 : choices.normal());
  }

  ElementType type() const { return *elementTypeOf(shape.dtype); }

  void set(int64_t i, double value) {
    auto single = static_cast<float>(value);
    if (type() == ElementType::F32)
      std::memcpy(bytes.data() + 4 * i, &single, 4);
    uint16_t half = type() == ElementType::F16 ? roundToF16(single) : roundToBF16(single);
    if (type() != ElementType::F32)
      std::memcpy(bytes.data() + 2 * i, &half, 2);
    array.element(i) = get(i);
  }

  double get(int64_t i) const {
    float single;
    uint16_t half;
    if (type() == ElementType::F32)
      return std::memcpy(&single, bytes.data() + 4 * i, 4), single;
    std::memcpy(&half, bytes.data() + 2 * i, 2);
    return type() == ElementType::F16 ? widenF16(half) : widenBF16(half);
  }

  test::Tensor tensor() {
    return {bytes.data(), {shape.planes, shape.rows, shape.columns}, {shape.rows * shape.columns, shape.columns, 1}};
  }

  std::vector<double> computed() const {
    std::vector<double> values(array.count());
    for (int64_t i = 0; i < array.count(); ++i)
      values[i] = get(i);
    return values;
  }
};

struct RandomTileProgramTest : testing::TestWithParam<int> {
  MLIRContext context;
  std::vector<Memory> memories;
  RandomTileProgram program = drawTileProgram(GetParam());

  RandomTileProgramTest() {
    context.loadDialect<tile::TileDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                        memref::MemRefDialect>();
    for (const ProgramMemory &memory : program.memories)
      memories.emplace_back(memory, GetParam());
  }

  bool interpret(Precision precision) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program.text, &context);
    std::vector<Argument> arguments;
    for (const Memory &memory : memories)
      arguments.push_back(memory.array);
    return module && succeeded(evalTile(*module->getOps<func::FuncOp>().begin(), arguments, {precision, 0, true}));
  }
};
} // namespace

TEST_P(RandomTileProgramTest, ModesOfTheInterpreterAgree) {
  ASSERT_TRUE(interpret(Precision::Ideal)) << program.text;
  std::vector<std::vector<double>> ideal;
  for (const Memory &memory : memories)
    ideal.push_back(memory.array.elements());
  ASSERT_TRUE(interpret(Precision::Faithful));
  for (auto [memory, expected] : llvm::zip_equal(memories, ideal))
    EXPECT_LE(relativeError(memory.array.elements(), expected), tolerance(memory.type())) << program.text;
}

TEST_P(RandomTileProgramTest, CompiledCodeAgreesWithTheInterpreter) {
  // Every third seed for the narrower instruction set.
  const char *isa = GetParam() % 3 && test::machineHas("avx512") ? "avx512" : "avx2";
  if (!test::machineHas(isa))
    GTEST_SKIP() << "this machine has no " << isa;
  ASSERT_TRUE(interpret(Precision::Faithful)) << program.text;
  test::Jit jit(context, program.text, {isa});
  std::vector<test::Tensor> arguments;
  for (Memory &memory : memories)
    arguments.push_back(memory.tensor());
  jit.run("plan", isa, arguments);
  for (const Memory &memory : memories)
    EXPECT_LE(relativeError(memory.computed(), memory.array.elements()), tolerance(memory.type()))
        << isa << " " << memory.shape.name << "\n"
        << program.text;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTileProgramTest, testing::Range(0, seedCount(24)));

TEST(RandomTilePrograms, MeetEveryOp) {
  std::set<std::string> met;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::string text = drawTileProgram(seed).text;
    EXPECT_EQ(text, drawTileProgram(seed).text);
    for (const char *op : {"tile.dot", "tile.reduce add", "tile.reduce max", "tile.expand", "tile.mask", "tile.loop",
                           " rows(", " cols(", " diagonal(", "{transpose_a}", "{transpose_b}", "math.exp2", "math.log2",
                           "arith.divf", "arith.select", "xf16>", "xbf16>", "tile.load", "tile.store", " from(", " fold(",
                           "tile.iota", "tile.permute_columns"})
      if (text.find(op) != std::string::npos)
        met.insert(op);
  }
  EXPECT_EQ(met.size(), 23u);
}
