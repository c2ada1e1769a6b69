//===- OrtApi.h - What a custom operator needs of ONNX Runtime ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declared by us, so that the package is built where there is no ONNX Runtime, whose wheels bring no header. Its
// interface is a table of functions that only grows: those below are at their places since its first version.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_ORTAPI_H
#define ATTUNE_PYTHON_ORTAPI_H

#include <cstddef>
#include <cstdint>

namespace attune::ort {

struct Status;
struct SessionOptions;
struct Domain;
struct KernelInfo;
struct KernelContext;
struct Value;
struct TensorInfo;

/// Of the runtime whose operators may fail with a status.
constexpr uint32_t apiVersion = 16;

struct ApiBase {
  const void *(*getApi)(uint32_t version);
  const char *(*versionString)();
};

/// The table; a function is called by its place.
class Api {
public:
  explicit Api(const void *table) : table(static_cast<void *const *>(table)) {}

  Status *createStatus(const char *message) const { return call<0, Status *>(/*fail=*/1, message); }
  const char *message(const Status *status) const { return call<2, const char *>(status); }
  Status *createDomain(const char *name, Domain **domain) const { return call<26, Status *>(name, domain); }
  Status *addOperator(Domain *domain, const void *op) const { return call<27, Status *>(domain, op); }
  Status *addDomain(SessionOptions *options, Domain *domain) const { return call<28, Status *>(options, domain); }
  Status *data(Value *value, void **data) const { return call<51, Status *>(value, data); }
  Status *elementType(const TensorInfo *info, int *type) const { return call<60, Status *>(info, type); }
  Status *rank(const TensorInfo *info, size_t *rank) const { return call<61, Status *>(info, rank); }
  Status *shape(const TensorInfo *info, int64_t *sizes, size_t rank) const {
    return call<62, Status *>(info, sizes, rank);
  }
  Status *tensorInfo(const Value *value, TensorInfo **info) const { return call<65, Status *>(value, info); }
  Status *attribute(const KernelInfo *info, const char *name, int64_t *value) const {
    return call<86, Status *>(info, name, value);
  }
  Status *attribute(const KernelInfo *info, const char *name, char *text, size_t *size) const {
    return call<87, Status *>(info, name, text, size);
  }
  Status *input(const KernelContext *context, size_t index, const Value **value) const {
    return call<90, Status *>(context, index, value);
  }
  Status *output(KernelContext *context, size_t index, const int64_t *sizes, size_t rank, Value **value) const {
    return call<91, Status *>(context, index, sizes, rank, value);
  }
  void release(Status *status) const { call<93, void>(status); }
  void release(TensorInfo *info) const { call<99, void>(info); }

private:
  template <size_t Place, typename Result, typename... Arguments> Result call(Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(table[Place])(arguments...);
  }
  void *const *table;
};

/// A custom operator, as the runtime calls it. Functions that are null have defaults.
struct CustomOperator {
  uint32_t version;
  void *(*createKernel)(const CustomOperator *, const void *api, const KernelInfo *);
  const char *(*name)(const CustomOperator *);
  const char *(*provider)(const CustomOperator *);
  int (*inputType)(const CustomOperator *, size_t);
  size_t (*inputCount)(const CustomOperator *);
  int (*outputType)(const CustomOperator *, size_t);
  size_t (*outputCount)(const CustomOperator *);
  void (*compute)(void *kernel, KernelContext *);
  void (*destroyKernel)(void *kernel);
  int (*inputCharacteristic)(const CustomOperator *, size_t);
  int (*outputCharacteristic)(const CustomOperator *, size_t);
  int (*inputMemory)(const CustomOperator *, size_t);
  int (*leastInputs)(const CustomOperator *);
  int (*inputsAreAlike)(const CustomOperator *);
  int (*leastOutputs)(const CustomOperator *);
  int (*outputsAreAlike)(const CustomOperator *);
  Status *(*createKernelOrFail)(const CustomOperator *, const void *api, const KernelInfo *, void **kernel);
  Status *(*computeOrFail)(void *kernel, KernelContext *);
  void *later[7]; // shapes, versions, aliases
};

enum Characteristic { Required = 0, Variadic = 2 };
enum ElementType { Undefined = 0, Float = 1, Int32 = 6, Float16 = 10, BFloat16 = 16 }; // those of ONNX

} // namespace attune::ort

#endif // ATTUNE_PYTHON_ORTAPI_H
