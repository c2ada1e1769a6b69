//===- DeviceRun.cpp - A library's tensors in the memory of a GPU --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/DeviceRun.h"

#include "llvm/ADT/STLExtras.h"

using namespace attune;

llvm::Expected<std::unique_ptr<DeviceRun>> DeviceRun::make(LoadedLibrary &library, std::shared_ptr<CudaDevice> device,
                                                           llvm::ArrayRef<HostTensor *> tensors) {
  std::unique_ptr<DeviceRun> made(new DeviceRun(library, std::move(device)));
  if (llvm::Error error = made->place(tensors))
    return std::move(error);
  return made;
}

llvm::Error DeviceRun::place(llvm::ArrayRef<HostTensor *> given) {
  for (HostTensor *tensor : given) {
    tensors.push_back(tensor), addresses.push_back(0);
    if (!tensor)
      continue;
    llvm::Expected<uint64_t> address = device->allocate(tensor->bytes.size());
    if (!address)
      return address.takeError();
    addresses.back() = *address;
    if (llvm::Error error = device->copyIn(*address, tensor->bytes))
      return error;
  }
  llvm::Expected<size_t> bytes = library.workspaceBytes(tensors, addresses);
  if (!bytes)
    return bytes.takeError();
  llvm::Expected<uint64_t> address = device->allocate(*bytes);
  if (!address)
    return address.takeError();
  workspace = *address, workspaceBytes = *bytes;
  return llvm::Error::success();
}

DeviceRun::~DeviceRun() {
  for (uint64_t address : addresses)
    if (address)
      device->free(address);
  if (workspace)
    device->free(workspace);
}

llvm::Error DeviceRun::run() { return library.run(tensors, addresses, workspace, workspaceBytes); }

llvm::Expected<double> DeviceRun::timed() {
  return device->seconds([&] { return run(); });
}

llvm::Error DeviceRun::fetch(HostTensor &tensor) {
  for (auto [each, address] : llvm::zip_equal(tensors, addresses))
    if (each == &tensor)
      return device->copyOut(tensor.bytes, address);
  return llvm::createStringError("expected a tensor of the run to copy back, but got another one");
}

size_t DeviceRun::bytes() const {
  size_t sum = 0;
  for (const HostTensor *tensor : tensors)
    sum += tensor ? tensor->bytes.size() : 0;
  return sum;
}
