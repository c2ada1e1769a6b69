//===- NpyTest.cpp - .npy files, good, foreign and hostile ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/TensorFiles.h"

#include "TemporaryFolder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A file of version `major` with this header and data.
std::string npy(llvm::StringRef header, llvm::StringRef data, char major = 1) {
  std::string text = "\x93NUMPY";
  text += {major, '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  if (major > 1)
    text += std::string(2, '\0');
  return text + header.str() + data.str();
}

llvm::Expected<HostTensor> readBytes(const std::string &bytes) {
  TemporaryFolder folder;
  return readNpy(folder.fileOf("t.npy", bytes));
}

llvm::StringRef bytesOfShorts() { return llvm::StringRef("\1\0\2\0\3\0\4\0\5\0\6\0", 12); }

} // namespace

TEST(Npy, EveryTypeComesBack) {
  TemporaryFolder folder;
  for (llvm::StringRef name : {"f32", "f64", "f16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"}) {
    for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}, {1, 2, 3, 4}}) {
      HostTensor tensor = HostTensor::zeros(*elementTypeOf(name), shape);
      for (size_t i = 0; i < tensor.bytes.size(); ++i)
        tensor.bytes[i] = static_cast<char>(i * 7 % 2);
      ASSERT_FALSE(llvm::errorToBool(writeNpy(folder.file("t.npy"), tensor)));
      llvm::Expected<HostTensor> back = readNpy(folder.file("t.npy"));
      ASSERT_TRUE(static_cast<bool>(back)) << llvm::toString(back.takeError());
      EXPECT_EQ(back->type, tensor.type);
      EXPECT_EQ(back->shape, tensor.shape);
      EXPECT_EQ(back->bytes, tensor.bytes);
    }
  }
}

TEST(Npy, WritesBFloatsAsFloats) {
  TemporaryFolder folder;
  HostTensor tensor = HostTensor::zeros(ElementType::BF16, {1});
  tensor.data<uint16_t>()[0] = roundToBF16(-1.5f);
  ASSERT_FALSE(llvm::errorToBool(writeNpy(folder.file("t.npy"), tensor)));
  llvm::Expected<HostTensor> back = readNpy(folder.file("t.npy"));
  ASSERT_TRUE(static_cast<bool>(back));
  EXPECT_EQ(back->data<float>()[0], -1.5f);
}

TEST(Npy, TheDataIsAligned) {
  TemporaryFolder folder;
  HostTensor tensor = HostTensor::zeros(ElementType::F32, {5});
  ASSERT_FALSE(llvm::errorToBool(writeNpy(folder.file("t.npy"), tensor)));
  uint64_t size = 0;
  ASSERT_FALSE(llvm::sys::fs::file_size(folder.file("t.npy"), size));
  EXPECT_EQ((size - 20) % 64, 0u);
}

TEST(Npy, VersionsKeyOrdersAndFortranOrder) {
  for (char major : {1, 2, 3}) {
    llvm::Expected<HostTensor> tensor =
        readBytes(npy("{'shape': (2, 3), 'fortran_order': False, 'descr': '<i2'}\n", bytesOfShorts(), major));
    ASSERT_TRUE(static_cast<bool>(tensor)) << llvm::toString(tensor.takeError());
    EXPECT_THAT(toDoubles(*tensor), ElementsAre(1, 2, 3, 4, 5, 6));
  }
  llvm::Expected<HostTensor> columns =
      readBytes(npy("{\"descr\": '<i2', 'fortran_order': True, 'shape': (2, 3, ), }", bytesOfShorts()));
  ASSERT_TRUE(static_cast<bool>(columns)) << llvm::toString(columns.takeError());
  EXPECT_THAT(toDoubles(*columns), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(Npy, BigEndian) {
  llvm::Expected<HostTensor> tensor =
      readBytes(npy("{'descr': '>i2', 'fortran_order': False, 'shape': (6,), }", bytesOfShorts()));
  ASSERT_TRUE(static_cast<bool>(tensor)) << llvm::toString(tensor.takeError());
  EXPECT_THAT(toDoubles(*tensor), ElementsAre(256, 512, 768, 1024, 1280, 1536));
}

TEST(Npy, RefusesWhatIsWrong) {
  auto message = [](llvm::StringRef header) { return messageOf(readBytes(npy(header, bytesOfShorts()))); };
  EXPECT_THAT(message("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 4), }"),
              HasSubstr("t.npy: error: expected 16 bytes of data for shape [2, 4], but got 12"));
  EXPECT_THAT(message("{'descr': '<i2', 'fortran_order': False, 'shape': (5,), }"), HasSubstr("but got 12"));
  EXPECT_THAT(message("{'descr': '<V2', 'fortran_order': False, 'shape': (6,), }"), HasSubstr("'<V2'"));
  EXPECT_THAT(message("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }"),
              HasSubstr("one element type"));
  EXPECT_THAT(message("{'descr': '|O', 'fortran_order': False, 'shape': (6,), }"), HasSubstr("'|O'"));
  EXPECT_THAT(message("{'descr': '<i2', 'fortran_order': False, 'shape': (-6,), }"), HasSubstr("a tuple of sizes"));
  EXPECT_THAT(message("{'descr': '<i2', 'fortran_order': False, 'shape': (6), }"), HasSubstr("a tuple of sizes"));
  EXPECT_THAT(message("{'descr': '<i2', 'fortran_order': 0, 'shape': (6,), }"), HasSubstr("True or False"));
  EXPECT_THAT(message("{'descr': '<i2', 'shape': (6,), }"), HasSubstr("but got fewer"));
  EXPECT_THAT(message("{'descr': '<i2', 'descr': '<i2', 'shape': (6,), }"), HasSubstr("once each"));
  EXPECT_THAT(message("{'descr': '<i2', 'fortran_order': False, 'shape': (6,), } import os"),
              HasSubstr("nothing after the dict"));
  EXPECT_THAT(message("[1]"), HasSubstr("a dict"));
}

TEST(Npy, RefusesSizesThatOverflow) {
  EXPECT_THAT(messageOf(readBytes(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
                                      bytesOfShorts()))),
              HasSubstr("a shape that fits in memory"));
  EXPECT_THAT(messageOf(readBytes(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
                                      bytesOfShorts()))),
              HasSubstr("a tuple of sizes"));
  EXPECT_THAT(messageOf(readBytes(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }", ""))),
              HasSubstr("expected 4000000000 bytes of data"));
  std::string longHeader = "\x93NUMPY";
  longHeader += std::string("\x02\x00\xff\xff\xff\xff", 6);
  EXPECT_THAT(messageOf(readBytes(longHeader)), HasSubstr("a header of at most"));
}

/// Files that are as large as they say, and of which nothing but the header lies on the disk.
TEST(Npy, RefusesWhatNoMemoryHolds) {
  TemporaryFolder folder;
  for (auto [shape, order] : {std::pair("(1099511627776,)", "False"), std::pair("(1024, 1048576, 1024)", "True")}) {
    std::string path = folder.fileOf(
        "t.npy", npy("{'descr': '<f4', 'fortran_order': " + std::string(order) + ", 'shape': " + shape + ", }", ""));
    uint64_t header = 0;
    ASSERT_FALSE(llvm::sys::fs::file_size(path, header));
    ASSERT_EQ(::truncate(path.c_str(), header + (int64_t(4) << 40)), 0);
    llvm::Expected<TensorHeader> known = readNpyHeader(path);
    ASSERT_TRUE(static_cast<bool>(known)) << llvm::toString(known.takeError());
    EXPECT_EQ(known->shape.size(), llvm::StringRef(shape).count(' ') + 1);
    EXPECT_THAT(messageOf(readNpy(path)), HasSubstr("t.npy: error: expected a tensor that fits this machine's memory of "));
  }
}

TEST(Npy, DoesNotWaitForAPipe) {
  TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("t.npy").c_str(), 0600), 0);
  EXPECT_THAT(messageOf(readNpy(folder.file("t.npy"))), HasSubstr("a folder or a device"));
}

TEST(Npy, EveryTruncationIsAnError) {
  std::string whole = npy("{'descr': '<i2', 'fortran_order': False, 'shape': (6,), }", bytesOfShorts());
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THAT(messageOf(readBytes(whole.substr(0, length))), HasSubstr("t.npy: error: expected ")) << length;
}

TEST(Npy, EveryChangedByteIsReadOrRefused) {
  std::string whole = npy("{'descr': '<i2', 'fortran_order': False, 'shape': (6,), }", bytesOfShorts());
  for (size_t at = 0; at < whole.size(); ++at)
    for (char byte : {'\0', '9', '(', '\'', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[at] = byte;
      llvm::Expected<HostTensor> tensor = readBytes(changed);
      if (tensor)
        EXPECT_EQ(tensor->bytes.size(), 12u);
      else
        llvm::consumeError(tensor.takeError());
    }
}

TEST(Npy, RefusesFoldersAndDevices) {
  TemporaryFolder folder;
  EXPECT_THAT(messageOf(readNpy(folder.str())), HasSubstr("a folder or a device"));
  EXPECT_THAT(messageOf(readNpy("/dev/zero")), HasSubstr("a folder or a device"));
  EXPECT_THAT(messageOf(readNpy(folder.file("none.npy"))), HasSubstr("No such file"));
  EXPECT_TRUE(llvm::errorToBool(writeNpy(folder.file("no/such/folder.npy"), HostTensor::zeros(ElementType::F32, {1}))));
}
