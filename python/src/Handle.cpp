//===- Handle.cpp - A compiled library, opened and made ready -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Handle.h"

#include "Errors.h"

#include <cstdint>
#include <dlfcn.h>
#include <new>
#include <sys/statvfs.h>
#include <type_traits>

using namespace attune;
using namespace attune::python;

Handle::Handle(const std::string &path, const std::string &libraryName, attune_options options) : name(libraryName) {
  try {
    open(path);
    check(entry.create(&options, &handle));
    readTable();
  } catch (...) {
    if (handle)
      entry.destroy(handle);
    if (library)
      dlclose(library);
    throw;
  }
}

Handle::~Handle() {
  entry.destroy(handle);
  dlclose(library);
}

/// The loader only says that it could not map the file.
static std::string remedyFor(const std::string &path) {
  struct statvfs facts;
  if (statvfs(path.c_str(), &facts) != 0 || !(facts.f_flag & ST_NOEXEC))
    return "";
  return "; its file system is mounted noexec: set ATTUNE_CACHE_DIR to a folder on another one";
}

void Handle::open(const std::string &path) {
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw StatusError(ATTUNE_ERROR_LIBRARY,
                      "expected a library that loads, but got: " + std::string(dlerror()) + remedyFor(path));
  auto resolve = [&](const char *part, auto &function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, (name + part).c_str()));
    if (!function)
      throw StatusError(ATTUNE_ERROR_LIBRARY,
                        "expected the function " + name + part + " in " + path + ", but got: " + dlerror());
  };
  resolve("_create", entry.create);
  resolve("_prepare", entry.prepare);
  resolve("_workspace", entry.workspace);
  resolve("_run", entry.run);
  resolve("_info", entry.info);
  resolve("_tensor", entry.tensor);
  resolve("_destroy", entry.destroy);
  resolve("_message", entry.message);
}

void Handle::readTable() {
  uint32_t count = info().tensor_count;
  for (uint32_t i = 0; i < count; ++i) {
    attune_tensor_info tensor{};
    tensor.size = sizeof(tensor);
    check(entry.tensor(handle, i, &tensor));
    table.push_back(tensor);
    (tensor.role == ATTUNE_PARAMETER ? prepared : given).push_back(tensor);
  }
}

void Handle::check(attune_status status) const {
  if (status == ATTUNE_OK)
    return;
  // NAME_run and NAME_workspace are one to a caller of Python.
  std::string message = entry.message();
  size_t colon = message.find(": ");
  bool ours = message.compare(0, name.size() + 1, name + "_") == 0 && colon != std::string::npos;
  throw StatusError(status, ours ? name + message.substr(colon) : message);
}

attune_info Handle::info() const {
  attune_info info{};
  info.size = sizeof(info);
  check(entry.info(handle, &info));
  return info;
}

void Handle::prepare(const TensorStruct &parameters) {
  rt::LockScope lock(running);
  prepareLocked(parameters);
}

void Handle::prepareLocked(const TensorStruct &parameters) { check(entry.prepare(handle, parameters.get())); }

size_t Handle::workspaceBytes(const TensorStruct &tensors) const {
  size_t bytes = 0;
  check(entry.workspace(handle, tensors.get(), &bytes));
  return bytes;
}

void Handle::run(const TensorStruct &tensors) {
  rt::LockScope lock(running);
  runLocked(tensors);
}

void Handle::prepareAndRun(const TensorStruct &parameters, const TensorStruct &tensors) {
  rt::LockScope lock(running);
  prepareLocked(parameters);
  runLocked(tensors);
}

void Handle::runLocked(const TensorStruct &tensors) {
  size_t bytes = workspaceBytes(tensors);
  if (bytes > memoryBytes) {
    memoryBytes = 0; // first: a child of a fork may go on from here
    memory.reset();  // before the larger one is asked for
    memory.reset(new (std::nothrow) char[bytes + ATTUNE_WORKSPACE_ALIGNMENT]);
    if (!memory)
      throw StatusError(ATTUNE_ERROR_MEMORY,
                        "expected " + std::to_string(bytes) + " bytes of workspace, but there are none");
    memoryBytes = bytes;
  }
  size_t past = reinterpret_cast<uintptr_t>(memory.get()) % ATTUNE_WORKSPACE_ALIGNMENT;
  char *start = memory ? memory.get() + (past ? ATTUNE_WORKSPACE_ALIGNMENT - past : 0) : nullptr;
  runIn(tensors, start, memoryBytes, nullptr);
}

void Handle::runIn(const TensorStruct &tensors, void *workspace, size_t bytes, void *stream) {
  check(entry.run(handle, tensors.get(), workspace, bytes, stream));
}
