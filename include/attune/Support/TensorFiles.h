//===- TensorFiles.h - Tensors in .npy and .safetensors files ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_TENSORFILES_H
#define ATTUNE_SUPPORT_TENSORFILES_H

#include "attune/Support/HostTensor.h"

#include "llvm/ADT/StringMap.h"

#include <memory>

namespace attune {

// Every function reads whole and checks everything: no file, however broken or hostile, reaches an assertion or makes
// it allocate more than the file holds or the machine has. Errors are `PATH: error: expected …, but got …`.

/// Whether a name is one of letters, digits, '_' and '.', and begins with no digit or '.': as such it names a file in a
/// folder, and in C the member of a struct.
bool isTensorName(llvm::StringRef name);

/// What a file says of a tensor, which is cheap to know; its data is there, of the size that follows from it.
struct TensorHeader {
  ElementType type = ElementType::F32;
  llvm::SmallVector<int64_t, 4> shape;

  friend bool operator==(const TensorHeader &a, const TensorHeader &b) { return a.type == b.type && a.shape == b.shape; }
};

/// NumPy's format, versions 1.0 to 3.0, both byte orders, C and Fortran order (the latter is transposed).
llvm::Expected<HostTensor> readNpy(llvm::StringRef path);
llvm::Expected<TensorHeader> readNpyHeader(llvm::StringRef path);
/// Version 1.0, C order. bf16, which NumPy does not have, is widened to f32.
llvm::Error writeNpy(llvm::StringRef path, const HostTensor &tensor);

/// A name and its tensor, in the order of a file.
struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

class BoundedFile;

/// One .safetensors file: its header is read at once, each tensor when it is asked for, of the very same file: another
/// that takes its name is not looked at.
class SafetensorsFile {
public:
  static llvm::Expected<SafetensorsFile> open(llvm::StringRef path);

  bool contains(llvm::StringRef name) const { return entries_.contains(name); }
  std::vector<std::string> names() const;
  llvm::Expected<TensorHeader> header(llvm::StringRef name) const;
  llvm::Expected<HostTensor> read(llvm::StringRef name) const;

private:
  struct Entry {
    std::string dtype;
    llvm::SmallVector<int64_t, 4> shape;
    int64_t begin = 0, end = 0; // bytes of the data section
  };
  llvm::Error addEntry(llvm::StringRef name, const void *jsonValue, int64_t dataBytes);
  llvm::Error checkCoverage(int64_t dataBytes) const;

  std::string path_;
  std::shared_ptr<BoundedFile> file_;
  int64_t dataStart_ = 0;
  llvm::StringMap<Entry> entries_;
};

llvm::Error writeSafetensors(llvm::StringRef path, llvm::ArrayRef<NamedTensor> tensors);

/// Adds up tensors that shall be in memory together.
class TensorMemory {
public:
  /// An error that begins with `place`, unless this machine's memory holds this one beside the others.
  llvm::Error add(const TensorHeader &header, llvm::StringRef place);

private:
  int64_t bytes_ = 0;
};

/// Where a command finds its tensors: a folder of NAME.npy files, or one .safetensors file.
class TensorSource {
public:
  static llvm::Expected<TensorSource> open(llvm::StringRef path);

  bool contains(llvm::StringRef name) const;
  llvm::Expected<TensorHeader> header(llvm::StringRef name) const;
  llvm::Expected<HostTensor> read(llvm::StringRef name) const;
  /// What to call the tensor in a message: `DIR/NAME.npy`, or `FILE: NAME`.
  std::string placeOf(llvm::StringRef name) const;

private:
  std::string path_;
  std::optional<SafetensorsFile> archive_;
};

} // namespace attune

#endif // ATTUNE_SUPPORT_TENSORFILES_H
