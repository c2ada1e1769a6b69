//===- BrokenModelTest.cpp - Files that are no models ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every beginning of a model, and every model with a bit or a byte changed, gives a spec or an error that names the
// file.
//
//===----------------------------------------------------------------------===//
#include "OnnxBytes.h"

#include "attune/Frontend/SpecParser.h"
#include "attune/Onnx/NodeSpec.h"

#include <gmock/gmock.h>

#include <memory>

using namespace attune;
using namespace attune::test;
using testing::HasSubstr;

namespace {

std::string whole() {
  std::string attributes =
      integer("q_num_heads", 4) + integer("kv_num_heads", 2) + text("update_rule", "gated_delta") + real("scale", 0.5);
  std::string constant =
      bytes(5, bytes(1, varint(3) + varint(300)) + number(2, 1) + bytes(8, "w") + bytes(9, std::string(12, '\x7f')));
  return model(node("LinearAttention", "mixer", {"q", "k", "v", "past", "g", "b"}, {"o", "s"}, attributes) +
               node("Relu", "r", {"o"}, {"z"}) + tensor("q", {0, 0, 128}) + tensor("k", {0, 0, 64}) +
               tensor("v", {0, 0, 80}) + tensor("g", {0, 0, 2}) + tensor("b", {0, 0, 2}) +
               tensor("past", {0, 2, 32, 40}) + constant);
}

/// Whether there is a spec. The bytes end where their memory does, so that a sanitizer sees reads behind them.
bool isRead(const std::string &bytes) {
  std::unique_ptr<char[]> memory(new char[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), memory.get());
  llvm::Expected<onnx::NodeSpec> read = onnx::readNode({memory.get(), bytes.size()}, "", "m.onnx");
  if (!read) {
    EXPECT_EQ(llvm::toString(read.takeError()).rfind("m.onnx: error: ", 0), 0U);
    return false;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  read->writeJson(os);
  EXPECT_TRUE(static_cast<bool>(llvm::json::parse(text))) << text;
  Spec spec;
  Diagnostics diagnostics;
  parseSpec(SourceFile("m.onnx", read->yaml()), spec, diagnostics);
  return true;
}

std::string errorOf(const std::string &bytes) {
  return llvm::toString(onnx::readNode(bytes, "", "m.onnx").takeError());
}

} // namespace

TEST(OnnxBrokenModel, EveryBeginning) {
  std::string bytes = whole();
  ASSERT_TRUE(isRead(bytes));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(isRead(bytes.substr(0, size))) << size;
}

TEST(OnnxBrokenModel, EveryBit) {
  const std::string bytes = whole();
  size_t same = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    same += isRead(changed);
  }
  EXPECT_GT(same, 0U); // of names and of weights nobody cares
  EXPECT_LT(same, 4 * bytes.size());
}

TEST(OnnxBrokenModel, EveryByteOfTheLargest) {
  for (size_t i = 0; i < whole().size(); ++i)
    for (char byte : {'\xff', '\x80', '\x00'}) {
      std::string changed = whole();
      changed[i] = byte;
      isRead(changed);
    }
}

TEST(OnnxBrokenModel, SaysWhereItIsBroken) {
  EXPECT_EQ(errorOf(""), "m.onnx: error: expected an ONNX model, but got a file without a graph");
  EXPECT_EQ(errorOf("# a spec\n"),
            "m.onnx: error: expected an ONNX model, but got a field of an unknown kind at byte 1 of 9");
  EXPECT_EQ(errorOf(number(1, 11) + "\x3a\x05one"),
            "m.onnx: error: expected an ONNX model, but got a field of 5 bytes, of which 3 are there "
            "at byte 4 of 7");
  EXPECT_THAT(errorOf(std::string("\x08") + std::string(20, '\xff')),
              HasSubstr("a number of more than ten bytes at byte 1 of 21"));
  EXPECT_THAT(errorOf(std::string("\x08\xff")), HasSubstr("a number that breaks off at byte 1 of 2"));
  EXPECT_THAT(errorOf(std::string("\x0d\x01\x02")), HasSubstr("a number that breaks off at byte 1 of 3"));
  EXPECT_THAT(errorOf(std::string("\x02\x01\x02")), HasSubstr("a field without a number at byte 1 of 3"));
}

TEST(OnnxBrokenModel, FilesThatAreNone) {
  for (llvm::StringRef path : {"/dev/zero", "/", "/no/such/file.onnx"}) {
    llvm::Expected<onnx::NodeSpec> read = onnx::readNode({path, ""});
    ASSERT_FALSE(static_cast<bool>(read));
    EXPECT_THAT(llvm::toString(read.takeError()),
                HasSubstr(path.str() + ": error: expected a readable file, but got "));
  }
}
