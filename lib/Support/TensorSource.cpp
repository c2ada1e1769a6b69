//===- TensorSource.cpp - A folder or an archive of tensors --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/TensorFiles.h"

#include "llvm/Support/FileSystem.h"

namespace attune {

llvm::Expected<TensorSource> TensorSource::open(llvm::StringRef path) {
  TensorSource result;
  result.path_ = path.str();
  if (llvm::sys::fs::is_directory(path))
    return std::move(result);
  if (!path.ends_with(".safetensors"))
    return tensorError(path + ": error: expected a folder of .npy files or a .safetensors file, but got " +
                       (llvm::sys::fs::exists(path) ? "another file" : "nothing there"));
  llvm::Expected<SafetensorsFile> archive = SafetensorsFile::open(path);
  if (!archive)
    return archive.takeError();
  result.archive_ = std::move(*archive);
  return std::move(result);
}

bool TensorSource::contains(llvm::StringRef name) const {
  return archive_ ? archive_->contains(name) : llvm::sys::fs::exists(placeOf(name));
}

llvm::Expected<TensorHeader> TensorSource::header(llvm::StringRef name) const {
  return archive_ ? archive_->header(name) : readNpyHeader(placeOf(name));
}

llvm::Expected<HostTensor> TensorSource::read(llvm::StringRef name) const {
  return archive_ ? archive_->read(name) : readNpy(placeOf(name));
}

std::string TensorSource::placeOf(llvm::StringRef name) const {
  if (archive_)
    return path_ + ": " + name.str();
  return path_ + (llvm::StringRef(path_).ends_with("/") ? "" : "/") + name.str() + ".npy";
}

} // namespace attune
