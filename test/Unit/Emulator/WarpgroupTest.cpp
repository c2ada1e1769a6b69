//===- WarpgroupTest.cpp - wgmma, descriptors of tensors ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The image of shared memory is laid out here, element by element; a kernel brings it there and multiplies.
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "Numbers.h"
#include "TensorMap.h"

#include "attune/Emulator/EmulatedAsm.h"

#include "gmock/gmock.h"

#include <functional>

using namespace attune;
using namespace attune::emulator;
using namespace attune::test;
using testing::HasSubstr;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static constexpr unsigned imageBytes = 16384;

/// A text for LLVM IR.
static std::string escaped(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '\n' ? "\\0A" : std::string(1, c);
  return result;
}

struct Layout {
  uint32_t begin, leading, stride, width; ///< bytes; width of the swizzle
  std::string descriptor(const std::string &name) const {
    uint64_t mode = width == 0 ? 0 : width == 128 ? 1 : width == 64 ? 2 : 3;
    uint64_t constant = uint64_t(leading / 16) << 16 | uint64_t(stride / 16) << 32 | mode << 62;
    std::string p = "%" + name;
    return "  " + p + "0 = add i32 %base, " + std::to_string(begin) + "\n  " + p + "1 = and i32 " + p +
           "0, 262143\n  " + p + "2 = lshr i32 " + p + "1, 4\n  " + p + "3 = zext i32 " + p + "2 to i64\n  " + p +
           " = or i64 " + p + "3, " + std::to_string(int64_t(constant)) + "\n";
  }
};

static const char *proxyFence = "  call void @llvm.nvvm.fence.proxy.async.shared_cta()\n";
static const char *registerFence = "  call void @llvm.nvvm.wgmma.fence.sync.aligned()\n";
static const char *commit = "  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()\n";
static const char *waitProducts = "  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 0)\n";

struct Operands {
  WgmmaAsm shape;
  Layout a, b;
  bool transposedA = false, transposedB = false;
  bool ordered = false; ///< fence and wait have the registers
};

/// `%name = …`: registers go through a fence or a wait; parts of the result are %name0, %name1, …
static std::string orderOf(const std::string &name, const WgmmaOrderAsm &shape,
                           const std::vector<std::string> &registers) {
  std::string type = "{ ", operands, parts;
  for (unsigned i = 0; i < shape.registers(); ++i) {
    std::string each = i < shape.floats ? "float" : "i32";
    type += (i ? ", " : "") + each;
    operands += (i ? ", " : "") + each + " " + registers[i];
  }
  type += " }";
  for (unsigned i = 0; i < shape.registers(); ++i)
    parts += "  %" + name + std::to_string(i) + " = extractvalue " + type + " %" + name + ", " + std::to_string(i) + "\n";
  return "  %" + name + " = call " + type + " asm sideeffect \"" + shape.text() + "\", \"" + shape.constraints() +
         "\"(" + operands + (shape.wait ? ", i32 0" : "") + ")\n" + parts;
}

/// Names %name0, %name1, ….
static std::vector<std::string> numbered(const std::string &name, unsigned count) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < count; ++i)
    names.push_back("%" + name + std::to_string(i));
  return names;
}

/// The image comes to shared memory; one product, to which the sums 1 are added; sums go to memory, a thread's
/// together.
static std::string program(const Operands &operands) {
  const WgmmaAsm &shape = operands.shape;
  std::string body = "  %base = ptrtoint ptr addrspace(3) @image to i32\n";
  for (unsigned i = 0; i < imageBytes / 2048; ++i) {
    std::string n = std::to_string(i);
    body += "  %i" + n + " = add i64 %t, " + std::to_string(128 * i) + "\n  %g" + n +
            " = getelementptr <4 x i32>, ptr %in, i64 %i" + n + "\n  %v" + n + " = load <4 x i32>, ptr %g" + n +
            "\n  %s" + n + " = getelementptr <4 x i32>, ptr addrspace(3) @image, i64 %i" + n +
            "\n  store <4 x i32> %v" + n + ", ptr addrspace(3) %s" + n + "\n";
  }
  body += std::string(proxyFence) + "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  std::string arguments, fence = registerFence;
  std::vector<std::string> entering(shape.sums(), "1.0");
  for (unsigned i = 0; i < shape.sums(); ++i)
    arguments += operands.ordered ? "float %f" + std::to_string(i) + ", " : "float 1.0, ";
  if (shape.registersOfA)
    for (unsigned r = 0; r < 4; ++r) {
      std::string n = std::to_string(r);
      body += "  %ai" + n + " = add i64 %t, " + std::to_string(128 * r) + "\n  %ap" + n +
              " = getelementptr i32, ptr %a, i64 %ai" + n + "\n  %a" + n + " = load i32, ptr %ap" + n + "\n";
      arguments += operands.ordered ? "i32 %f" + std::to_string(shape.sums() + r) + ", " : "i32 %a" + n + ", ";
      entering.push_back("%a" + n);
    }
  else {
    body += operands.a.descriptor("da");
    arguments += "i64 %da, ";
  }
  if (operands.ordered)
    fence = orderOf("f", {false, shape.sums(), shape.registersOfA ? 4u : 0u}, entering);
  body += operands.b.descriptor("db") + fence;
  arguments += "i64 %db, i32 1, i32 1, i32 1";
  if (shape.depth == 16)
    arguments += (shape.registersOfA ? "" : ", i32 " + std::to_string(operands.transposedA)) + ", i32 " +
                 std::to_string(operands.transposedB);
  std::string type = "{ float";
  for (unsigned i = 1; i < shape.sums(); ++i)
    type += ", float";
  type += " }";
  body += "  %d = call " + type + " asm sideeffect \"" + escaped(shape.text()) + "\", \"" + shape.constraints() +
          "\"(" + arguments + ")\n" + commit;
  std::string parts, ready = operands.ordered ? "w" : "p";
  for (unsigned i = 0; i < shape.sums(); ++i)
    parts += "  %p" + std::to_string(i) + " = extractvalue " + type + " %d, " + std::to_string(i) + "\n";
  body += operands.ordered ? parts + orderOf("w", {true, shape.sums(), 0}, numbered("p", shape.sums()))
                           : waitProducts + parts;
  for (unsigned i = 0; i < shape.sums(); ++i) {
    std::string n = std::to_string(i);
    body += "  %oi" + n + " = mul i64 %t, " +
            std::to_string(shape.sums()) + "\n  %oj" + n + " = add i64 %oi" + n + ", " + n + "\n  %o" + n +
            " = getelementptr float, ptr %out, i64 %oj" + n + "\n  store float %" + ready + n + ", ptr %o" + n + "\n";
  }
  return kernel("ptr %in, ptr %a, ptr %out", body,
                "@image = internal addrspace(3) global [" + std::to_string(imageBytes) + " x i8] undef, align 1024\n");
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

static float elementOfA(unsigned i, unsigned k) { return float(int(i * 7 + k * 3) % 11 - 5); }
static float elementOfB(unsigned k, unsigned n) { return float(int(n * 5 + k * 13) % 9 - 4); }

/// Pieces of 16 bytes are exchanged by the number of their 128 bytes: among eight, or four or two if rows are shorter.
static uint32_t exchange(uint32_t offset, uint32_t width) {
  return width ? offset ^ (offset / 128 % (width / 16) * 16) : offset;
}

struct Image {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(imageBytes, 0);
  std::string element;

  void set(uint32_t offset, float value) {
    uint16_t half = element == "f16" ? floatToHalf(value) : floatToBfloat(value);
    uint32_t word = floatToBits(value);
    element == "tf32" ? std::memcpy(&bytes[offset], &word, 4) : std::memcpy(&bytes[offset], &half, 2);
  }
};

static Program multiply(const std::string &text, const Image &image, const WgmmaAsm &shape, std::vector<float> &out,
                        EmulatorOptions options = {}) {
  std::vector<uint8_t> in = image.bytes;
  std::vector<uint32_t> a(512);
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned r = 0; r < 4; ++r) {
      unsigned row = thread / 32 * 16 + thread % 32 / 4 + 8 * (r % 2), k = 2 * (thread % 4) + 8 * (r / 2);
      a[r * 128 + thread] = floatToHalf(elementOfA(row, k)) | uint32_t(floatToHalf(elementOfA(row, k + 1))) << 16;
    }
  out.assign(128 * shape.sums(), 0);
  Program program(text, options);
  EXPECT_EQ(program.buffer(in).buffer(a).buffer(out).run({128}), "");
  return program;
}

/// Are the sums 1 + A B?
static void expectProduct(const std::vector<float> &out, const WgmmaAsm &shape) {
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned s = 0; s < shape.sums(); ++s) {
      unsigned row = thread / 32 * 16 + thread % 32 / 4 + (s & 2 ? 8 : 0), column = s / 4 * 8 + thread % 4 * 2 + s % 2;
      float want = 1;
      for (unsigned k = 0; k < shape.depth; ++k)
        want += elementOfA(row, k) * elementOfB(k, column);
      ASSERT_EQ(out[thread * shape.sums() + s], want) << "row " << row << ", column " << column;
    }
}

/// Rows of A and columns of B with `pitch` bytes each, k along them from byte `from` on; B begins at 8192.
static Image imageByRows(const WgmmaAsm &shape, uint32_t width, uint32_t from) {
  Image image{std::vector<uint8_t>(imageBytes, 0), shape.element.str()};
  uint32_t bytes = shape.depth == 16 ? 2 : 4;
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned k = 0; k < shape.depth; ++k)
      image.set(exchange(i * width + from + k * bytes, width), elementOfA(i, k));
  for (unsigned n = 0; n < shape.columns; ++n)
    for (unsigned k = 0; k < shape.depth; ++k)
      image.set(8192 + exchange(n * width + from + k * bytes, width), elementOfB(k, n));
  return image;
}

static Operands byRows(const WgmmaAsm &shape, uint32_t width, uint32_t from) {
  return {shape, {from, 16, 8 * width, width}, {8192 + from, 16, 8 * width, width}};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TEST(Wgmma, EverySwizzleWithKFirst) {
  for (llvm::StringRef element : {"f16", "bf16", "tf32"})
    for (uint32_t width : {32u, 64u, 128u})
      for (uint32_t from = 0; from < width; from += 32) {
        WgmmaAsm shape{16, element == "tf32" ? 8u : 16u, element, false};
        std::vector<float> out;
        Program run = multiply(program(byRows(shape, width, from)), imageByRows(shape, width, from), shape, out);
        EXPECT_TRUE(run.report().clean()) << run.findings();
        expectProduct(out, shape);
      }
}

TEST(Wgmma, NoSwizzleWithKFirst) {
  WgmmaAsm shape{24, 16, "f16", false};
  Image image{std::vector<uint8_t>(imageBytes, 0), "f16"};
  // Matrices of 8 rows of 16 bytes: the two along k 2048 bytes apart, those below each other 128.
  auto place = [](unsigned i, unsigned k) { return i / 8 * 128 + k / 8 * 2048 + i % 8 * 16 + k % 8 * 2; };
  for (unsigned k = 0; k < 16; ++k) {
    for (unsigned i = 0; i < 64; ++i)
      image.set(place(i, k), elementOfA(i, k));
    for (unsigned n = 0; n < 24; ++n)
      image.set(8192 + place(n, k), elementOfB(k, n));
  }
  std::vector<float> out;
  Program run = multiply(program({shape, {0, 2048, 128, 0}, {8192, 2048, 128, 0}}), image, shape, out);
  EXPECT_TRUE(run.report().clean()) << run.findings();
  expectProduct(out, shape);
}

/// Values as they lie in memory: rows of keys, of 64 columns each.
TEST(Wgmma, TransposedOperands) {
  WgmmaAsm shape{64, 16, "f16", false};
  Image image{std::vector<uint8_t>(imageBytes, 0), "f16"};
  for (unsigned k = 0; k < 16; ++k)
    for (unsigned i = 0; i < 64; ++i) {
      image.set(exchange(k * 128 + i * 2, 128), elementOfA(i, k));
      image.set(8192 + exchange(k * 128 + i * 2, 128), elementOfB(k, i));
    }
  Operands operands{shape, {0, 16, 1024, 128}, {8192, 16, 1024, 128}, true, true};
  std::vector<float> out;
  Program run = multiply(program(operands), image, shape, out);
  EXPECT_TRUE(run.report().clean()) << run.findings();
  expectProduct(out, shape);
}

TEST(Wgmma, FirstOperandInRegisters) {
  WgmmaAsm shape{16, 16, "f16", true};
  std::vector<float> out;
  Program run = multiply(program(byRows(shape, 128, 32)), imageByRows(shape, 128, 32), shape, out);
  EXPECT_TRUE(run.report().clean()) << run.findings();
  expectProduct(out, shape);
}

TEST(Wgmma, RegistersGoThroughFenceAndWait) {
  for (bool registersOfA : {false, true}) {
    WgmmaAsm shape{16, 16, "f16", registersOfA};
    Operands operands = byRows(shape, 128, 32);
    operands.ordered = true;
    std::vector<float> out;
    Program run = multiply(program(operands), imageByRows(shape, 128, 32), shape, out);
    EXPECT_TRUE(run.report().clean()) << run.findings();
    expectProduct(out, shape);
  }
}

TEST(Wgmma, AtItsWorst) {
  EmulatorOptions options;
  options.pessimistic = true;
  options.chip = "sm_90a";
  for (bool registersOfA : {false, true}) {
    WgmmaAsm shape{16, 16, "f16", registersOfA};
    std::vector<float> out;
    multiply(program(byRows(shape, 128, 0)), imageByRows(shape, 128, 0), shape, out, options);
    expectProduct(out, shape); // small integers are exact
  }
  // Sixteen of 2^-26 beside 1, each of which Hopper cuts off; exactly they are 2^-22.
  WgmmaAsm shape{16, 16, "f16", false};
  Image image{std::vector<uint8_t>(imageBytes, 0), "f16"};
  for (uint32_t offset = 0; offset < imageBytes; offset += 2)
    image.set(offset, 0x1p-13f);
  for (bool pessimistic : {false, true}) {
    options.pessimistic = pessimistic;
    std::vector<float> out;
    multiply(program(byRows(shape, 128, 0)), image, shape, out, options);
    for (float sum : out)
      EXPECT_EQ(sum, pessimistic ? 1.0f : 1 + 0x1p-22f);
  }
}

//===----------------------------------------------------------------------===//
// Planted faults
//===----------------------------------------------------------------------===//

static const WgmmaAsm small{16, 16, "f16", false};

static Program faulty(llvm::StringRef from, llvm::StringRef to) {
  std::string text = program(byRows(small, 128, 0));
  size_t at = text.find(from.str());
  EXPECT_NE(at, std::string::npos);
  text.replace(at, from.size(), to.str());
  std::vector<float> out;
  return multiply(text, imageByRows(small, 128, 0), small, out);
}

TEST(WgmmaFault, NoProxyFence) {
  Program run = faulty(proxyFence, "");
  EXPECT_GT(run.total(FindingKind::ProxyOrder), 0u) << run.findings();
}

TEST(WgmmaFault, NoWait) {
  Program run = faulty(waitProducts, "");
  EXPECT_GT(run.total(FindingKind::RegisterInFlight), 0u) << run.findings();
  EXPECT_THAT(run.findings(), HasSubstr("no wgmma.wait_group"));
}

TEST(WgmmaFault, WaitForAnOlderGroup) {
  Program run = faulty(waitProducts, "  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 1)\n");
  EXPECT_GT(run.total(FindingKind::RegisterInFlight), 0u) << run.findings();
}

TEST(WgmmaFault, NoCommit) { EXPECT_GT(faulty(commit, "").total(FindingKind::RegisterInFlight), 0u); }

TEST(WgmmaFault, NoRegisterFence) {
  Program run = faulty(registerFence, "");
  EXPECT_THAT(run.findings(), HasSubstr("expected wgmma.fence"));
}

/// What a wait gives is checked behind it.
TEST(WgmmaFault, WaitWithRegistersForAnOlderGroup) {
  Operands operands = byRows(small, 128, 0);
  operands.ordered = true;
  std::string text = program(operands);
  size_t at = text.rfind(", i32 0)\n");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 8, ", i32 1)");
  std::vector<float> out;
  Program run = multiply(text, imageByRows(small, 128, 0), small, out);
  EXPECT_GT(run.total(FindingKind::RegisterInFlight), 0u) << run.findings();
}

TEST(WgmmaFault, OrderOfOtherRegistersIsRefused) {
  Operands operands = byRows(small, 128, 0);
  operands.ordered = true;
  std::string text = program(operands), fence = WgmmaOrderAsm{false, small.sums(), 0}.text();
  text.replace(text.find(fence), fence.size(), "wgmma.fence.sync.unaligned;");
  EXPECT_THAT(Program(text).error, HasSubstr("inline assembly that the emulator does not model"));
}

TEST(WgmmaFault, OperandOverwrittenBeforeTheWait) {
  Program run =
      faulty(waitProducts, std::string("  store <4 x i32> zeroinitializer, ptr addrspace(3) %s0\n") + waitProducts);
  EXPECT_GT(run.total(FindingKind::CopyInFlight), 0u) << run.findings();
  // After the wait it must still be ordered after the other warps' reads.
  run = faulty(waitProducts, std::string(waitProducts) + "  store <4 x i32> zeroinitializer, ptr addrspace(3) %s0\n");
  EXPECT_GT(run.total(FindingKind::CopyInFlight) + run.total(FindingKind::Race), 0u);
}

TEST(WgmmaFault, DescriptorBeyondTheBuffer) {
  Operands operands = byRows(small, 128, 0);
  operands.b.begin = imageBytes - 1024;
  std::vector<float> out;
  Program run = multiply(program(operands), imageByRows(small, 128, 0), small, out);
  EXPECT_GT(run.total(FindingKind::OutOfBounds), 0u) << run.findings();
}

TEST(WgmmaFault, NotFourWarps) {
  std::string text = program(byRows(small, 128, 0));
  std::vector<uint8_t> in(imageBytes);
  std::vector<uint32_t> a(512);
  std::vector<float> out(128 * small.sums());
  Program run(text);
  run.buffer(in).buffer(a).buffer(out).run({96});
  EXPECT_GT(run.total(FindingKind::Divergence), 0u) << run.findings();
}

TEST(WgmmaFault, OtherStringsAreRefused) {
  std::string text = program(byRows(small, 128, 0));
  text.replace(text.find(".f32.f16.f16"), 12, ".f16.f16.f16");
  EXPECT_THAT(Program(text).error, HasSubstr("inline assembly that the emulator does not model"));
}

//===----------------------------------------------------------------------===//
// Copies of boxes of tensors
//===----------------------------------------------------------------------===//

/// A tensor of 50 rows of 70 halves, 80 apart; boxes of 8 rows of 64.
struct Tensor {
  std::vector<uint16_t> elements = std::vector<uint16_t>(50 * 80);
  std::vector<TensorMap> map = std::vector<TensorMap>(1);

  explicit Tensor(uint8_t swizzle) {
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = uint16_t(i + 1);
    map[0].base = reinterpret_cast<char *>(elements.data());
    map[0].rank = 2;
    map[0].elementBytes = 2;
    map[0].swizzleBytes = swizzle;
    map[0].sizes[0] = 70, map[0].sizes[1] = 50;
    map[0].boxes[0] = 64, map[0].boxes[1] = 8;
    map[0].strides[0] = 160;
  }
};

static std::string boxProgram(unsigned bytes) {
  return kernel("ptr %map, i32 %x, i32 %y, ptr %out, ptr addrspace(1) %tensor",
                R"(  %first = icmp eq i32 %tid, 0
  br i1 %first, label %load, label %ready
load:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)
  %s = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 )" +
                    std::to_string(bytes) + R"()
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.2d(ptr addrspace(3) @box, ptr addrspace(3) @bar, ptr %map, i32 %x, i32 %y, i64 0, i1 false)
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %wait
wait:
  %d = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @bar, i32 0)
  br i1 %d, label %read, label %wait
read:
  %p = getelementptr <4 x i32>, ptr addrspace(3) @box, i64 %t
  %v = load <4 x i32>, ptr addrspace(3) %p
  %o = getelementptr <4 x i32>, ptr %out, i64 %t
  store <4 x i32> %v, ptr %o)",
                R"(@bar = internal addrspace(3) global i64 undef, align 8
@box = internal addrspace(3) global [1024 x i8] undef, align 1024
)");
}

TEST(TensorCopy, BoxesWithZerosOutside) {
  for (uint8_t swizzle : {0, 128})
    for (auto [x, y] : {std::pair(0, 0), std::pair(16, 44), std::pair(-3, 20)}) {
      Tensor tensor(swizzle);
      std::vector<uint16_t> out(512);
      Program run(boxProgram(1024));
      run.buffer(tensor.map).value(uint32_t(x)).value(uint32_t(y)).buffer(out).buffer(tensor.elements);
      EXPECT_EQ(run.run({64}), "");
      EXPECT_TRUE(run.report().clean()) << run.findings();
      for (int row = 0; row < 8; ++row)
        for (int column = 0; column < 64; ++column) {
          bool inside = x + column >= 0 && x + column < 70 && y + row < 50;
          unsigned want = inside ? tensor.elements[(y + row) * 80 + x + column] : 0;
          EXPECT_EQ(out[exchange(row * 128 + column * 2, swizzle) / 2], want)
              << x << " " << y << " " << row << " " << column;
        }
    }
}

TEST(TensorCopy, ZerosOutsideCountAsBytes) {
  Tensor tensor(0);
  std::vector<uint16_t> out(512);
  Program run(boxProgram(512));
  run.buffer(tensor.map).value(0).value(44).buffer(out).buffer(tensor.elements).run({64});
  EXPECT_GT(run.total(FindingKind::BarrierMisuse), 0u) << run.findings();
}

// A box leaves from a multiple of 128 too.
TEST(TensorCopy, StoresAreAligned) {
  for (unsigned offset : {0u, 16u}) {
    Tensor tensor(0);
    Program run(kernel("ptr %map, ptr addrspace(1) %tensor",
                       R"(  %own = getelementptr i32, ptr addrspace(3) @box, i64 %t
  store i32 7, ptr addrspace(3) %own
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %tid, 0
  br i1 %first, label %store, label %end
store:
  %from = getelementptr i8, ptr addrspace(3) @box, i64 )" + std::to_string(offset) + R"(
  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3) %from, ptr %map, i32 0, i32 0, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)
  br label %end
end:)",
                       "@box = internal addrspace(3) global [1040 x i8] undef, align 1024\n"));
    EXPECT_EQ(run.buffer(tensor.map).buffer(tensor.elements).run({256}), "");
    EXPECT_EQ(run.total(FindingKind::Misaligned) != 0, offset != 0) << run.findings();
    EXPECT_EQ(tensor.elements[0], offset ? 1 : 7);
  }
}

TEST(TensorCopy, NoDescriptor) {
  Tensor tensor(0);
  tensor.map[0].mark = 0;
  std::vector<uint16_t> out(512);
  Program run(boxProgram(1024));
  run.buffer(tensor.map).value(0).value(0).buffer(out).buffer(tensor.elements).run({64});
  EXPECT_THAT(run.findings(), HasSubstr("expected the descriptor of a tensor"));
}
