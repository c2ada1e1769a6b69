//===- SafetensorsTest.cpp - .safetensors files, good and hostile --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/TensorFiles.h"

#include "TemporaryFolder.h"

#include "llvm/Support/Endian.h"

#include <gmock/gmock.h>
#include <unistd.h>

using namespace attune;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::string archive(llvm::StringRef header, llvm::StringRef data) {
  char length[8];
  llvm::support::endian::write64le(length, header.size());
  return std::string(length, 8) + header.str() + data.str();
}

/// The message of opening the file, or of reading `t` from it.
std::string failure(const std::string &bytes) {
  TemporaryFolder folder;
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::open(folder.fileOf("a.safetensors", bytes));
  return file ? llvm::toString(file->read("t").takeError()) : llvm::toString(file.takeError());
}

} // namespace

TEST(Safetensors, ReadsAFileWrittenByHand) {
  TemporaryFolder folder;
  std::string path =
      folder.fileOf("a.safetensors",
                    archive(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
                            R"("a":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]}}   )",
                            llvm::StringRef("\x80\x3f\x00\xc0\x00\x00\x20\x41", 8)));
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  ASSERT_TRUE(static_cast<bool>(file)) << llvm::toString(file.takeError());
  EXPECT_THAT(file->names(), ElementsAre("a", "b"));
  llvm::Expected<HostTensor> a = file->read("a"), b = file->read("b");
  ASSERT_TRUE(a && b);
  EXPECT_THAT(toDoubles(*a), ElementsAre(1, -2));
  EXPECT_THAT(a->shape, ElementsAre(2, 1));
  EXPECT_THAT(toDoubles(*b), ElementsAre(10));
}

TEST(Safetensors, ComesBack) {
  TemporaryFolder folder;
  std::vector<NamedTensor> tensors;
  for (llvm::StringRef name : {"f32", "f16", "bf16", "f64", "i32", "i64", "u8", "bool"}) {
    tensors.push_back({name.str(), HostTensor::zeros(*elementTypeOf(name), {3, 2})});
    for (char &byte : tensors.back().tensor.bytes)
      byte = static_cast<char>(tensors.size() % 2);
  }
  ASSERT_FALSE(llvm::errorToBool(writeSafetensors(folder.file("a.safetensors"), tensors)));
  llvm::Expected<TensorSource> source = TensorSource::open(folder.file("a.safetensors"));
  ASSERT_TRUE(static_cast<bool>(source));
  for (const NamedTensor &named : tensors) {
    llvm::Expected<HostTensor> back = source->read(named.name);
    ASSERT_TRUE(static_cast<bool>(back)) << llvm::toString(back.takeError());
    EXPECT_EQ(back->type, named.tensor.type);
    EXPECT_EQ(back->bytes, named.tensor.bytes);
  }
  EXPECT_THAT(messageOf(source->read("none")), HasSubstr("expected tensor 'none'"));
}

TEST(Safetensors, RefusesWhatIsWrong) {
  llvm::StringRef four("\0\0\0\0", 4);
  auto entry = [&](llvm::StringRef body) { return failure(archive(("{\"t\":" + body + "}").str(), four)); };
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})"), HasSubstr("inside the 4 bytes"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[1],"data_offsets":[3,1]})"), HasSubstr("inside the 4 bytes"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"), HasSubstr("hold shape [2]"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]})"),
              HasSubstr("hold shape"));
  EXPECT_THAT(entry(R"({"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]})"), HasSubstr("'F8_E4M3'"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), HasSubstr("sizes >= 0"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})"), HasSubstr("sizes >= 0"));
  // Doubles that are no int64_t.
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[9223372036854775807e0],"data_offsets":[0,4]})"), HasSubstr("sizes >= 0"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,9.3e18]})"), HasSubstr("data_offsets"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})"), HasSubstr("data_offsets"));
  EXPECT_THAT(entry(R"({"dtype":"U8","shape":[3],"data_offsets":[0,3]})"), HasSubstr("expected 3 bytes of data"));
  EXPECT_THAT(entry(R"({"dtype":"U8","shape":[3],"data_offsets":[1,4]})"), HasSubstr("without gaps"));
  EXPECT_THAT(entry("7"), HasSubstr("dtype, shape and data_offsets"));
  EXPECT_THAT(failure(archive("[]", "")), HasSubstr("a JSON object"));
  EXPECT_THAT(failure(archive("{", "")), HasSubstr("a JSON header"));
  EXPECT_THAT(failure(archive(std::string(1 << 20, '['), "")), HasSubstr("nested too deeply"));
  EXPECT_THAT(failure("\xff\xff\xff\xff\xff\xff\xff\xff{}"), HasSubstr("a header of at most"));
  EXPECT_THAT(failure("short"), HasSubstr("5 bytes"));
}

/// A file that is as large as it says, and of which nothing but the header lies on the disk.
TEST(Safetensors, RefusesWhatNoMemoryHolds) {
  TemporaryFolder folder;
  std::string header = R"({"t":{"dtype":"F32","shape":[1048576,1048576],"data_offsets":[0,4398046511104]}})";
  std::string path = folder.fileOf("a.safetensors", archive(header, ""));
  ASSERT_EQ(::truncate(path.c_str(), 8 + header.size() + (int64_t(4) << 40)), 0);
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  ASSERT_TRUE(static_cast<bool>(file)) << llvm::toString(file.takeError());
  llvm::Expected<TensorHeader> known = file->header("t");
  ASSERT_TRUE(static_cast<bool>(known)) << llvm::toString(known.takeError());
  EXPECT_THAT(known->shape, ElementsAre(1048576, 1048576));
  EXPECT_THAT(messageOf(file->read("t")), HasSubstr("a.safetensors: error: expected a tensor that fits this machine's memory"));
}

/// One reader takes the first of two entries, another the last: nobody can say which was meant.
TEST(Safetensors, RefusesAKeyTwice) {
  std::string a = R"({"dtype":"U8","shape":[2],"data_offsets":[0,2]})",
              b = R"({"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  auto fileOf = [&](const std::string &header) { return failure(archive(header, "abcd")); };
  EXPECT_THAT(fileOf(R"({"t":)" + a + R"(,"t":)" + b + "}"),
              HasSubstr("a.safetensors: error: expected each key of the header once, but got 't' again"));
  EXPECT_THAT(fileOf(R"({"t":)" + a + R"( , "\u0074" :)" + b + "}"), HasSubstr("but got 't' again"));
  EXPECT_THAT(fileOf(R"({"t":{"dtype":"U8","shape":[4],"shape":[4],"data_offsets":[0,4]}})"),
              HasSubstr("but got 'shape' again"));
  EXPECT_THAT(fileOf(R"({"__metadata__":{"\"t":"t","t":"\\"},"t":)" + b + "}"), testing::IsEmpty());
}

/// A file that takes the name of one that is open does not lend its bytes to the header of the other.
TEST(Safetensors, ReadsTheFileThatWasOpened) {
  TemporaryFolder folder;
  std::string header = R"({"t":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  std::string path = folder.fileOf("a.safetensors", archive(header, "\1\2"));
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  ASSERT_TRUE(static_cast<bool>(file)) << llvm::toString(file.takeError());
  ASSERT_FALSE(llvm::sys::fs::rename(folder.fileOf("b", archive(header, "\3\4")), path));
  llvm::Expected<HostTensor> tensor = file->read("t");
  ASSERT_TRUE(static_cast<bool>(tensor)) << llvm::toString(tensor.takeError());
  EXPECT_THAT(toDoubles(*tensor), ElementsAre(1, 2));
}

TEST(Safetensors, EveryTruncationIsAnError) {
  std::string whole = archive(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcd");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THAT(failure(whole.substr(0, length)), HasSubstr("error: expected ")) << length;
}

TEST(TensorSource, SaysWhatItExpects) {
  TemporaryFolder folder;
  EXPECT_THAT(messageOf(TensorSource::open(folder.file("none"))), HasSubstr("nothing there"));
  EXPECT_THAT(messageOf(TensorSource::open(folder.fileOf("t.txt", "x"))), HasSubstr("another file"));
  llvm::Expected<TensorSource> source = TensorSource::open(folder.str());
  ASSERT_TRUE(static_cast<bool>(source));
  EXPECT_FALSE(source->contains("q"));
  EXPECT_THAT(messageOf(source->read("q")), HasSubstr("q.npy: error: expected a tensor file"));
}
