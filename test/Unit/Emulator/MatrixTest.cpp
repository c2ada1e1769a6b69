//===- MatrixTest.cpp - Fragment layouts against the definition of the product --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The expected places of fragment elements are computed from the element index i, as the PTX manual states them, not
// from register numbers as the emulator does.
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "Numbers.h"

#include <random>

using namespace attune;
using namespace attune::emulator;
using namespace attune::test;

namespace {

enum class Format { F16, Bf16, Tf32, F32 };

struct MmaCase {
  const char *intrinsic;
  unsigned depth;
  Format operand, accumulator;
};

unsigned perRegister(Format format) { return format == Format::F16 || format == Format::Bf16 ? 2 : 1; }

uint32_t encode(Format format, float value) {
  if (format == Format::F16)
    return floatToHalf(value);
  if (format == Format::Bf16)
    return floatToBfloat(value);
  return format == Format::Tf32 ? floatToBits(truncateToTf32(value)) : floatToBits(value);
}

float decode(Format format, uint32_t bits) {
  if (format == Format::F16)
    return halfToFloat(uint16_t(bits));
  return format == Format::Bf16 ? bfloatToFloat(uint16_t(bits)) : bitsToFloat(bits);
}

struct Place {
  unsigned row, column;
};

/// Element i of a lane's A fragment. 16 bits: eight elements (four for k = 8); tf32: four (two for k = 4).
Place placeOfA(Format format, unsigned lane, unsigned i) {
  unsigned group = lane >> 2, inGroup = lane & 3;
  if (format == Format::Tf32)
    return {i == 0 || i == 2 ? group : group + 8, i < 2 ? inGroup : inGroup + 4};
  bool upper = i < 2 || (4 <= i && i < 6);
  return {upper ? group : group + 8, inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}

Place placeOfB(Format format, unsigned lane, unsigned i) {
  unsigned group = lane >> 2, inGroup = lane & 3;
  if (format == Format::Tf32)
    return {i == 0 ? inGroup : inGroup + 4, group};
  return {inGroup * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
}

Place placeOfC(unsigned lane, unsigned i) { return {(lane >> 2) + (i < 2 ? 0 : 8), (lane & 3) * 2 + (i & 1)}; }

const char *registerType(const MmaCase &test, bool accumulator) {
  if (accumulator)
    return test.accumulator == Format::F16 ? "<2 x half>" : "float";
  return test.operand == Format::F16 ? "<2 x half>" : "i32";
}

/// Loads a lane's registers from in[lane, register], multiplies, stores to out[lane, register].
std::string mmaProgram(const MmaCase &test, unsigned numA, unsigned numB, unsigned numC) {
  std::string body, arguments, result;
  unsigned all = numA + numB + numC;
  for (unsigned r = 0; r < all; ++r) {
    std::string n = std::to_string(r), type = registerType(test, r >= numA + numB);
    body += "  %i" + n + " = mul i64 %t, " + std::to_string(all) + "\n  %j" + n + " = add i64 %i" + n + ", " + n +
            "\n  %p" + n + " = getelementptr i32, ptr %in, i64 %j" + n + "\n  %v" + n + " = load " + type + ", ptr %p" +
            n + ", align 4\n";
    arguments += (r ? ", " : "") + type + " %v" + n;
  }
  for (unsigned r = 0; r < numC; ++r)
    result += (r ? ", " : "") + std::string(registerType(test, true));
  result = "{" + result + "}";
  body += "  %d = call " + result + " @llvm.nvvm.mma." + test.intrinsic + "(" + arguments + ")\n";
  for (unsigned r = 0; r < numC; ++r) {
    std::string n = std::to_string(r);
    body += "  %e" + n + " = extractvalue " + result + " %d, " + n + "\n  %f" + n + " = mul i64 %t, " +
            std::to_string(numC) + "\n  %g" + n + " = add i64 %f" + n + ", " + n + "\n  %h" + n +
            " = getelementptr i32, ptr %out, i64 %g" + n + "\n  store " + registerType(test, true) + " %e" + n +
            ", ptr %h" + n + ", align 4\n";
  }
  return kernel("ptr %in, ptr %out", body);
}

class Mma : public testing::TestWithParam<MmaCase> {};

} // namespace

TEST_P(Mma, EqualsTheProduct) {
  const MmaCase &test = GetParam();
  unsigned elementsA = 16 * test.depth / 32, elementsB = 8 * test.depth / 32, elementsC = 4;
  unsigned perA = perRegister(test.operand), perC = perRegister(test.accumulator);
  unsigned numA = elementsA / perA, numB = elementsB / perA, numC = elementsC / perC, all = numA + numB + numC;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> draw(-2, 2);
  double a[16][16] = {}, b[16][8] = {}, c[16][8] = {};
  std::vector<uint32_t> in(32 * all), out(32 * numC);
  auto put = [&](unsigned lane, unsigned reg, unsigned part, Format format, double &element) {
    uint32_t bits = encode(format, draw(random));
    element = decode(format, bits);
    in[lane * all + reg] |= bits << (16 * part);
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < elementsA; ++i) {
      Place at = placeOfA(test.operand, lane, i);
      put(lane, i / perA, i % perA, test.operand, a[at.row][at.column]);
    }
    for (unsigned i = 0; i < elementsB; ++i) {
      Place at = placeOfB(test.operand, lane, i);
      put(lane, numA + i / perA, i % perA, test.operand, b[at.row][at.column]);
    }
    for (unsigned i = 0; i < elementsC; ++i) {
      Place at = placeOfC(lane, i);
      put(lane, numA + numB + i / perC, i % perC, test.accumulator, c[at.row][at.column]);
    }
  }
  Program program(mmaProgram(test, numA, numB, numC));
  ASSERT_EQ(program.buffer(in).buffer(out).run({32}), "");
  EXPECT_TRUE(program.report().clean()) << program.findings();
  double tolerance = test.accumulator == Format::F16 ? 0x1p-5 : 0x1p-18;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < elementsC; ++i) {
      Place at = placeOfC(lane, i);
      double want = c[at.row][at.column];
      for (unsigned k = 0; k < test.depth; ++k)
        want += a[at.row][k] * b[k][at.column];
      uint32_t bits = out[lane * numC + i / perC] >> (16 * (i % perC));
      EXPECT_NEAR(decode(test.accumulator, bits), want, tolerance) << "lane " << lane << ", element " << i;
    }
  EXPECT_EQ(program.report().counters.matrixMultiplies, 1u);
  EXPECT_EQ(program.report().counters.matrixMultiplyAdds, uint64_t(16 * 8 * test.depth));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Mma,
                         testing::Values(MmaCase{"m16n8k16.row.col.f32.f32", 16, Format::F16, Format::F32},
                                         MmaCase{"m16n8k16.row.col.f16.f16", 16, Format::F16, Format::F16},
                                         MmaCase{"m16n8k16.row.col.bf16", 16, Format::Bf16, Format::F32},
                                         MmaCase{"m16n8k8.row.col.f32.f32", 8, Format::F16, Format::F32},
                                         MmaCase{"m16n8k8.row.col.f16.f16", 8, Format::F16, Format::F16},
                                         MmaCase{"m16n8k8.row.col.bf16", 8, Format::Bf16, Format::F32},
                                         MmaCase{"m16n8k8.row.col.tf32", 8, Format::Tf32, Format::F32},
                                         MmaCase{"m16n8k4.row.col.tf32", 4, Format::Tf32, Format::F32}),
                         [](const testing::TestParamInfo<MmaCase> &info) {
                           std::string name = info.param.intrinsic;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(MmaRounding, Tf32IgnoresTheLowBits) {
  // 1 + 2^-12 has no tf32 representation; as an operand it counts as 1.
  std::vector<uint32_t> in(32 * 10), out(32 * 4);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < 6; ++r)
      in[lane * 10 + r] = floatToBits(1 + 0x1p-12f);
  Program program(mmaProgram({"m16n8k8.row.col.tf32", 8, Format::Tf32, Format::F32}, 4, 2, 4));
  ASSERT_EQ(program.buffer(in).buffer(out).run({32}), "");
  for (uint32_t bits : out)
    EXPECT_EQ(bitsToFloat(bits), 8.0f);
}

TEST(MmaRounding, SumsAreCutOff) {
  // 1 + 3/4 of a unit in the last place would round up; −1 − 3/4 of one down.
  std::vector<uint32_t> in(32 * 10), out(32 * 4);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < 10; ++r) {
      float sign = r < 4 && r % 2 ? -1 : 1; // A: odd registers are the lower rows
      in[lane * 10 + r] = floatToBits(r < 4 ? sign * 0.75f * 0x1p-26f : r < 6 ? 1.0f : r < 8 ? 1.0f : -1.0f);
    }
  Program program(mmaProgram({"m16n8k8.row.col.tf32", 8, Format::Tf32, Format::F32}, 4, 2, 4));
  ASSERT_EQ(program.buffer(in).buffer(out).run({32}), "");
  for (size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(bitsToFloat(out[i]), i % 4 < 2 ? 1.0f : -1.0f);
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

namespace {

struct MoveCase {
  unsigned matrices;
  bool transposed;
};

class MoveMatrices : public testing::TestWithParam<MoveCase> {};

std::string resultType(unsigned matrices) {
  return matrices == 1 ? "i32" : matrices == 2 ? "{i32, i32}" : "{i32, i32, i32, i32}";
}

/// Thread i fills row i of a 32x8 tile from in[i, 8] and names it to ldmatrix; out[i, register] gets the result.
std::string loadProgram(const MoveCase &test) {
  std::string n = std::to_string(test.matrices), type = resultType(test.matrices);
  std::string body = R"(  %row = getelementptr [8 x half], ptr addrspace(3) @tile, i64 %t
  %source = getelementptr [8 x half], ptr %in, i64 %t
  %values = load <8 x half>, ptr %source, align 2
  store <8 x half> %values, ptr addrspace(3) %row, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
)";
  body += "  %r = call " + type + " @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" + n + (test.transposed ? ".trans" : "") +
          ".b16.p3(ptr addrspace(3) %row)\n  %slot = getelementptr [" + n + " x i32], ptr %out, i64 %t\n  store " +
          type + " %r, ptr %slot, align 4\n";
  return kernel("ptr %in, ptr %out", body, "@tile = internal addrspace(3) global [32 x [8 x half]] undef, align 16");
}

} // namespace

TEST_P(MoveMatrices, LoadsFragments) {
  const MoveCase &test = GetParam();
  std::vector<uint16_t> in(32 * 8), out(32 * 2 * test.matrices);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint16_t(i);
  Program program(loadProgram(test));
  ASSERT_EQ(program.buffer(in).buffer(out).run({32}), "");
  EXPECT_TRUE(program.report().clean()) << program.findings();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned m = 0; m < test.matrices; ++m)
      for (unsigned e = 0; e < 2; ++e) {
        unsigned row = lane / 4, column = lane % 4 * 2 + e;
        if (test.transposed)
          std::swap(row, column);
        EXPECT_EQ(out[(lane * test.matrices + m) * 2 + e], in[(8 * m + row) * 8 + column]) << lane << " " << m;
      }
  EXPECT_EQ(program.report().counters.matrixLoads, 1u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, MoveMatrices,
                         testing::Values(MoveCase{1, false}, MoveCase{2, false}, MoveCase{4, false}, MoveCase{1, true},
                                         MoveCase{2, true}, MoveCase{4, true}));

TEST(StoreMatrix, IsTheInverseOfLoadMatrix) {
  Program program(kernel("ptr %in, ptr %out", R"(  %source = getelementptr [4 x i32], ptr %in, i64 %t
  %v = load {i32, i32, i32, i32}, ptr %source, align 4
  %a = extractvalue {i32, i32, i32, i32} %v, 0
  %b = extractvalue {i32, i32, i32, i32} %v, 1
  %c = extractvalue {i32, i32, i32, i32} %v, 2
  %d = extractvalue {i32, i32, i32, i32} %v, 3
  %row = getelementptr [8 x half], ptr addrspace(3) @tile, i64 %t
  call void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %row, i32 %a, i32 %b, i32 %c, i32 %d)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = call {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %row)
  %slot = getelementptr [4 x i32], ptr %out, i64 %t
  store {i32, i32, i32, i32} %r, ptr %slot, align 4)",
                         "@tile = internal addrspace(3) global [32 x [8 x half]] undef, align 16"));
  std::vector<uint32_t> in(128), out(128);
  for (unsigned i = 0; i < 128; ++i)
    in[i] = i << 16 | (1000 + i);
  ASSERT_EQ(program.buffer(in).buffer(out).run({32}), "");
  EXPECT_TRUE(program.report().clean()) << program.findings();
  EXPECT_EQ(in, out);
}
