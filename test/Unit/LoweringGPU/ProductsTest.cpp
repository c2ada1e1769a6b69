//===- ProductsTest.cpp - Products of every shape in the emulator --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One product a kernel, of loaded or of computed operands, against sums in double. A product is right if each element is
// within the bound that follows from its instruction: what operands lose, and half a unit in the last place or one that
// every step of the matrix unit may cut off.
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <random>

using namespace attune;
using namespace attune::test;

namespace {
struct Product {
  int64_t m, n, k;
  std::string dtype = "f16";
  bool transposeA = false, transposeB = false;
  bool computed = false; ///< operands are twice what memory has, made in registers
  std::string precision = {}; ///< " precision tf32"
  int64_t warps = 4, warpColumns = 1;
  bool byWarpgroups = false; ///< wgmma is asked for, and must come
  int sizeA = 0, sizeB = 0;  ///< exponents of 2 that the numbers of an operand are multiplied by
  int spread = 0;            ///< of these exponents, to either side, from number to number

  int64_t rowsA() const { return transposeA ? k : m; }
  int64_t columnsA() const { return transposeA ? m : k; }
  int64_t rowsB() const { return transposeB ? n : k; }
  int64_t columnsB() const { return transposeB ? k : n; }
  /// Rows of 16 bytes are copied in one piece; others take banks as they come.
  bool aligned() const {
    int64_t multiple = dtype == "f32" ? 4 : 8;
    return columnsA() % multiple == 0 && columnsB() % multiple == 0;
  }
  std::string describe() const {
    return dtype + " " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) +
           (transposeA ? " A'" : "") + (transposeB ? " B'" : "") + (computed ? " computed" : "") + precision +
           " warps " + std::to_string(warps) + " columns " + std::to_string(warpColumns) +
           (byWarpgroups ? " wgmma" : "") + " sizes " + std::to_string(sizeA) + " " + std::to_string(sizeB) + " +- " +
           std::to_string(spread);
  }
  std::string source() const;
  double bound() const;
};

struct Products : public ::testing::Test {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  Products() {
    context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                        mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect, mlir::memref::MemRefDialect,
                        mlir::NVVM::NVVMDialect, mlir::scf::SCFDialect>();
  }

  std::optional<DevicePlan> compile(const std::string &source, bool wgmma = false) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
    if (!module)
      return std::nullopt;
    return wgmma ? lowerPlan(std::move(module), "sm_90a", device::Products::Wgmma) : lowerPlan(std::move(module));
  }

  /// The largest error in units of Σ |a| |b| over the elements.
  double run(const Product &product);
  void check(const Product &product) { EXPECT_LE(run(product), product.bound()) << product.describe(); }
};
} // namespace

static std::string tileType(int64_t rows, int64_t columns, const std::string &element) {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + element + ">";
}
static std::string memoryType(int64_t rows, int64_t columns, const std::string &element) {
  return "memref<1x1x" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + element + ">";
}

/// Loads operand `name`; doubled in registers if `computed`.
static std::string operand(const std::string &name, int64_t rows, int64_t columns, const std::string &dtype,
                           bool computed) {
  std::string type = tileType(rows, columns, dtype), wide = tileType(rows, columns, "f32"), v = "%" + name;
  std::string text = v + "0 = tile.load %" + (name == "a" ? "A" : "B") + "[%c0, %c0, %c0, %c0] : " +
                     memoryType(rows, columns, dtype) + " -> " + type + "\n";
  if (!computed)
    return text;
  if (dtype == "f32")
    return text + v + "1 = arith.addf " + v + "0, " + v + "0 : " + type + "\n";
  return text + v + "w = arith.extf " + v + "0 : " + type + " to " + wide + "\n" + v + "s = arith.addf " + v + "w, " + v +
         "w : " + wide + "\n" + v + "1 = arith.truncf " + v + "s : " + wide + " to " + type + "\n";
}

std::string Product::source() const {
  std::string A = memoryType(rowsA(), columnsA(), dtype), B = memoryType(rowsB(), columnsB(), dtype), C = memoryType(m, n, "f32");
  std::string from = computed ? "1" : "0";
  std::string transposes = transposeA && transposeB ? "{transpose_a, transpose_b} "
                           : transposeA             ? "{transpose_a} "
                           : transposeB             ? "{transpose_b} "
                                                    : "";
  return "tile.kernel @product(%A: " + A + ", %B: " + B + ", %C: " + C +
         ") grid(batch) attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, "
         "operand = " +
         dtype + ", warps = " + std::to_string(warps) + ", stages = 1, warp_columns = " + std::to_string(warpColumns) +
         ">} {\n%c0 = arith.constant 0 : index\n%zero = arith.constant dense<0.0> : " + tileType(m, n, "f32") + "\n" +
         operand("a", rowsA(), columnsA(), dtype, computed) + operand("b", rowsB(), columnsB(), dtype, computed) +
         "%c = tile.dot %a" + from + ", %b" + from + ", %zero" + precision + " " + transposes + ": " +
         tileType(rowsA(), columnsA(), dtype) + ", " + tileType(rowsB(), columnsB(), dtype) + " -> " + tileType(m, n, "f32") +
         "\ntile.store %c, %C[%c0, %c0, %c0, %c0] : " + tileType(m, n, "f32") + ", " + C + "\ntile.return\n}\n" +
         "func.func @plan(%A: " + A + ", %B: " + B + ", %C: " + C + ") {\n%c1 = arith.constant 1 : index\n" +
         "tile.launch @product grid(%c1) (%A, %B, %C) : " + A + ", " + B + ", " + C + "\nreturn\n}\n";
}

double Product::bound() const {
  bool tf32 = !precision.empty(), split = dtype == "f32" && !tf32;
  double steps = std::ceil(double(k) / 8) * (split ? 3 : 1);
  // tf32: 2^-11 of each operand. Split: 2^-22 of each rest, and the product of rests.
  double operands = dtype != "f32" ? 0 : tf32 ? 0x1p-10 : 3 * 0x1p-22;
  return operands * 1.01 + steps * 0x1p-23;
}

namespace {
/// A matrix of random numbers in −1 … 1, as a tensor [1, 1, rows, columns].
class Matrix {
public:
  Matrix(const std::string &dtype, int64_t rows, int64_t columns, unsigned seed);
  double get(int64_t i, int64_t j) const;
  void set(int64_t i, int64_t j, double value);
  /// Multiplies the numbers by 2^(exponent ± spread).
  void scale(int exponent, int spread);
  Tensor tensor() { return {bits.data(), {1, 1, rows, columns}, {rows * columns, rows * columns, columns, 1}}; }

private:
  int64_t rows, columns;
  const llvm::fltSemantics &semantics;
  int64_t bytes;
  std::vector<uint64_t> bits; // aligned for copies of 16 bytes by the allocator
  char *place(int64_t i, int64_t j) const { return (char *)bits.data() + (i * columns + j) * bytes; }
};
} // namespace

static const llvm::fltSemantics &semanticsOf(const std::string &dtype) {
  return dtype == "f32" ? llvm::APFloat::IEEEsingle() : dtype == "f16" ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
}

Matrix::Matrix(const std::string &dtype, int64_t rows, int64_t columns, unsigned seed)
    : rows(rows), columns(columns), semantics(semanticsOf(dtype)), bytes(dtype == "f32" ? 4 : 2),
      bits((rows * columns * bytes + 7) / 8) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(-1, 1);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      set(i, j, draw(random));
}

double Matrix::get(int64_t i, int64_t j) const {
  uint32_t word = 0;
  std::memcpy(&word, place(i, j), bytes);
  llvm::APFloat number(semantics, llvm::APInt(8 * bytes, word));
  bool lost;
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

void Matrix::set(int64_t i, int64_t j, double value) {
  llvm::APFloat number(value);
  bool lost;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  uint32_t word = number.bitcastToAPInt().getZExtValue();
  std::memcpy(place(i, j), &word, bytes);
}

void Matrix::scale(int exponent, int spread) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> draw(exponent - spread, exponent + spread);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      set(i, j, std::ldexp(get(i, j), draw(random)));
}

static void expectClean(const EmulatorReport &report, const std::string &name, bool conflictFree) {
  std::string findings;
  llvm::raw_string_ostream stream(findings);
  report.printFindings(stream);
  EXPECT_TRUE(report.clean()) << name << "\n" << findings;
  for (const BankUse &use : report.bankUse)
    if (conflictFree)
      EXPECT_EQ(use.waves, use.phases) << name << ": bank conflicts at " << use.instruction;
}

/// Products of a warpgroup, and of a warp.
static std::pair<int64_t, int64_t> instructionsOf(const DevicePlan &plan) {
  std::pair<int64_t, int64_t> count;
  mlir::ModuleOp kernels = *plan.kernels;
  kernels.walk([&](mlir::LLVM::InlineAsmOp op) { count.first += op.getAsmString().contains("wgmma.mma_async"); });
  kernels.walk([&](mlir::NVVM::MmaOp) { ++count.second; });
  return count;
}

double Products::run(const Product &product) {
  std::optional<DevicePlan> plan = compile(product.source(), product.byWarpgroups);
  if (!plan)
    return INFINITY;
  auto [ofGroups, ofWarps] = instructionsOf(*plan);
  EXPECT_EQ(ofGroups > 0, product.byWarpgroups) << product.describe();
  EXPECT_EQ(ofWarps > 0, !product.byWarpgroups) << product.describe();
  EmulatedPlan emulated(*plan);
  Matrix a(product.dtype, product.rowsA(), product.columnsA(), 1);
  Matrix b(product.dtype, product.rowsB(), product.columnsB(), 2), c("f32", product.m, product.n, 3);
  a.scale(product.sizeA, product.spread), b.scale(product.sizeB, product.spread);
  emulated.run({a.tensor(), b.tensor(), c.tensor()});
  expectClean(emulated.report(), product.describe(), product.aligned());
  double worst = 0, factor = product.computed ? 4 : 1;
  for (int64_t i = 0; i < product.m; ++i)
    for (int64_t j = 0; j < product.n; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t l = 0; l < product.k; ++l) {
        double term = factor * (product.transposeA ? a.get(l, i) : a.get(i, l)) *
                      (product.transposeB ? b.get(j, l) : b.get(l, j));
        sum += term, magnitude += std::fabs(term);
      }
      double error = std::fabs(c.get(i, j) - sum) / magnitude;
      worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
    }
  return worst;
}

TEST_F(Products, OfEveryType) {
  for (const char *dtype : {"f16", "bf16", "f32"})
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        for (bool computed : {false, true})
          check({64, 48, 40, dtype, transposeA, transposeB, computed, "", 4, 1});
}

// Fewer rows than a fragment, fewer columns than a block, k of less than a step or odd.
TEST_F(Products, OfAnySize) {
  const int64_t sizes[][3] = {{1, 1, 1}, {5, 3, 7}, {16, 8, 4}, {17, 9, 20}, {24, 40, 8}, {70, 20, 33}, {130, 72, 24}};
  for (auto [m, n, k] : sizes)
    for (const char *dtype : {"f16", "f32"})
      for (bool transposed : {false, true})
        for (bool computed : {false, true})
          check({m, n, k, dtype, transposed, !transposed, computed, "", 4, 1});
}

TEST_F(Products, OnGridsOfWarps) {
  const int64_t grids[][2] = {{1, 1}, {2, 2}, {8, 2}, {8, 4}, {8, 8}, {4, 4}};
  const int64_t sizes[][3] = {{64, 64, 64}, {40, 24, 72}, {16, 136, 32}, {7, 5, 3}};
  for (auto [warps, columns] : grids)
    for (auto [m, n, k] : sizes)
      for (const char *dtype : {"bf16", "f32"})
        for (bool transposed : {false, true})
          check({m, n, k, dtype, transposed, !transposed, /*computed=*/true, "", warps, columns});
  check({64, 256, 64, "f32", false, true, false, "", 8, 2});
  check({16, 1024, 16, "f32", false, false, false, "", 8, 8});
}

TEST_F(Products, ByWarpgroups) {
  const int64_t sizes[][3] = {{64, 128, 64}, {64, 64, 128}, {128, 72, 80}, {64, 8, 32}, {64, 40, 48}, {192, 256, 16}};
  const char *dtype = "f16", *other = "bf16";
  for (auto [m, n, k] : sizes)
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true}) {
        for (bool computed : {false, true})
          check({m, n, k, dtype, transposeA, transposeB, computed, "", 4, 1, /*byWarpgroups=*/true});
        std::swap(dtype, other);
      }
}

// The last step along k is filled up with zeros as operands are copied.
TEST_F(Products, ByWarpgroupsOfAnyDepth) {
  for (int64_t k : {8, 20, 33, 72, 136})
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        check({64, 40, k, "f16", transposeA, transposeB, false, "", 4, 1, /*byWarpgroups=*/true});
  check({128, 64, 24, "bf16", false, true, false, "", 8, 2, true});
}

// Rows that fill no block: A in registers. Eight warps: two groups, over each other or side by side.
TEST_F(Products, ByWarpgroupsOnGrids) {
  for (int64_t m : {1, 40, 72, 100})
    for (bool computed : {false, true})
      check({m, 32, 32, "f16", false, true, computed, "", 4, 1, true});
  for (bool transposed : {false, true})
    for (bool computed : {false, true}) {
      check({128, 64, 64, "f16", transposed, transposed, computed, "", 8, 1, true});
      check({100, 64, 64, "bf16", false, transposed, computed, "", 8, 1, true});
      check({64, 128, 64, "f16", transposed, !transposed, computed, "", 8, 2, true});
      check({64, 64, 64, "bf16", transposed, transposed, computed, "", 8, 2, true});
      check({128, 256, 32, "f16", transposed, !transposed, computed, "", 16, 2, true});
    }
}

// What warpgroups cannot make is made by mma.sync: the same values.
TEST_F(Products, RefusedByWarpgroups) {
  auto refused = [&](Product product) {
    std::optional<DevicePlan> plan = compile(product.source(), /*wgmma=*/true);
    ASSERT_TRUE(plan) << product.describe();
    EXPECT_EQ(instructionsOf(*plan).first, 0) << product.describe();
    EXPECT_GT(instructionsOf(*plan).second, 0) << product.describe();
  };
  refused({64, 64, 40, "f16", false, false, /*computed=*/true}); // half a step of k, which nothing fills up
  refused({40, 64, 40, "f16"});                                  // the same in registers
  refused({64, 40, 7, "f16", false, true});                      // rows narrower than a copy
  refused({64, 64, 64, "f32"});                                  // not 16 bits
  refused({64, 64, 64, "f16", false, false, false, "", 2, 1});   // no four rows of warps
  refused({64, 264, 64, "f16"});                                 // more than 256 columns
  refused({40, 64, 64, "f16", true});                            // rows of A in shared memory that are not there
  refused({64, 192, 64, "f16", false, false, false, "", 8, 2});  // 96 columns from the middle of a panel on
}

// LLVM may not put them under a condition in which the threads of a group differ.
TEST_F(Products, WarpgroupsStayTogether) {
  std::optional<DevicePlan> plan = compile(Product{64, 64, 64, "f16"}.source(), /*wgmma=*/true);
  ASSERT_TRUE(plan);
  llvm::LLVMContext llvmContext;
  auto device = translateDeviceModule(*plan->kernels, llvmContext);
  ASSERT_TRUE(succeeded(device));
  int64_t found = 0;
  for (llvm::Function &function : **device)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm()) {
        EXPECT_TRUE(call->isConvergent());
        ++found;
      }
  EXPECT_EQ(found, 5); // four steps of k, and the wait with their sums; the fence has no registers
}

// One product of tf32 is off by what tf32 drops; three are as good as f32, and no worse where a number has a large rest.
TEST_F(Products, OfF32KeepItsBits) {
  Product product{64, 64, 64, "f32", false, false, false, ""};
  double exact = run(product);
  product.precision = " precision tf32";
  double relaxed = run(product);
  EXPECT_LE(relaxed, product.bound());
  EXPECT_GT(relaxed, 100 * exact);
}

// The parts of an operand are as far from each other whatever its size; so are those of its neighbours in a sum.
TEST_F(Products, OfF32OfEverySize) {
  const int sizes[][2] = {{50, 50}, {-50, -50}, {100, -100}, {-90, 110}, {0, -90}, {90, 0}};
  for (auto [sizeA, sizeB] : sizes)
    for (bool transposed : {false, true})
      for (int spread : {0, 12}) {
        Product product{64, 40, 72, "f32", transposed, !transposed, /*computed=*/!transposed};
        product.sizeA = sizeA, product.sizeB = sizeB, product.spread = spread;
        check(product);
      }
}

// A sum that only grows, over many tiles: the matrix unit alone would lose more than 2e-5 of it.
TEST_F(Products, OfF32AddUpWithRounding) {
  const int64_t keys = 8192;
  std::string memory = "memref<1x1x8192x16xf32>", out = "memref<1x1x16x16xf32>";
  std::string source =
      "tile.kernel @grow(%A: " + memory + ", %C: " + out +
      ") grid(batch) attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, "
      "operand = f32, warps = 4, stages = 2>} {\n%c0 = arith.constant 0 : index\n%end = arith.constant 8192 : index\n"
      "%zero = arith.constant dense<0.0> : tensor<16x16xf32>\n"
      "%sum = tile.loop #tile.sum %j = %c0 to %end step 64 carries(%acc = %zero) : (tensor<16x16xf32>) {\n%a = tile.load "
      "%A[%c0, %c0, %j, %c0] : " +
      memory +
      " -> tensor<64x16xf32>\n%next = tile.dot %a, %a, %acc {transpose_a} : tensor<64x16xf32>, tensor<64x16xf32> -> "
      "tensor<16x16xf32>\ntile.yield %next : tensor<16x16xf32>\n}\ntile.store %sum, %C[%c0, %c0, %c0, %c0] : "
      "tensor<16x16xf32>, " +
      out + "\ntile.return\n}\nfunc.func @plan(%A: " + memory + ", %C: " + out +
      ") {\n%c1 = arith.constant 1 : index\ntile.launch @grow grid(%c1) (%A, %C) : " + memory + ", " + out +
      "\nreturn\n}\n";
  std::optional<DevicePlan> plan = compile(source);
  ASSERT_TRUE(plan);
  EmulatedPlan emulated(*plan);
  Matrix a("f32", keys, 16, 1), c("f32", 16, 16, 2);
  for (int64_t i = 0; i < keys; ++i)
    for (int64_t j = 0; j < 16; ++j)
      a.set(i, j, 0.5 + std::fabs(a.get(i, j)));
  emulated.run({a.tensor(), c.tensor()});
  expectClean(emulated.report(), "grow", true);
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 16; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < keys; ++l)
        sum += a.get(l, i) * a.get(l, j);
      EXPECT_NEAR(c.get(i, j) / sum, 1, 4e-6);
    }
}
