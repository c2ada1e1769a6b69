//===- HeaderTest.cpp - The generated header compiles, and its example runs ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TinyLibrary.h"

#include "attune/Target/EmitHeader.h"
#include "attune/Target/EmitLibrary.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attune::target;
using namespace llvm;
using testing::HasSubstr;

namespace {

/// Every kind of tensor that a header can show.
LibraryDescription everything() {
  LibraryDescription d = tiny::description();
  d.name = "everything";
  d.summary = "a summary that */ tries to end the comment";
  int64_t B = dynamicSize(ATTUNE_RT_BATCH), n = dynamicSize(ATTUNE_RT_QUERIES), N = dynamicSize(ATTUNE_RT_KEYS);
  d.tensors.clear();
  d.tensors.push_back({.name = "q", .role = ATTUNE_RT_INPUT, .dtype = ATTUNE_RT_F16, .dims = {B, 8, n, 64}});
  d.tensors.push_back({.name = "v", .role = ATTUNE_RT_INPUT, .dtype = ATTUNE_RT_BF16, .dims = {4, 8, N, 64}});
  d.tensors.push_back({.name = "key_lengths", .role = ATTUNE_RT_INPUT, .dtype = ATTUNE_RT_I32, .dims = {B}});
  d.tensors.push_back({.name = "part0.e", .role = ATTUNE_RT_PARAMETER, .dtype = ATTUNE_RT_F32, .dims = {1, 16, N}});
  d.tensors.push_back({.name = "part1.sketch.leaf0.sign",
                       .role = ATTUNE_RT_PARAMETER,
                       .dtype = ATTUNE_RT_F16,
                       .dims = {4, 64},
                       .signs = true});
  d.tensors.push_back({.name = "part1.sketch.leaf0.index",
                       .role = ATTUNE_RT_PARAMETER,
                       .dtype = ATTUNE_RT_I32,
                       .dims = {4, 16},
                       .indexBound = 64});
  d.tensors.push_back({.name = "o", .role = ATTUNE_RT_OUTPUT, .dtype = ATTUNE_RT_F16, .dims = {B, 8, n, 64}});
  d.tensors.push_back({.name = "lse", .role = ATTUNE_RT_OPTIONAL_OUTPUT, .dtype = ATTUNE_RT_F32, .dims = {B, 8, n}});
  d.tensors.push_back({.name = "secret", .role = ATTUNE_RT_PREPARED, .dtype = ATTUNE_RT_F32, .dims = {4, 16}});
  d.queriesEqualKeys = true;
  return d;
}

/// More parameters than a C function need take as arguments.
LibraryDescription manyParameters() {
  LibraryDescription d = tiny::description();
  d.name = "many";
  for (int i = 0; i < 200; ++i)
    d.tensors.push_back({.name = "part" + std::to_string(i) + ".lepe.weight",
                         .role = ATTUNE_RT_PARAMETER,
                         .dtype = ATTUNE_RT_BF16,
                         .dims = {1, 8, 3, 3}});
  return d;
}

LibraryDescription deviceOnly() {
  LibraryDescription d = everything();
  d.name = "device_only";
  d.variants.resize(1);
  d.variants[0].target = ATTUNE_RT_CUDA;
  d.variants[0].arch = 80;
  return d;
}

void write(const std::string &path, StringRef text) {
  std::error_code code;
  raw_fd_ostream(path, code) << text;
  ASSERT_FALSE(code) << code.message();
}

/// Exit status of a command; what it prints goes to the test's output.
int execute(std::vector<std::string> command) {
  SmallVector<StringRef> arguments(command.begin(), command.end());
  return sys::ExecuteAndWait(command.front(), arguments);
}

int compile(const tiny::Folder &folder, StringRef compiler, StringRef standard, const std::string &source) {
  return execute({compiler.str(), "-std=" + standard.str(), "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only",
                  "-I" + folder.path, source});
}

class Header : public testing::Test {
protected:
  tiny::Folder folder;
  /// Writes header, the example and, after it, both headers once more.
  void writeFiles(const LibraryDescription &description) {
    write(folder / (description.name + ".h"), emitHeader(description));
    write(folder / (description.name + ".c"), emitExample(description) + "#include \"" + description.name + ".h\"\n");
    write(folder / (description.name + ".cpp"), emitExample(description));
  }
};

TEST_F(Header, AndExampleCompileAsC99AndCxx) {
  for (const LibraryDescription &description :
       {tiny::description(), everything(), deviceOnly(), manyParameters()}) {
    writeFiles(description);
    EXPECT_EQ(compile(folder, ATTUNE_C_COMPILER, "c99", folder / (description.name + ".c")), 0) << description.name;
    EXPECT_EQ(compile(folder, ATTUNE_CXX_COMPILER, "c++11", folder / (description.name + ".cpp")), 0)
        << description.name;
  }
}

TEST_F(Header, OfSeveralLibrariesGoTogether) {
  writeFiles(tiny::description());
  writeFiles(everything());
  write(folder / "both.c", "#include \"tiny.h\"\n#include \"everything.h\"\nint main(void) { return 0; }\n");
  EXPECT_EQ(compile(folder, ATTUNE_C_COMPILER, "c99", folder / "both.c"), 0);
}

// What a program has that included DLPack's own header first, as far as the generated one uses it.
constexpr const char *dlpackText = R"(
#include <stddef.h>
#include <stdint.h>
#define DLPACK_DLPACK_H_
typedef enum { kDLCPU = 1, kDLCUDA = 2 } DLDeviceType;
typedef enum { kDLInt = 0, kDLFloat = 2, kDLBfloat = 4 } DLDataTypeCode;
typedef struct { DLDeviceType device_type; int32_t device_id; } DLDevice;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct {
  void *data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t *shape; int64_t *strides; uint64_t byte_offset;
} DLTensor;
)";

TEST_F(Header, GoesWithDlpacksOwn) {
  writeFiles(everything());
  write(folder / "with.c", dlpackText + emitExample(everything()));
  write(folder / "with.cpp", dlpackText + emitExample(everything()));
  EXPECT_EQ(compile(folder, ATTUNE_C_COMPILER, "c99", folder / "with.c"), 0);
  EXPECT_EQ(compile(folder, ATTUNE_CXX_COMPILER, "c++11", folder / "with.cpp"), 0);
}

TEST(HeaderText, ShowsShapesRolesAndMeanings) {
  std::string text = emitHeader(everything());
  EXPECT_THAT(text, HasSubstr(" * q                 input             f16    [batch, 8, n, 64]\n *     queries\n"));
  EXPECT_THAT(text, HasSubstr(" * v                 input             bf16   [4, 8, N, 64]\n"));
  EXPECT_THAT(text, HasSubstr(" * part0.e           parameter         f32    [1, 16, N]\n"));
  EXPECT_THAT(text, HasSubstr(" * part1.sketch.leaf0.sign parameter         f16    [4, 64]\n *     signs of a leaf's Hadamard "
                              "transform, for the features padded to a power of two; each -1 or 1\n"));
  EXPECT_THAT(text, HasSubstr(" * part1.sketch.leaf0.index parameter         i32    [4, 16]\n *     which transformed features a "
                              "leaf keeps; each in 0 ... 63\n"));
  EXPECT_THAT(text, HasSubstr("  const DLTensor *part1_sketch_leaf0_sign; /* f16 [4, 64] */\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("secret")));
  EXPECT_THAT(text, HasSubstr(" * lse               output, optional  f32    [batch, 8, n]\n"));
  EXPECT_THAT(text, HasSubstr("  const DLTensor *o; /* f16 [batch, 8, n, 64], written */\n"));
  EXPECT_THAT(text, HasSubstr(" *   avx2: short from L = 0; long from L = 100\n"));
  EXPECT_THAT(text, HasSubstr("needs n = N"));
  EXPECT_THAT(text, HasSubstr("attune_status everything_prepare(everything_handle *handle, const everything_parameters "
                              "*parameters);"));
}

TEST_F(Header, ExampleRuns) {
  if (!__builtin_cpu_supports("x86-64-v3"))
    GTEST_SKIP() << "this CPU lacks avx2";
  LLVMContext context;
  writeFiles(tiny::description());
  ASSERT_EQ(toString(emitLibrary(tiny::module(context), tiny::description(), folder / "libtiny.so")), "");
  write(folder / "main.c", emitExample(tiny::description()) + R"(
int main(void) {
  float q[2 * 200 * 3], o[2 * 200 * 3];
  int i;
  for (i = 0; i < 1200; ++i)
    q[i] = (float)i;
  if (tiny_example(1, 200, q, o))
    return 1;
  for (i = 0; i < 1200; ++i)
    if (o[i] != 2.0f * q[i] + 1.0f && o[i] != 3.0f * q[i] + 1.0f)
      return 2;
  return 0;
}
)");
  ASSERT_EQ(execute({ATTUNE_C_COMPILER, "-std=c99", "-I" + folder.path, folder / "main.c", "-o", folder / "main",
                     folder / "libtiny.so", "-Wl,-rpath," + folder.path}),
            0);
  EXPECT_EQ(execute({folder / "main"}), 0);
}

} // namespace
