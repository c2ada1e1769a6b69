//===- LibraryTest.cpp - From LLVM IR to a library that runs --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TinyLibrary.h"

#include "attune/Target/EmitDescriptor.h"
#include "attune/Target/EmitLibrary.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace attune::target;
using namespace llvm;

namespace {

struct TinyTensors {
  size_t size;
  const DLTensor *q, *o;
};

/// libtiny.so, opened.
class Library : public testing::Test {
protected:
  tiny::Folder folder;
  void *loaded = nullptr;

  std::string file() { return folder / "libtiny.so"; }
  std::string emit(const LibraryOptions &options = {}) {
    LLVMContext context;
    return toString(emitLibrary(tiny::module(context), tiny::description(), file(), options));
  }
  template <typename Type> Type *function(const char *name) { return reinterpret_cast<Type *>(dlsym(loaded, name)); }
  std::string load() {
    loaded = dlopen(file().c_str(), RTLD_NOW | RTLD_LOCAL);
    return loaded ? "" : dlerror();
  }
  void TearDown() override {
    if (loaded)
      dlclose(loaded);
  }

  /// Runs the library on n rows of 1, and gives the values that o then holds, each once; empty after an error.
  std::vector<float> run(const char *isa, int64_t n, size_t workspaceBytes);
};

DLTensor describe(std::vector<float> &data, int64_t *shape) {
  DLTensor tensor = {};
  tensor.data = data.data();
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 4;
  tensor.dtype = {kDLFloat, 32, 1};
  tensor.shape = shape;
  return tensor;
}

std::vector<float> Library::run(const char *isa, int64_t n, size_t workspaceBytes) {
  auto *create = function<attune_status(const attune_options *, void **)>("tiny_create");
  auto *prepare = function<attune_status(void *, const void *)>("tiny_prepare");
  auto *workspace = function<attune_status(void *, const TinyTensors *, size_t *)>("tiny_workspace");
  auto *execute = function<attune_status(void *, const TinyTensors *, void *, size_t, void *)>("tiny_run");
  auto *destroy = function<void(void *)>("tiny_destroy");
  auto *message = function<const char *()>("tiny_message");

  attune_options options = ATTUNE_OPTIONS_INIT;
  options.isa = isa;
  options.threads = 2;
  void *handle = nullptr;
  EXPECT_EQ(create(&options, &handle), ATTUNE_OK) << message();
  EXPECT_EQ(prepare(handle, nullptr), ATTUNE_OK) << message();
  std::vector<float> q(2 * 2 * n * 3, 1.0f), o(q.size(), -1.0f);
  int64_t shape[] = {2, 2, n, 3};
  DLTensor qTensor = describe(q, shape), oTensor = describe(o, shape);
  TinyTensors tensors = {sizeof(tensors), &qTensor, &oTensor};
  size_t bytes = 1;
  EXPECT_EQ(workspace(handle, &tensors, &bytes), ATTUNE_OK) << message();
  EXPECT_EQ(bytes, workspaceBytes);
  alignas(64) char memory[256];
  EXPECT_EQ(execute(handle, &tensors, memory, sizeof(memory), nullptr), ATTUNE_OK) << message();
  destroy(handle);
  std::sort(o.begin(), o.end());
  o.erase(std::unique(o.begin(), o.end()), o.end());
  return o;
}

TEST_F(Library, RunsThePlanOfTheLengthAndTheCodeOfTheCpu) {
  ASSERT_EQ(emit(), "");
  ASSERT_EQ(load(), "");
  EXPECT_EQ(run("avx2", 50, 0), std::vector<float>{2.0f});
  EXPECT_EQ(run("avx2", 100, 256), std::vector<float>{3.0f});
  if (!__builtin_cpu_supports("x86-64-v4"))
    GTEST_SKIP() << "this CPU lacks avx512";
  EXPECT_EQ(run(nullptr, 99, 0), std::vector<float>{3.0f});
  EXPECT_EQ(run(nullptr, 101, 256), std::vector<float>{4.0f});
}

TEST_F(Library, DescribesItsTensors) {
  ASSERT_EQ(emit(), "");
  ASSERT_EQ(load(), "");
  void *handle = nullptr;
  ASSERT_EQ(function<attune_status(const attune_options *, void **)>("tiny_create")(nullptr, &handle), ATTUNE_OK);
  attune_tensor_info info = {};
  info.size = sizeof(info);
  auto *tensor = function<attune_status(void *, uint32_t, attune_tensor_info *)>("tiny_tensor");
  ASSERT_EQ(tensor(handle, 1, &info), ATTUNE_OK);
  EXPECT_STREQ(info.name, "o");
  EXPECT_EQ(info.role, ATTUNE_OUTPUT);
  EXPECT_EQ(std::vector<int64_t>(info.shape, info.shape + info.rank), (std::vector<int64_t>{-1, 2, -2, 3}));
  EXPECT_EQ(tensor(handle, 2, &info), ATTUNE_ERROR_ARGUMENT);
  function<void(void *)>("tiny_destroy")(handle);
}

TEST_F(Library, LinksWithACompilerDriverToo) {
  LibraryOptions options;
  options.link.linker = ATTUNE_C_COMPILER;
  ASSERT_EQ(emit(options), "");
  ASSERT_EQ(load(), "");
  EXPECT_EQ(run("avx2", 50, 0), std::vector<float>{2.0f});
}

/// The names that the dynamic symbol table of a file exports.
std::vector<std::string> exportedSymbols(const object::ELF64LEObjectFile &file) {
  std::vector<std::string> result;
  for (const object::ELFSymbolRef &symbol : file.getDynamicSymbolIterators())
    if (!(cantFail(symbol.getFlags()) & object::SymbolRef::SF_Undefined))
      result.push_back(cantFail(symbol.getName()).str());
  return result;
}

std::vector<std::string> neededLibraries(const object::ELF64LEObjectFile &file) {
  std::vector<std::string> result;
  for (const auto &entry : cantFail(file.getELFFile().dynamicEntries()))
    if (entry.getTag() == ELF::DT_NEEDED) {
      uint64_t table = 0;
      for (const auto &other : cantFail(file.getELFFile().dynamicEntries()))
        if (other.getTag() == ELF::DT_STRTAB)
          table = other.getPtr();
      result.push_back(reinterpret_cast<const char *>(cantFail(file.getELFFile().toMappedAddr(table))) +
                       entry.getVal());
    }
  return result;
}

TEST_F(Library, IsSmallAndExportsAndNeedsLittle) {
  ASSERT_EQ(emit(), "");
  uint64_t size = 0;
  ASSERT_FALSE(sys::fs::file_size(file(), size));
  EXPECT_LE(size, 400u * 1024);
  auto binary = object::ObjectFile::createObjectFile(file());
  ASSERT_TRUE(static_cast<bool>(binary)) << toString(binary.takeError());
  const auto *elf = cast<object::ELF64LEObjectFile>(binary->getBinary());
  std::vector<std::string> expected;
  for (StringRef name : entryPointNames())
    expected.push_back(("tiny_" + name).str());
  std::vector<std::string> exported = exportedSymbols(*elf);
  std::sort(expected.begin(), expected.end());
  std::sort(exported.begin(), exported.end());
  EXPECT_EQ(exported, expected);
  for (StringRef needed : neededLibraries(*elf))
    EXPECT_TRUE(needed.starts_with("libc.so") || needed.starts_with("ld-linux") ||
                needed.starts_with("libpthread.so") || needed.starts_with("libdl.so"))
        << needed.str();
}

TEST_F(Library, MissingLinkerAndArchiveAreNamed) {
  LibraryOptions options;
  options.link.linker = "no-such-linker";
  EXPECT_EQ(emit(options), "expected the linker 'no-such-linker', but there is none; give its path or another");
  setenv("ATTUNE_RUNTIME_ARCHIVE", "/nowhere/libattune_rt.a", 1);
  EXPECT_EQ(emit(), "ATTUNE_RUNTIME_ARCHIVE: expected the path of libattune_rt.a, but there is no file "
                    "'/nowhere/libattune_rt.a'");
  unsetenv("ATTUNE_RUNTIME_ARCHIVE");
}

TEST_F(Library, WhatTheLinkerSaysIsPassedOn) {
  LLVMContext context;
  std::unique_ptr<Module> module = tiny::module(context);
  module->getFunction("unused")->setName("tiny_extra");
  module->getFunction("attune_rt_launch")->setName("attune_rt_lunch");
  std::string message = toString(emitLibrary(std::move(module), tiny::description(), file()));
  EXPECT_NE(message.find("to link the library, but it failed: "), std::string::npos) << message;
  EXPECT_NE(message.find("attune_rt_lunch"), std::string::npos) << message;
  EXPECT_FALSE(sys::fs::exists(file()));
}

TEST_F(Library, AFolderThatIsNotThereIsNamed) {
  LLVMContext context;
  std::string message = toString(emitLibrary(tiny::module(context), tiny::description(), folder / "absent/libtiny.so"));
  EXPECT_NE(message.find("absent"), std::string::npos) << message;
}

} // namespace
