//===- FunctionsTest.cpp - Functions of tiles: interpreted, and compiled ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What TileBuilder makes of a function is run three ways over the same arguments, its edges among them: by the interpreter
// in the ideal mode, where it has to be the function itself, and compiled for each instruction set, within the error that
// is stated for it. Arguments lie as rows of 19: whole vectors and a part of one.
//
//===----------------------------------------------------------------------===//
#include "Jit.h"

#include "TileBuilder.h"

#include "attune/Reference/EvalTile.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "gtest/gtest.h"

#include <cmath>
#include <functional>

using namespace attune;
using namespace attune::test;
using kernel::TileBuilder;
using mlir::Value;
using CmpF = mlir::arith::CmpFPredicate;
using CmpI = mlir::arith::CmpIPredicate;

namespace {
constexpr int64_t columns = 19;
constexpr double infinity = std::numeric_limits<double>::infinity(), tiny = 0x1p-149;

using Build = std::function<Value(TileBuilder &, Value)>;
using Definition = std::function<double(double)>;

/// How far the compiled function may be from the definition, relatively; absolutely where that is below 2⁻¹²⁶, as
/// exponentials of that size are 0.
struct Errors {
  double compiled;
  double ideal = 1e-14;
};

class CpuFunctions : public ::testing::TestWithParam<std::string> {
protected:
  mlir::MLIRContext context;

  CpuFunctions() {
    context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                        mlir::func::FuncDialect>();
  }
  void SetUp() override {
    if (!machineHas(GetParam()))
      GTEST_SKIP() << "this machine has no " << GetParam();
  }

  using Body = std::function<void(TileBuilder &, mlir::Block &)>;
  mlir::OwningOpRef<mlir::ModuleOp> kernelOf(mlir::TypeRange memories, const Body &body);
  std::vector<double> interpret(mlir::ModuleOp module, const std::vector<float> &values);
  std::vector<float> compile(mlir::ModuleOp module, const std::vector<float> &values);
  void check(const char *name, std::vector<float> values, const Build &build, const Definition &definition,
             Errors errors);
};
} // namespace

//===----------------------------------------------------------------------===//
// Building and running
//===----------------------------------------------------------------------===//

mlir::OwningOpRef<mlir::ModuleOp> CpuFunctions::kernelOf(mlir::TypeRange memories, const Body &body) {
  mlir::Location loc = mlir::UnknownLoc::get(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  auto op = tile::KernelOp::create(builder, loc, "kernel", memories, {tile::Axis::Batch}, tile::ScheduleAttr());
  mlir::Block &block = op.getBody().front();
  builder.setInsertionPointToStart(&block);
  TileBuilder tiles(builder, loc);
  body(tiles, block);
  tile::ReturnOp::create(builder, loc);
  return module;
}

std::vector<double> CpuFunctions::interpret(mlir::ModuleOp module, const std::vector<float> &values) {
  auto rows = static_cast<int64_t>(values.size()) / columns;
  std::vector<double> wide(values.begin(), values.end());
  reference::Array in = reference::makeArray({rows, columns}, wide), out({rows, columns});
  EXPECT_TRUE(succeeded(reference::evalKernel(*module.getOps<tile::KernelOp>().begin(), {1}, {in, out})));
  return out.elements();
}

/// The kernel with a plan that launches it.
static std::string planOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  tile::KernelOp kernel = *module.getOps<tile::KernelOp>().begin();
  kernel->print(stream);
  mlir::Type in = kernel.getArgumentTypes()[0], out = kernel.getArgumentTypes()[1];
  stream << "\nfunc.func @plan(%in: " << in << ", %out: " << out << ") {\n%c1 = arith.constant 1 : index\n"
         << "tile.launch @kernel grid(%c1) (%in, %out) : " << in << ", " << out << "\nreturn\n}\n";
  return text;
}

std::vector<float> CpuFunctions::compile(mlir::ModuleOp module, const std::vector<float> &values) {
  Jit jit(context, planOf(module), {GetParam()});
  auto rows = static_cast<int64_t>(values.size()) / columns;
  Guarded in(values.size() * 4), out(values.size() * 4);
  std::copy(values.begin(), values.end(), static_cast<float *>(in.data()));
  jit.run("plan", GetParam(), {{in.data(), {rows, columns}, {columns, 1}}, {out.data(), {rows, columns}, {columns, 1}}});
  auto *first = static_cast<float *>(out.data());
  return {first, first + values.size()};
}

/// The largest error; infinite where one is a NaN or an infinity and the other is not the same.
static double errorOf(double got, double expected) {
  if (std::isnan(expected) || std::isinf(expected))
    return (std::isnan(expected) ? std::isnan(got) : got == expected) ? 0 : infinity;
  return std::abs(got - expected) / std::max(std::abs(expected), 0x1p-126);
}

void CpuFunctions::check(const char *name, std::vector<float> values, const Build &build, const Definition &definition,
                         Errors errors) {
  SCOPED_TRACE(name);
  for (double edge : {0.0, -0.0, infinity, -infinity, double(NAN), tiny, -tiny, 0x1p-127, -0x1p-127, 1.0, -1.0})
    values.push_back(static_cast<float>(edge));
  values.resize((values.size() + columns - 1) / columns * columns, 0.75f);
  auto rows = static_cast<int64_t>(values.size()) / columns;
  auto memory = mlir::MemRefType::get({mlir::ShapedType::kDynamic, columns}, mlir::Float32Type::get(&context));
  mlir::OwningOpRef<mlir::ModuleOp> module = kernelOf({memory, memory}, [&](TileBuilder &tiles, mlir::Block &block) {
    Value c0 = tiles.index(0), x = tiles.load(block.getArgument(0), {c0, c0}, {rows, columns});
    tiles.store(build(tiles, x), block.getArgument(1), {c0, c0});
  });
  std::vector<double> ideal = interpret(*module, values);
  std::vector<float> compiled = compile(*module, values);
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double expected = definition(values[i]);
    // What f32 cannot hold is an infinity there.
    double rounded = std::abs(expected) > 3.4028235677973366e38 ? std::copysign(infinity, expected) : expected;
    EXPECT_LE(errorOf(ideal[i], expected), errors.ideal) << "of " << values[i] << ", ideally " << ideal[i];
    EXPECT_LE(errorOf(compiled[i], rounded), errors.compiled)
        << "of " << values[i] << ": expected " << rounded << ", but got " << compiled[i];
    worst = std::max(worst, errorOf(compiled[i], rounded));
  }
  RecordProperty("largest relative error", std::to_string(worst));
  if (getenv("ATTUNE_SHOW_ERRORS"))
    printf("%-24s %-7s %.3g = %.2f ulp of 2^-24\n", name, GetParam().c_str(), worst, worst * 0x1p24);
}

/// `count` numbers evenly from `low` to `high`.
static std::vector<float> range(double low, double high, int count = 3000) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i)
    values.push_back(static_cast<float>(low + (high - low) * i / (count - 1)));
  return values;
}

/// The same with their logarithms evenly.
static std::vector<float> scales(double low, double high, int count = 3000) {
  std::vector<float> values;
  for (float exponent : range(std::log2(low), std::log2(high), count))
    values.push_back(static_cast<float>(std::exp2(double(exponent))));
  return values;
}

//===----------------------------------------------------------------------===//
// One op each
//===----------------------------------------------------------------------===//

TEST_P(CpuFunctions, Signs) {
  check("abs", range(-9, 9), [](TileBuilder &t, Value x) { return t.abs(x); }, [](double x) { return std::fabs(x); }, {0, 0});
  check("negate", range(-9, 9), [](TileBuilder &t, Value x) { return t.negate(x); }, [](double x) { return -x; }, {0, 0});
  // Of zeros the sign counts: 1/±0.
  auto inverse = [](TileBuilder &t, Value x) { return t.over(t.constant(t.shape(x), 1), x); };
  check("inverse of abs", {1}, [=](TileBuilder &t, Value x) { return inverse(t, t.abs(x)); },
        [](double x) { return std::abs(x) < 0x1p-128 ? infinity : 1 / std::fabs(x); }, {0x1p-24, infinity});
  check("inverse of negative", {1}, [=](TileBuilder &t, Value x) { return inverse(t, t.negate(x)); },
        [](double x) { return std::abs(x) < 0x1p-128 ? std::copysign(infinity, -x) : -1 / x; }, {0x1p-24, infinity});
}

TEST_P(CpuFunctions, RootsAndRounding) {
  check("sqrt", scales(1e-44, 1e38), [](TileBuilder &t, Value x) { return t.sqrt(x); },
        [](double x) { return std::sqrt(x); }, {0x1p-24});
  check("roundEven", range(-7, 7, 57), [](TileBuilder &t, Value x) { return t.roundEven(x); },
        [](double x) { return std::nearbyint(x); }, {0, 0});
  check("fma", range(-7, 7), [](TileBuilder &t, Value x) { return t.fma(x, x, t.constant(t.shape(x), 0x1p-30)); },
        [](double x) { return x * x + 0x1p-30; }, {0x1p-24});
  // x² − 4 near 2, where a rounded product leaves few digits.
  check("fma of a difference", range(1.99, 2.01),
        [](TileBuilder &t, Value x) { return t.fma(x, x, t.constant(t.shape(x), -4)); },
        [](double x) { return x * x - 4; }, {0x1p-24});
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

/// By the nearest zero, so that the rounding of π does not matter.
static double sineOfTurns(double u) {
  double part = std::isinf(u) ? NAN : std::remainder(u, 1);
  return std::sin(2 * M_PI * (std::abs(part) > 0.25 ? std::copysign(0.5, part) - part : part));
}

static double cosineOfTurns(double u) {
  return std::isinf(u) ? NAN : std::sin(2 * M_PI * (0.25 - std::abs(std::remainder(u, 1))));
}

TEST_P(CpuFunctions, SineAndCosineOfTurns) {
  auto sine = [](TileBuilder &t, Value x) { return t.sine(x); };
  auto cosine = [](TileBuilder &t, Value x) { return t.cosine(x); };
  check("sine", range(-0.5, 0.5, 20000), sine, sineOfTurns, {2 * 0x1p-24});
  check("cosine", range(-0.5, 0.5, 20000), cosine, cosineOfTurns, {2 * 0x1p-24});
  check("sine of many turns", range(-3e5, 3e5), sine, sineOfTurns, {2 * 0x1p-24});
  check("cosine of many turns", range(-3e5, 3e5), cosine, cosineOfTurns, {2 * 0x1p-24});
  check("sine of large numbers", scales(1e6, 1e38), sine, sineOfTurns, {2 * 0x1p-24});
}

//===----------------------------------------------------------------------===//
// Exponentials, logarithms, powers
//===----------------------------------------------------------------------===//

TEST_P(CpuFunctions, LogarithmNearOne) {
  auto log2 = [](TileBuilder &t, Value x) { return t.log2(x); };
  auto definition = [](double x) { return std::log2(x); };
  check("log2 near 1", range(0.99, 1.01), log2, definition, {4 * 0x1p-24});
  check("log2 from ½ to 2", range(0.5, 2, 20000), log2, definition, {4 * 0x1p-24});
  check("log2", scales(1e-44, 3e38), log2, definition, {4 * 0x1p-24});
  check("log", scales(1e-44, 3e38), [](TileBuilder &t, Value x) { return t.log(x); },
        [](double x) { return std::log(x); }, {5 * 0x1p-24});
}

TEST_P(CpuFunctions, Exponential) {
  // The argument of exp2 is rounded: half a place of 64, and log2 e before it.
  check("exp", range(-40, 40), [](TileBuilder &t, Value x) { return t.exp(x); }, [](double x) { return std::exp(x); },
        {4e-6});
}

TEST_P(CpuFunctions, Powers) {
  auto power = [](double p) { return [p](TileBuilder &t, Value x) { return t.power(x, p); }; };
  auto definition = [](double p) { return [p](double x) { return std::pow(x, p); }; };
  // A square doubles the error of what it squares: |p| − 1 roundings in all, and that of a quotient.
  for (double p : {0.0, 1.0, 2.0, 3.0, 8.0, 13.0, -1.0, -2.0})
    check(("integer power " + std::to_string(p)).c_str(), range(-5, 5), power(p), definition(p),
          {std::max(std::abs(p) - (p > 0), 0.0) * 0x1p-24});
  auto root = [](double x) { return std::sqrt(x); };
  check("power ½", scales(1e-30, 1e30), power(0.5), root, {0x1p-24});
  // Of x < 0 it is NaN, as of the definition, but for −∞ whose power is ∞ there; of −0 it is 0.
  for (double p : {1.5, 2.7, 0.3})
    check(("power " + std::to_string(p)).c_str(), scales(1e-6, 1e6), power(p),
          [=](double x) { return x < 0 ? NAN : std::pow(x, p); }, {6e-6});
}

TEST_P(CpuFunctions, Tanh) {
  auto tanh = [](TileBuilder &t, Value x) { return t.tanh(x); };
  auto definition = [](double x) { return std::tanh(x); };
  check("tanh", range(-3, 3), tanh, definition, {4e-7});
  check("tanh of small numbers", scales(1e-38, 0.7), tanh, definition, {3e-7});
  check("tanh of large numbers", scales(0.5, 3e38), tanh, definition, {3e-7});
}

TEST_P(CpuFunctions, Softplus) {
  auto softplus = [](TileBuilder &t, Value x) { return t.softplus(x); };
  auto definition = [](double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))) + (x != x ? x : 0); };
  check("softplus", range(-20, 20), softplus, definition, {2.5e-6, 3e-14});
  check("softplus of large numbers", scales(20, 3e38), softplus, definition, {5e-7, 3e-14});
  check("softplus far below 0", range(-87, -20), softplus, definition, {5e-6, 3e-14});
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

TEST_P(CpuFunctions, ComparisonsOfTiles) {
  struct Case {
    CmpF predicate;
    bool (*holds)(double);
  };
  const Case cases[] = {{CmpF::OEQ, [](double x) { return x == 0.5; }}, {CmpF::ONE, [](double x) { return x < 0.5 || x > 0.5; }},
                        {CmpF::OLT, [](double x) { return x < 0.5; }},  {CmpF::OLE, [](double x) { return x <= 0.5; }},
                        {CmpF::OGT, [](double x) { return x > 0.5; }},  {CmpF::OGE, [](double x) { return x >= 0.5; }},
                        {CmpF::UNE, [](double x) { return x != 0.5; }}, {CmpF::ULT, [](double x) { return !(x >= 0.5); }},
                        {CmpF::UNO, [](double x) { return x != x; }},   {CmpF::ORD, [](double x) { return x == x; }}};
  for (auto [predicate, holds] : cases)
    check("comparison", range(0, 1, 101), [p = predicate](TileBuilder &t, Value x) {
      Value holds = t.compare(p, x, t.constant(t.shape(x), 0.5));
      return t.select(holds, t.constant(t.shape(x), 3), t.constant(t.shape(x), 7));
    }, [h = holds](double x) { return h(x) ? 3 : 7; }, {0, 0});
}

TEST_P(CpuFunctions, ComparisonsOfRows) {
  // The maximum of a row above ½ decides, as a rank-1 tile of i1, on the whole row.
  std::vector<float> values = range(-1, 1, 7 * columns);
  auto memory = mlir::MemRefType::get({mlir::ShapedType::kDynamic, columns}, mlir::Float32Type::get(&context));
  mlir::OwningOpRef<mlir::ModuleOp> module = kernelOf({memory, memory}, [&](TileBuilder &t, mlir::Block &block) {
    Value c0 = t.index(0), x = t.load(block.getArgument(0), {c0, c0}, {7, columns});
    Value large = t.compare(CmpF::OGT, t.reduceMax(x, 1), t.constant({7}, 0.5));
    Value one = t.select(large, t.constant({7}, 1), t.constant({7}, -1));
    Value row = t.expand(large, 1, {7, columns});
    Value y = t.select(row, t.negate(x), x);
    t.store(t.plus(y, t.expand(one, 1, {7, columns})), block.getArgument(1), {c0, c0});
  });
  std::vector<double> ideal = interpret(*module, values);
  std::vector<float> compiled = compile(*module, values);
  for (size_t i = 0; i < values.size(); ++i) {
    bool large = values[i / columns * columns + columns - 1] > 0.5;
    float expected = large ? 1 - values[i] : values[i] - 1;
    EXPECT_EQ(compiled[i], expected) << i;
    EXPECT_NEAR(ideal[i], expected, 1e-7) << i;
  }
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

TEST_P(CpuFunctions, HadamardMatrix) {
  // H[i, c] = (−1)^|i & index[c]|, rows 40 … 60, for columns that are loaded.
  constexpr int64_t rows = 21;
  auto words = mlir::MemRefType::get({mlir::ShapedType::kDynamic, columns}, mlir::IntegerType::get(&context, 32));
  auto memory = mlir::MemRefType::get({mlir::ShapedType::kDynamic, columns}, mlir::Float32Type::get(&context));
  mlir::OwningOpRef<mlir::ModuleOp> module = kernelOf({words, memory}, [&](TileBuilder &t, mlir::Block &block) {
    Value c0 = t.index(0), index = t.load(block.getArgument(0), {c0, c0}, {columns}); // [19] i32
    Value i = t.expand(t.iotaIntegers(t.index(40), rows), 1, {rows, columns});        // [21, 19]
    t.store(t.hadamard(i, t.expand(index, 0, {rows, columns})), block.getArgument(1), {c0, c0});
  });
  std::vector<double> indices;
  for (int64_t c = 0; c < columns; ++c)
    indices.push_back(double((c * 2654435761u) >> (c % 3) & 0x7fffffff));
  auto expected = [&](int64_t i, int64_t c) { return __builtin_popcount((40 + i) & int64_t(indices[c])) % 2 ? -1 : 1; };

  reference::Array in = reference::makeArray({1, columns}, indices), out({rows, columns});
  ASSERT_TRUE(succeeded(reference::evalKernel(*module->getOps<tile::KernelOp>().begin(), {1}, {in, out})));
  Jit jit(context, planOf(*module), {GetParam()});
  Guarded held(columns * 4), result(rows * columns * 4);
  std::copy(indices.begin(), indices.end(), static_cast<int32_t *>(held.data()));
  jit.run("plan", GetParam(),
          {{held.data(), {1, columns}, {columns, 1}}, {result.data(), {rows, columns}, {columns, 1}}});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t c = 0; c < columns; ++c) {
      EXPECT_EQ(out({i, c}), expected(i, c)) << i << ", " << c;
      EXPECT_EQ(static_cast<float *>(result.data())[i * columns + c], expected(i, c)) << i << ", " << c;
    }
}

TEST_P(CpuFunctions, IntegersOfComparisons) {
  // Below column 7 the bits of its number times x, else the number.
  auto build = [](TileBuilder &t, Value x) {
    int64_t rows = t.shape(x)[0];
    Value i = t.expand(t.iotaIntegers(t.index(0), columns), 0, {rows, columns});
    Value low = t.compare(CmpI::slt, i, t.integers({rows, columns}, 7));
    return t.select(low, t.times(t.toFloat(t.popCount(i)), x), t.toFloat(i));
  };
  std::vector<float> values(3 * columns, 2.0f);
  auto memory = mlir::MemRefType::get({mlir::ShapedType::kDynamic, columns}, mlir::Float32Type::get(&context));
  mlir::OwningOpRef<mlir::ModuleOp> module = kernelOf({memory, memory}, [&](TileBuilder &t, mlir::Block &block) {
    Value c0 = t.index(0);
    t.store(build(t, t.load(block.getArgument(0), {c0, c0}, {3, columns})), block.getArgument(1), {c0, c0});
  });
  std::vector<double> ideal = interpret(*module, values);
  std::vector<float> compiled = compile(*module, values);
  for (size_t i = 0; i < values.size(); ++i) {
    int c = int(i % columns);
    float expected = c < 7 ? 2.0f * float(__builtin_popcount(c)) : float(c);
    EXPECT_EQ(compiled[i], expected) << i;
    EXPECT_EQ(ideal[i], expected) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, CpuFunctions, ::testing::Values("avx2", "avx512", "avx512_bf16", "amx"),
                         [](const auto &info) { return info.param; });
