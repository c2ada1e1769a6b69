//===- TensorSource.cpp - A folder or an archive of tensors --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/Diagnostics.h"
#include "attune/Support/MachineMemory.h"
#include "attune/Support/TensorFiles.h"

#include "llvm/ADT/StringExtras.h"

#include "llvm/Support/FileSystem.h"

namespace attune {

bool isTensorName(llvm::StringRef name) {
  return !name.empty() && (llvm::isAlpha(name.front()) || name.front() == '_') &&
         llvm::all_of(name, [](char letter) { return llvm::isAlnum(letter) || letter == '_' || letter == '.'; });
}

llvm::Error TensorMemory::add(const TensorHeader &header, llvm::StringRef place) {
  int64_t more = byteCount(header.type, header.shape).value_or(INT64_MAX);
  if (more > machineMemory() - bytes_)
    return tensorError(place + ": error: expected tensors that fit this machine's memory of " +
                       llvm::Twine(machineMemory()) + " bytes, but got shape " + showShape(header.shape) + " of " +
                       nameOf(header.type) + " beside " + llvm::Twine(bytes_) + " bytes of others");
  bytes_ += more;
  return llvm::Error::success();
}

/// The path of a file that lies in the folder, whatever an argument of a file of ops is called.
static llvm::Error checkName(llvm::StringRef name) {
  if (isTensorName(name))
    return llvm::Error::success();
  return tensorError("expected a tensor's name of letters, digits, '_' and '.', but got " + quoted(name));
}

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
  return archive_ ? archive_->contains(name) : isTensorName(name) && llvm::sys::fs::exists(placeOf(name));
}

llvm::Expected<TensorHeader> TensorSource::header(llvm::StringRef name) const {
  if (llvm::Error error = checkName(name))
    return error;
  return archive_ ? archive_->header(name) : readNpyHeader(placeOf(name));
}

llvm::Expected<HostTensor> TensorSource::read(llvm::StringRef name) const {
  if (llvm::Error error = checkName(name))
    return error;
  return archive_ ? archive_->read(name) : readNpy(placeOf(name));
}

std::string TensorSource::placeOf(llvm::StringRef name) const {
  if (archive_)
    return path_ + ": " + name.str();
  return path_ + (llvm::StringRef(path_).ends_with("/") ? "" : "/") + name.str() + ".npy";
}

} // namespace attune
