//===- OrtRun.cpp - A compiled library as an operator of ONNX Runtime -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attune::Run(tensors…) -> (tensors…): one run of a library. Attributes: `library` its path, `attention` its name,
// `takes` and `gives` the names of its tensors with commas, `threads`, and `together`: whether o has its heads in one
// dimension with their width. Inputs say that by their rank. Knows no mechanism.
//
//===----------------------------------------------------------------------===//
#include "Errors.h"
#include "Handle.h"
#include "OrtApi.h"

#include <algorithm>
#include <sstream>

using namespace attune;
using python::Handle;
using python::StatusError;

namespace {

void check(const ort::Api &api, ort::Status *status) {
  if (!status)
    return;
  std::string message = api.message(status);
  api.release(status);
  throw StatusError(ATTUNE_ERROR_ARGUMENT, message);
}

std::string textOf(const ort::Api &api, const ort::KernelInfo *info, const char *name) {
  size_t size = 0;
  if (ort::Status *status = api.attribute(info, name, nullptr, &size)) // which may say how long it is
    api.release(status);
  std::string text(std::max<size_t>(size, 1), '\0');
  check(api, api.attribute(info, name, text.data(), &size));
  return text.c_str();
}

int64_t numberOf(const ort::Api &api, const ort::KernelInfo *info, const char *name) {
  int64_t value = 0;
  check(api, api.attribute(info, name, &value));
  return value;
}

attune_options optionsFor(int64_t threads) {
  attune_options options = ATTUNE_OPTIONS_INIT;
  options.threads = static_cast<int32_t>(threads);
  options.device_type = kDLCPU;
  return options;
}

DLDataType dtypeOf(int type) {
  switch (type) {
  case ort::Float:
    return {kDLFloat, 32, 1};
  case ort::Float16:
    return {kDLFloat, 16, 1};
  case ort::BFloat16:
    return {kDLBfloat, 16, 1};
  case ort::Int32:
    return {kDLInt, 32, 1};
  }
  throw StatusError(ATTUNE_ERROR_ARGUMENT,
                    "expected tensors of float, float16, bfloat16 or int32, but got element type " +
                        std::to_string(type));
}

/// A tensor of the runtime as one of a library.
struct View {
  DLTensor tensor{};
  int64_t shape[ATTUNE_MAX_RANK], strides[ATTUNE_MAX_RANK];

  void place(void *data, DLDataType dtype, const std::vector<int64_t> &sizes);
  void placeApart(void *data, DLDataType dtype, const std::vector<int64_t> &sizes, int64_t heads);
};

void View::place(void *data, DLDataType dtype, const std::vector<int64_t> &sizes) {
  if (sizes.size() > ATTUNE_MAX_RANK)
    throw StatusError(ATTUNE_ERROR_ARGUMENT,
                      "expected at most six dimensions, but got " + std::to_string(sizes.size()));
  int64_t stride = 1;
  for (size_t axis = sizes.size(); axis-- > 0; stride *= sizes[axis])
    shape[axis] = sizes[axis], strides[axis] = stride;
  tensor = {data, {kDLCPU, 0}, static_cast<int32_t>(sizes.size()), dtype, shape, strides, 0};
}

/// [batch, tokens, heads · width] as [batch, heads, tokens, width].
void View::placeApart(void *data, DLDataType dtype, const std::vector<int64_t> &sizes, int64_t heads) {
  if (sizes[2] % heads != 0)
    throw StatusError(ATTUNE_ERROR_ARGUMENT, "expected a last size that is a multiple of " + std::to_string(heads) +
                                                 " heads, but got " + std::to_string(sizes[2]));
  int64_t width = sizes[2] / heads;
  place(data, dtype, {sizes[0], heads, sizes[1], width});
  strides[0] = sizes[1] * sizes[2], strides[1] = width, strides[2] = sizes[2], strides[3] = 1;
}

/// One node.
class Kernel {
public:
  Kernel(ort::Api api, const ort::KernelInfo *info);
  void run(ort::KernelContext *context);

private:
  using Sizes = std::vector<int64_t>; // batch, queries, keys and what else is open
  std::vector<size_t> placesOf(const std::string &names) const;
  void lookAt(ort::KernelContext *context, size_t index, View &view, Sizes &open) const;
  void make(ort::KernelContext *context, size_t index, View &view, const Sizes &open) const;

  ort::Api api;
  Handle handle;
  bool together;
  std::vector<size_t> inputs, outputs; // places among the tensors of a run
};

Kernel::Kernel(ort::Api api, const ort::KernelInfo *info)
    : api(api),
      handle(textOf(api, info, "library"), textOf(api, info, "attention"), optionsFor(numberOf(api, info, "threads"))),
      together(numberOf(api, info, "together") != 0), inputs(placesOf(textOf(api, info, "takes"))),
      outputs(placesOf(textOf(api, info, "gives"))) {
  handle.prepare(python::TensorStruct(0)); // a node of ONNX has no parameters
}

std::vector<size_t> Kernel::placesOf(const std::string &names) const {
  std::vector<size_t> places;
  std::istringstream stream(names);
  for (std::string name; std::getline(stream, name, ',');) {
    const auto &table = handle.runTensors();
    auto found =
        std::find_if(table.begin(), table.end(), [&](const attune_tensor_info &tensor) { return name == tensor.name; });
    if (found == table.end())
      throw StatusError(ATTUNE_ERROR_ARGUMENT, "expected tensors of the library, but got '" + name + "'");
    places.push_back(found - table.begin());
  }
  return places;
}

void Kernel::lookAt(ort::KernelContext *context, size_t index, View &view, Sizes &open) const {
  const ort::Value *value = nullptr;
  ort::TensorInfo *info = nullptr;
  check(api, api.input(context, index, &value));
  check(api, api.tensorInfo(value, &info));
  size_t rank = 0;
  int type = 0;
  ort::Status *status = api.rank(info, &rank);
  std::vector<int64_t> sizes(status ? 0 : rank);
  status = status ? status : api.shape(info, sizes.data(), rank);
  status = status ? status : api.elementType(info, &type);
  api.release(info);
  check(api, status);
  void *data = nullptr;
  check(api, api.data(const_cast<ort::Value *>(value), &data));
  const attune_tensor_info &known = handle.runTensors()[inputs[index]];
  if (rank == 3 && known.rank == 4)
    view.placeApart(data, dtypeOf(type), sizes, known.shape[1]);
  else
    view.place(data, dtypeOf(type), sizes);
  for (int32_t axis = 0; axis < std::min(known.rank, view.tensor.ndim); ++axis)
    if (known.shape[axis] < 0)
      open[-known.shape[axis]] = view.shape[axis];
}

void Kernel::make(ort::KernelContext *context, size_t index, View &view, const Sizes &open) const {
  const attune_tensor_info &known = handle.runTensors()[outputs[index]];
  std::vector<int64_t> sizes;
  for (int32_t axis = 0; axis < known.rank; ++axis)
    sizes.push_back(known.shape[axis] < 0 ? open[-known.shape[axis]] : known.shape[axis]);
  bool joined = together && known.rank == 4 && known.shape[2] == -2; // o alone has the tokens there
  if (joined)
    sizes = {sizes[0], sizes[2], sizes[1] * sizes[3]};
  ort::Value *value = nullptr;
  void *data = nullptr;
  check(api, api.output(context, index, sizes.data(), sizes.size(), &value));
  check(api, api.data(value, &data));
  if (joined)
    view.placeApart(data, known.dtype, sizes, known.shape[1]);
  else
    view.place(data, known.dtype, sizes);
}

void Kernel::run(ort::KernelContext *context) {
  std::vector<View> views(inputs.size() + outputs.size());
  python::TensorStruct tensors(handle.runTensors().size());
  Sizes open(16, 0);
  for (size_t i = 0; i < inputs.size(); ++i)
    lookAt(context, i, views[i], open), tensors.set(inputs[i], &views[i].tensor);
  for (size_t i = 0; i < outputs.size(); ++i)
    make(context, i, views[inputs.size() + i], open), tensors.set(outputs[i], &views[inputs.size() + i].tensor);
  handle.run(tensors);
}

/// The operator; kernels keep the runtime's table.
struct Operator : ort::CustomOperator {
  Operator();
};

struct Made {
  Made(ort::Api api, const ort::KernelInfo *info) : api(api), kernel(api, info) {}
  ort::Api api;
  Kernel kernel;
};

ort::Status *makeKernel(const ort::CustomOperator *, const void *table, const ort::KernelInfo *info, void **kernel) {
  ort::Api api(table);
  try {
    *kernel = new Made(api, info);
    return nullptr;
  } catch (const std::exception &error) {
    return api.createStatus(error.what());
  }
}

ort::Status *runKernel(void *kernel, ort::KernelContext *context) {
  Made &made = *static_cast<Made *>(kernel);
  try {
    made.kernel.run(context);
    return nullptr;
  } catch (const std::exception &error) {
    return made.api.createStatus(error.what());
  }
}

Operator::Operator() : CustomOperator{} {
  version = ort::apiVersion;
  name = [](const CustomOperator *) { return "Run"; };
  provider = [](const CustomOperator *) -> const char * { return nullptr; }; // the CPU's
  inputCount = outputCount = [](const CustomOperator *) -> size_t { return 1; };
  inputType = outputType = [](const CustomOperator *, size_t) -> int { return ort::Undefined; };
  inputCharacteristic = outputCharacteristic = [](const CustomOperator *, size_t) -> int { return ort::Variadic; };
  inputMemory = [](const CustomOperator *, size_t) -> int { return 0; };
  leastInputs = leastOutputs = [](const CustomOperator *) -> int { return 1; };
  inputsAreAlike = outputsAreAlike = [](const CustomOperator *) -> int { return 0; };
  createKernelOrFail = makeKernel;
  computeOrFail = runKernel;
  destroyKernel = [](void *kernel) { delete static_cast<Made *>(kernel); };
}

} // namespace

/// What the runtime looks for in a library of operators. The domain lives as long as the process, as sessions may.
extern "C" __attribute__((visibility("default"))) ort::Status *RegisterCustomOps(ort::SessionOptions *options,
                                                                                 const ort::ApiBase *base) {
  static const Operator run;
  ort::Api api(base->getApi(ort::apiVersion));
  ort::Domain *domain = nullptr;
  if (ort::Status *status = api.createDomain("attune", &domain))
    return status;
  if (ort::Status *status = api.addOperator(domain, &run))
    return status;
  return api.addDomain(options, domain);
}
