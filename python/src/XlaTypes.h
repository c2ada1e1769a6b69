//===- XlaTypes.h - What a call by XLA looks like in memory ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of XLA's foreign function interface, version 0, that a handler of tensors needs: declared here, so that the
// package is built without JAX. Structs begin with their size and a chain of extensions; later versions only add at the
// end. test/Python holds these declarations to the header that jaxlib brings.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_XLATYPES_H
#define ATTUNE_PYTHON_XLATYPES_H

#include <cstddef>
#include <cstdint>

namespace attune::python::xla {

enum DataType : int32_t { kS32 = 4, kS64 = 5, kF16 = 10, kF32 = 11, kF64 = 12, kBF16 = 16 };
enum ErrorCode : int32_t { kInvalidArgument = 3, kFailedPrecondition = 9, kInternal = 13 };
enum Stage : int32_t { kExecute = 3 };
enum AttributeType : int32_t { kArray = 1, kScalar = 3 };
enum ExtensionType : int32_t { kMetadataExtension = 1 };

struct Extension {
  size_t size;
  int32_t type;
  Extension *next;
};

struct Version {
  size_t size;
  Extension *extensions;
  int32_t major, minor;
};

struct Error;

struct ErrorArguments {
  size_t size;
  Extension *extensions;
  const char *message;
  int32_t code;
};

struct Api {
  size_t size;
  Extension *extensions;
  Version version;
  const void *internal;
  Error *(*createError)(ErrorArguments *);
};

struct Metadata {
  size_t size;
  Version version;
  uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

struct Buffer {
  size_t size;
  Extension *extensions;
  int32_t dtype;
  void *data;
  int64_t rank;
  int64_t *dims;
};

struct Text {
  const char *data;
  size_t length;
};

struct Scalar {
  int32_t dtype;
  void *value;
};

struct Array {
  int32_t dtype;
  size_t count;
  void *data;
};

struct Tensors {
  size_t size;
  Extension *extensions;
  int64_t count;
  int32_t *types;
  void **items; // Buffer *
};

struct Attributes {
  size_t size;
  Extension *extensions;
  int64_t count;
  int32_t *types;
  Text **names;
  void **items;
};

struct CallFrame {
  size_t size;
  Extension *extensions;
  const Api *api;
  void *context;
  int32_t stage;
  Tensors arguments;
  Tensors results;
  Attributes attributes;
};

} // namespace attune::python::xla

#endif // ATTUNE_PYTHON_XLATYPES_H
