//===- Module.cpp - The native part of the package attune -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls a compiled library's C entry points on tensors of any framework. Everything else of the package is Python. What
// is here is private: attune/_native.pyi describes it.
//
//===----------------------------------------------------------------------===//
#include "Errors.h"
#include "Handle.h"
#include "TensorView.h"
#include "XlaCall.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>

namespace nb = nanobind;
using namespace attune::python;

namespace {

/// The tensors of a call: looked at, and listed for the library.
class Call {
public:
  Call(nb::tuple tensors, const std::vector<attune_tensor_info> &table)
      : views(new TensorView[table.size()]), list(table.size()) {
    if (tensors.size() != table.size())
      throw StatusError(ATTUNE_ERROR_ARGUMENT, "expected " + std::to_string(table.size()) + " tensors, but got " +
                                                   std::to_string(tensors.size()));
    for (size_t i = 0; i < table.size(); ++i) {
      nb::handle tensor = tensors[i];
      if (tensor.is_none())
        continue;
      bool written = table[i].role == ATTUNE_OUTPUT || table[i].role == ATTUNE_OPTIONAL_OUTPUT;
      views[i].look(tensor, table[i].name, table[i].dtype, written);
      list.set(i, views[i].get());
    }
  }
  const TensorStruct &get() const { return list; }

private:
  std::unique_ptr<TensorView[]> views;
  TensorStruct list;
};

std::string dtypeName(DLDataType dtype) {
  return (dtype.code == kDLBfloat ? "bf" : dtype.code == kDLFloat ? "f" : "i") + std::to_string(dtype.bits);
}

nb::tuple describe(const attune_tensor_info &tensor) {
  nb::list shape;
  for (int32_t i = 0; i < tensor.rank; ++i)
    shape.append(tensor.shape[i]);
  return nb::make_tuple(tensor.name, tensor.role, dtypeName(tensor.dtype), nb::tuple(shape));
}

nb::tuple tensorsOf(const Handle &handle) {
  nb::list result;
  for (const attune_tensor_info &tensor : handle.tensors())
    result.append(describe(tensor));
  return nb::tuple(result);
}

nb::dict infoOf(const Handle &handle) {
  attune_info info = handle.info();
  nb::list plans;
  for (int32_t i = 0; i < info.plan_count; ++i)
    plans.append(nb::make_tuple(info.plans[i].form, info.plans[i].from_length));
  nb::dict result;
  result["summary"] = info.summary;
  result["compiler"] = info.compiler;
  result["isa"] = info.isa;
  result["threads"] = info.threads;
  result["plans"] = nb::tuple(plans);
  return result;
}

void construct(Handle *self, const std::string &path, const std::string &name, int32_t threads, int32_t deviceType,
               int32_t deviceId, const std::optional<std::string> &isa) {
  attune_options options = ATTUNE_OPTIONS_INIT;
  options.threads = threads;
  options.device_type = deviceType;
  options.device_id = deviceId;
  options.isa = isa ? isa->c_str() : nullptr;
  nb::gil_scoped_release free;
  new (self) Handle(path, name, options);
}

void prepare(Handle &handle, nb::tuple parameters) {
  Call call(parameters, handle.parameters());
  nb::gil_scoped_release free;
  handle.prepare(call.get());
}

void run(Handle &handle, nb::tuple tensors) {
  Call call(tensors, handle.runTensors());
  nb::gil_scoped_release free;
  handle.run(call.get());
}

void prepareAndRun(Handle &handle, nb::tuple parameters, nb::tuple tensors) {
  Call prepared(parameters, handle.parameters()), call(tensors, handle.runTensors());
  nb::gil_scoped_release free;
  handle.prepareAndRun(prepared.get(), call.get());
}

void runIn(Handle &handle, nb::tuple tensors, uintptr_t workspace, size_t bytes, uintptr_t stream) {
  Call call(tensors, handle.runTensors());
  nb::gil_scoped_release free;
  handle.runIn(call.get(), reinterpret_cast<void *>(workspace), bytes, reinterpret_cast<void *>(stream));
}

size_t workspaceBytes(Handle &handle, nb::tuple tensors) {
  return handle.workspaceBytes(Call(tensors, handle.runTensors()).get());
}

/// `attune._errors.raise_status` makes the exception of a status.
void translate(const std::exception_ptr &thrown, void *) {
  try {
    std::rethrow_exception(thrown);
  } catch (const StatusError &error) {
    nb::object made =
        nb::module_::import_("attune._errors").attr("of_status")(static_cast<int>(error.status), error.what());
    PyErr_SetObject(made.type().ptr(), made.ptr());
  }
}

} // namespace

NB_MODULE(_native, module) {
  // Attentions that compiled programs name live as long as the process.
  nb::set_leak_warnings(false);
  nb::register_exception_translator(translate);
  nb::class_<Handle>(module, "Handle")
      .def("__init__", construct, nb::arg("path"), nb::arg("name"), nb::arg("threads") = 0, nb::arg("device_type") = 0,
           nb::arg("device_id") = 0, nb::arg("isa") = nb::none())
      .def_prop_ro("tensors", tensorsOf)
      .def_prop_ro("info", infoOf)
      .def("prepare", prepare, nb::arg("parameters"))
      .def("run", run, nb::arg("tensors"))
      .def("prepare_and_run", prepareAndRun, nb::arg("parameters"), nb::arg("tensors"))
      .def("run_in", runIn, nb::arg("tensors"), nb::arg("workspace"), nb::arg("bytes"), nb::arg("stream"))
      .def("workspace_bytes", workspaceBytes, nb::arg("tensors"))
      .def("xla_key", xlaKey);
  module.def("xla_target", xlaTarget);
}
