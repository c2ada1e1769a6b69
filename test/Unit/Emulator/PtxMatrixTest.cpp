//===- PtxMatrixTest.cpp - Matrix instructions of PTX against the definition of the product ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where an element of a fragment lies is computed from its number i as sections 9.7.14.5.7 and 9.7.14.5.8 of the PTX
// ISA state it.
//
//===----------------------------------------------------------------------===//
#include "PtxProgram.h"

#include "Numbers.h"

#include <array>
#include <random>

using namespace attune;
using namespace attune::emulator;
using namespace attune::test;

namespace {
struct Shape {
  const char *name;
  unsigned depth, a, b; ///< k, registers of A and B
  bool tf32, bfloat, halfSums = false;
  unsigned c() const { return halfSums ? 2 : 4; }
};
struct Place {
  unsigned row, column;
};
} // namespace

static Place placeOfA(bool tf32, unsigned lane, unsigned i) {
  unsigned group = lane / 4, inGroup = lane % 4;
  if (tf32)
    return {i == 0 || i == 2 ? group : group + 8, i < 2 ? inGroup : inGroup + 4};
  bool upper = i < 2 || (4 <= i && i < 6);
  return {upper ? group : group + 8, inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
static Place placeOfB(bool tf32, unsigned lane, unsigned i) {
  unsigned group = lane / 4, inGroup = lane % 4;
  return tf32 ? Place{i == 0 ? inGroup : inGroup + 4, group} : Place{inGroup * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
}
static Place placeOfC(unsigned lane, unsigned i) { return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)}; }

static uint32_t encode(const Shape &shape, float value) {
  return shape.tf32 ? floatToBits(value) : shape.bfloat ? floatToBfloat(value) : floatToHalf(value);
}

/// "{%r<first>, …}"
static std::string registers(unsigned first, unsigned count) {
  std::string list = "{";
  for (unsigned i = 0; i < count; ++i)
    list += (i ? ", %r" : "%r") + std::to_string(first + i);
  return list + "}";
}

/// Each lane has `count` words at p0, and stores 4 to p1.
static std::string perLane(unsigned count, const std::string &body) {
  std::string text = "ld.param.u64 %d1, [p0];\nld.param.u64 %d2, [p1];\nmul.wide.u32 %d3, %r0, " +
                     std::to_string(4 * count) + ";\nadd.s64 %d1, %d1, %d3;\nmad.wide.u32 %d2, %r0, 16, %d2;\n";
  for (unsigned i = 0; i < count; ++i)
    text += "ld.global.u32 %r" + std::to_string(10 + i) + ", [%d1+" + std::to_string(4 * i) + "];\n";
  return ptxText(ptxKernel(2, text + body + "\nst.global.v4.u32 [%d2], {%r40, %r41, %r42, %r43};"));
}

TEST(PtxMatrix, ProductsTakeOperandsByPosition) {
  const Shape shapes[] = {{"m16n8k16.row.col.f32.f16.f16.f32", 16, 4, 2, false, false},
                          {"m16n8k16.row.col.f16.f16.f16.f16", 16, 4, 2, false, false, true},
                          {"m16n8k8.row.col.f32.f16.f16.f32", 8, 2, 1, false, false},
                          {"m16n8k8.row.col.f16.f16.f16.f16", 8, 2, 1, false, false, true},
                          {"m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, true, false},
                          {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 4, 2, false, true},
                          {"m16n8k8.row.col.f32.bf16.bf16.f32", 8, 2, 1, false, true},
                          {"m16n8k8.row.col.f32.tf32.tf32.f32", 8, 4, 2, true, false}};
  std::mt19937 random(7);
  for (const Shape &shape : shapes) {
    float a[16][16], b[16][8], c[16][8];
    auto draw = [&](auto &matrix) {
      for (auto &row : matrix)
        for (float &value : row)
          value = float(int(random() % 15) - 7);
    };
    draw(a), draw(b), draw(c);
    unsigned words = shape.a + shape.b + shape.c(), perRegister = shape.tf32 ? 1 : 2;
    std::vector<uint32_t> in(32 * words), out(32 * 4);
    for (unsigned lane = 0; lane < 32; ++lane) {
      uint32_t *mine = &in[lane * words];
      for (unsigned i = 0; i < shape.a * perRegister; ++i) {
        Place at = placeOfA(shape.tf32, lane, i);
        mine[i / perRegister] |= encode(shape, a[at.row][at.column]) << 16 * (i % perRegister);
      }
      for (unsigned i = 0; i < shape.b * perRegister; ++i) {
        Place at = placeOfB(shape.tf32, lane, i);
        mine[shape.a + i / perRegister] |= encode(shape, b[at.row][at.column]) << 16 * (i % perRegister);
      }
      for (unsigned i = 0; i < 4; ++i) {
        float value = c[placeOfC(lane, i).row][placeOfC(lane, i).column];
        if (shape.halfSums)
          mine[shape.a + shape.b + i / 2] |= uint32_t(floatToHalf(value)) << 16 * (i % 2);
        else
          mine[shape.a + shape.b + i] = floatToBits(value);
      }
    }
    PtxProgram program(perLane(words, "mov.b32 %r42, 0; mov.b32 %r43, 0;\nmma.sync.aligned." + std::string(shape.name) +
                                          "\n  " + registers(40, shape.c()) + ", " + registers(10, shape.a) + ", " +
                                          registers(10 + shape.a, shape.b) + ",\n  " +
                                          registers(10 + shape.a + shape.b, shape.c()) + ";"));
    ASSERT_EQ(program.buffer(in).buffer(out).run({32, 1, 1}), "") << shape.name;
    EXPECT_TRUE(program.emulator->report().clean()) << program.findings();
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < 4; ++i) {
        auto [row, column] = placeOfC(lane, i);
        float sum = c[row][column];
        for (unsigned k = 0; k < shape.depth; ++k)
          sum += a[row][k] * b[k][column];
        float got = shape.halfSums ? halfToFloat(uint16_t(out[lane * 4 + i / 2] >> 16 * (i % 2)))
                                   : bitsToFloat(out[lane * 4 + i]);
        EXPECT_EQ(got, sum) << shape.name << " lane " << lane << " element " << i;
      }
  }
}

/// Each lane has 4 words at p0 and, in shared memory, a row of 16 bytes at %r2; it stores {%r40, …} to p1.
static std::vector<uint32_t> moved(const std::string &body, std::vector<uint16_t> &in) {
  PtxProgram program(".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 s[512];\n" +
                     perLane(4, "mov.u32 %r1, s;\nmad.lo.u32 %r2, %r0, 16, %r1;\nmov.b32 %r40, 0; mov.b32 %r41, 0;\n"
                                "mov.b32 %r42, 0; mov.b32 %r43, 0;\n" + body)
                         .substr(ptxText("").size()));
  std::vector<uint32_t> out(128);
  EXPECT_EQ(program.buffer(in).buffer(out).run({32, 1, 1}), "");
  if (program.emulator)
    EXPECT_TRUE(program.emulator->report().clean()) << program.findings();
  return out;
}

static std::vector<uint16_t> counted() {
  std::vector<uint16_t> in(256); // [matrix, row, column], or [lane, register, half]
  for (unsigned i = 0; i < 256; ++i)
    in[i] = uint16_t(i + 1);
  return in;
}

/// "name.sync.aligned.m8n8.x2.trans.shared.b16 "
static std::string rowMove(const std::string &name, unsigned count, bool transposed) {
  return name + ".sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") + ".shared.b16 ";
}

// Lane l names row l % 8 of matrix l / 8; of matrix m it then holds elements (l / 4, 2 (l % 4)) and the next, or of its
// transpose.
TEST(PtxMatrix, LoadedByRows) {
  for (unsigned count : {1u, 2u, 4u})
    for (bool transposed : {false, true}) {
      std::vector<uint16_t> in = counted();
      std::vector<uint32_t> out = moved("st.shared.v4.u32 [%r2], {%r10, %r11, %r12, %r13};\nbar.warp.sync -1;\n" +
                                            rowMove("ldmatrix", count, transposed) + registers(40, count) + ", [%r2];",
                                        in);
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned m = 0; m < 4; ++m)
          for (unsigned e = 0; e < 2; ++e) {
            unsigned row = lane / 4, column = 2 * (lane % 4) + e;
            unsigned want = m * 64 + (transposed ? column * 8 + row : row * 8 + column) + 1;
            EXPECT_EQ(out[lane * 4 + m] >> 16 * e & 0xffff, m < count ? want : 0) << count << " " << lane << " " << m;
          }
    }
}

// The other way about.
TEST(PtxMatrix, StoredByRows) {
  for (unsigned count : {1u, 2u, 4u})
    for (bool transposed : {false, true}) {
      std::vector<uint16_t> in = counted();
      std::vector<uint32_t> out =
          moved("st.shared.v4.u32 [%r2], {%r40, %r41, %r42, %r43};\nbar.warp.sync -1;\n" +
                    rowMove("stmatrix", count, transposed) + "[%r2], " + registers(10, count) +
                    ";\nbar.warp.sync -1;\nld.shared.v4.u32 {%r40, %r41, %r42, %r43}, [%r2];",
                in);
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned element = 0; element < 8; ++element) {
          unsigned m = lane / 8, row = transposed ? element : lane % 8, column = transposed ? lane % 8 : element;
          unsigned want = in[(row * 4 + column / 2) * 8 + 2 * m + column % 2];
          EXPECT_EQ(out[lane * 4 + element / 2] >> 16 * (element % 2) & 0xffff, m < count ? want : 0)
              << count << " " << lane << " " << element;
        }
    }
}

TEST(PtxMatrix, TransposedInRegisters) {
  PtxProgram program(perLane(1, "movmatrix.sync.aligned.m8n8.trans.b16 %r40, %r10;\nmov.b32 %r41, 0;\n"
                                "mov.b32 %r42, 0;\nmov.b32 %r43, 0;"));
  std::vector<uint32_t> in(32), out(128);
  for (unsigned i = 0; i < 32; ++i)
    in[i] = (2 * i + 1) << 16 | 2 * i; // element [row, column] is 8 row + column
  ASSERT_EQ(program.buffer(in).buffer(out).run({32, 1, 1}), "");
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned row = lane / 4, column = 2 * (lane % 4);
    EXPECT_EQ(out[4 * lane], (column + 1) * 8 + row << 16 | (column * 8 + row));
  }
}
