//===- LoadedLibrary.cpp - A compiled library, loaded and called ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/LoadedLibrary.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdlib>
#include <dlfcn.h>
#include <sys/statvfs.h>

using namespace attune;

namespace {
struct FreeDeleter {
  void operator()(void *memory) const { std::free(memory); }
};

/// The entry points `NAME_…`; their tensor structs are laid out as attune_rt_tensors.
struct EntryPoints {
  attune_status (*create)(const attune_options *, void **);
  attune_status (*prepare)(void *, const void *);
  attune_status (*workspace)(void *, const attune_rt_tensors *, size_t *);
  attune_status (*run)(void *, const attune_rt_tensors *, void *, size_t, void *);
  attune_status (*info)(void *, attune_info *);
  void (*destroy)(void *);
  const char *(*message)();
};

/// attune_rt_tensors with its pointers, and the DLTensors that they point to.
struct TensorStruct {
  llvm::SmallVector<DLTensor, 8> tensors;
  llvm::SmallVector<llvm::SmallVector<int64_t, 4>, 8> shapes;
  std::vector<const void *> storage; // the size, then a pointer a tensor

  const attune_rt_tensors *get() const { return reinterpret_cast<const attune_rt_tensors *>(storage.data()); }
};
} // namespace

struct LoadedLibrary::Impl {
  void *library = nullptr;
  void *handle = nullptr;
  EntryPoints entry{};
  std::unique_ptr<void, FreeDeleter> workspace;
  size_t workspaceBytes = 0;

  llvm::Error check(attune_status status) const {
    return status == ATTUNE_OK ? llvm::Error::success() : llvm::createStringError(entry.message());
  }
};

std::array<int64_t, ATTUNE_RT_SYMBOL_COUNT> attune::bindSizes(const target::LibraryDescription &interface,
                                                              llvm::ArrayRef<HostTensor *> tensors) {
  std::array<int64_t, ATTUNE_RT_SYMBOL_COUNT> sizes = interface.sizes;
  for (auto [tensor, description] : llvm::zip_equal(tensors, interface.tensors))
    for (size_t dim = 0; tensor && dim < std::min(tensor->shape.size(), description.dims.size()); ++dim)
      if (description.dims[dim] < 0)
        sizes[-1 - description.dims[dim]] = tensor->shape[dim] - (description.offsets || description.keyOffsets);
  if (sizes[ATTUNE_RT_KEYS] < 0 && interface.queriesEqualKeys)
    sizes[ATTUNE_RT_KEYS] = sizes[ATTUNE_RT_QUERIES];
  return sizes;
}

ElementType attune::elementTypeOf(attune_rt_dtype dtype) {
  switch (dtype) {
  case ATTUNE_RT_F16:
    return ElementType::F16;
  case ATTUNE_RT_BF16:
    return ElementType::BF16;
  case ATTUNE_RT_I32:
    return ElementType::I32;
  case ATTUNE_RT_F32:
    break;
  }
  return ElementType::F32;
}

LoadedLibrary::LoadedLibrary(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}

LoadedLibrary::~LoadedLibrary() {
  if (impl->handle)
    impl->entry.destroy(impl->handle);
  dlclose(impl->library);
}

template <typename Function>
static bool resolve(void *library, llvm::StringRef name, const char *suffix, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, (name + suffix).str().c_str()));
  return function != nullptr;
}

/// The loader only says that it could not map the file.
static llvm::StringRef remedyFor(const std::string &path) {
  struct statvfs facts;
  bool executes = ::statvfs(path.c_str(), &facts) != 0 || !(facts.f_flag & ST_NOEXEC);
  return executes ? "" : "; its file system is mounted noexec: set TMPDIR to a folder on another one";
}

llvm::Expected<std::unique_ptr<LoadedLibrary>> LoadedLibrary::open(llvm::StringRef path, llvm::StringRef name) {
  void *library = dlopen(path.str().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return llvm::createStringError("expected a library that loads, but got: " + llvm::StringRef(dlerror()) +
                                   remedyFor(path.str()));
  auto impl = std::make_unique<Impl>();
  impl->library = library;
  EntryPoints &entry = impl->entry;
  bool complete = resolve(library, name, "_create", entry.create) && resolve(library, name, "_prepare", entry.prepare) &&
                  resolve(library, name, "_workspace", entry.workspace) && resolve(library, name, "_run", entry.run) &&
                  resolve(library, name, "_info", entry.info) && resolve(library, name, "_destroy", entry.destroy) &&
                  resolve(library, name, "_message", entry.message);
  std::unique_ptr<LoadedLibrary> loaded(new LoadedLibrary(std::move(impl)));
  if (!complete)
    return llvm::createStringError("expected the entry points of " + name + " in " + path + ", but got: " +
                                   llvm::StringRef(dlerror()));
  return loaded;
}

llvm::Error LoadedLibrary::create(int32_t threads, llvm::StringRef isa) {
  attune_options options = ATTUNE_OPTIONS_INIT;
  std::string isaText = isa.str();
  options.threads = threads;
  options.isa = isa.empty() ? nullptr : isaText.c_str();
  return impl->check(impl->entry.create(&options, &impl->handle));
}

llvm::Error LoadedLibrary::createOnGpu() {
  attune_options options = ATTUNE_OPTIONS_INIT;
  options.device_type = kDLCUDA;
  return impl->check(impl->entry.create(&options, &impl->handle));
}

static DLDataType dataType(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return {kDLFloat, 16, 1};
  case ElementType::BF16:
    return {kDLBfloat, 16, 1};
  case ElementType::I32:
    return {kDLInt, 32, 1};
  default:
    return {kDLFloat, 32, 1};
  }
}

/// Tensors of the host, or at addresses of a GPU.
static TensorStruct pack(llvm::ArrayRef<HostTensor *> tensors, llvm::ArrayRef<uint64_t> addresses = {}) {
  DLDevice device{addresses.empty() ? kDLCPU : kDLCUDA, 0};
  TensorStruct packed;
  packed.tensors.resize(tensors.size());
  packed.shapes.resize(tensors.size());
  packed.storage.resize(tensors.size() + 1, nullptr);
  packed.storage[0] = reinterpret_cast<const void *>(packed.storage.size() * sizeof(void *));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i])
      continue;
    packed.shapes[i].assign(tensors[i]->shape.begin(), tensors[i]->shape.end());
    void *data = addresses.empty() ? tensors[i]->bytes.data() : reinterpret_cast<void *>(addresses[i]);
    packed.tensors[i] = {data, device, static_cast<int32_t>(packed.shapes[i].size()), dataType(tensors[i]->type),
                         packed.shapes[i].data(), nullptr, 0};
    packed.storage[i + 1] = &packed.tensors[i];
  }
  return packed;
}

llvm::Error LoadedLibrary::prepare(llvm::ArrayRef<HostTensor *> parameters) {
  return impl->check(impl->entry.prepare(impl->handle, pack(parameters).get()));
}

llvm::Expected<size_t> LoadedLibrary::workspaceBytes(llvm::ArrayRef<HostTensor *> tensors,
                                                     llvm::ArrayRef<uint64_t> addresses) {
  TensorStruct packed = pack(tensors, addresses);
  size_t bytes = 0;
  if (llvm::Error error = impl->check(impl->entry.workspace(impl->handle, packed.get(), &bytes)))
    return error;
  return bytes;
}

llvm::Error LoadedLibrary::run(llvm::ArrayRef<HostTensor *> tensors) {
  TensorStruct packed = pack(tensors);
  size_t bytes = 0;
  if (llvm::Error error = impl->check(impl->entry.workspace(impl->handle, packed.get(), &bytes)))
    return error;
  if (bytes > impl->workspaceBytes) {
    size_t rounded = (bytes + ATTUNE_WORKSPACE_ALIGNMENT - 1) / ATTUNE_WORKSPACE_ALIGNMENT * ATTUNE_WORKSPACE_ALIGNMENT;
    impl->workspace.reset(std::aligned_alloc(ATTUNE_WORKSPACE_ALIGNMENT, rounded));
    if (!impl->workspace)
      return llvm::createStringError("expected " + llvm::Twine(bytes) + " bytes of workspace, but got none");
    impl->workspaceBytes = bytes;
  }
  return impl->check(impl->entry.run(impl->handle, packed.get(), impl->workspace.get(), impl->workspaceBytes, nullptr));
}

llvm::Error LoadedLibrary::run(llvm::ArrayRef<HostTensor *> tensors, llvm::ArrayRef<uint64_t> addresses,
                               uint64_t workspace, size_t workspaceBytes) {
  TensorStruct packed = pack(tensors, addresses);
  auto *place = reinterpret_cast<void *>(workspace);
  return impl->check(impl->entry.run(impl->handle, packed.get(), place, workspaceBytes, nullptr));
}

llvm::Expected<attune_info> LoadedLibrary::info() {
  attune_info result{};
  result.size = sizeof(result);
  if (llvm::Error error = impl->check(impl->entry.info(impl->handle, &result)))
    return error;
  return result;
}
