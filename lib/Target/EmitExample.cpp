//===- EmitExample.cpp - The example in the header of a compiled library --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attune/Target/EmitHeader.h"

#include "HeaderText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune::target;
using namespace llvm;

namespace {

StringRef dtypeInitializer(attune_rt_dtype dtype) {
  switch (dtype) {
  case ATTUNE_RT_F32:
    return "{kDLFloat, 32, 1}";
  case ATTUNE_RT_F16:
    return "{kDLFloat, 16, 1}";
  case ATTUNE_RT_BF16:
    return "{kDLBfloat, 16, 1}";
  case ATTUNE_RT_I32:
    return "{kDLInt, 32, 1}";
  }
  llvm_unreachable("every type is above");
}

/// Writes `int NAME_example(...)`: the tensors that must be there, the life of a handle, the message of a failure.
class ExampleWriter {
public:
  ExampleWriter(raw_ostream &out, const LibraryDescription &description)
      : out(out), description(description), cpu(hasCpuCode(description)) {}

  void write() {
    out << "#include \"" << description.name << ".h\"\n#include <stdio.h>\n"
        << (cpu ? "#include <stdlib.h>\n" : "") << "\n";
    writeSignature();
    writeTensors();
    writeLife();
  }

private:
  static constexpr size_t mostNamed = 12;

  void writeSignature();
  void writeTensors();
  void writeLife();
  SmallVector<const TensorDescription *> needed(bool parameters) const {
    SmallVector<const TensorDescription *> result;
    for (const TensorDescription &tensor : description.tensors)
      if (!isOptional(tensor) && !isPrepared(tensor) && isParameter(tensor) == parameters)
        result.push_back(&tensor);
    return result;
  }
  /// The addresses of many parameters come in one array, in the order of the struct.
  bool parametersInArray() const { return needed(/*parameters=*/true).size() > mostNamed; }
  std::string addressOf(const TensorDescription &tensor, size_t position) const {
    bool inArray = isParameter(tensor) && parametersInArray();
    return inArray ? "parameter_data[" + std::to_string(position) + "]" : fieldName(tensor);
  }
  bool hasParameters() const { return !needed(/*parameters=*/true).empty(); }

  raw_ostream &out;
  const LibraryDescription &description;
  bool cpu;
};

void ExampleWriter::writeSignature() {
  SmallVector<std::string> parameters;
  for (int symbol = 0; symbol < ATTUNE_RT_SYMBOL_COUNT; ++symbol) {
    int64_t dim = dynamicSize(static_cast<attune_rt_symbol>(symbol));
    if (any_of(description.tensors,
               [&](const TensorDescription &tensor) { return !isOptional(tensor) && is_contained(tensor.dims, dim); }))
      parameters.push_back("int64_t " + dimText(dim));
  }
  for (const TensorDescription &tensor : description.tensors)
    if (!isOptional(tensor) && !isPrepared(tensor) && !(isParameter(tensor) && parametersInArray()))
      parameters.push_back("void *" + fieldName(tensor));
  if (parametersInArray())
    parameters.push_back("void *const *parameter_data");
  if (!cpu)
    append_range(parameters, ArrayRef<std::string>{"void *(*allocate)(size_t bytes)", "void *stream"});
  out << "int " << description.name << "_example(" << join(parameters, ", ") << ") {\n";
}

void ExampleWriter::writeTensors() {
  for (bool parameters : {false, true}) {
    for (auto [position, tensor] : enumerate(needed(parameters))) {
      std::string name = fieldName(*tensor);
      out << "  int64_t " << name << "_shape[] = {" << shapeText(*tensor) << "};\n  DLTensor " << name << "_tensor = {"
          << addressOf(*tensor, position) << ", {" << (cpu ? "kDLCPU" : "kDLCUDA") << ", 0}, " << tensor->dims.size() << ", "
          << dtypeInitializer(tensor->dtype) << ", " << name << "_shape, NULL, 0};\n";
    }
    if (parameters && !hasParameters())
      continue;
    StringRef suffix = parameters ? "parameters" : "tensors";
    std::string type = description.name + "_" + suffix.str();
    out << "  " << type << " " << suffix << " = " << StringRef(type).upper() << "_INIT;\n";
  }
  out << "  attune_options options = ATTUNE_OPTIONS_INIT;\n  " << description.name << "_handle *handle = NULL;\n"
      << "  size_t bytes = 0;\n  attune_status status;\n"
      << (cpu ? "  char *memory = NULL;\n" : "  void *memory = NULL;\n") << "\n";
  for (bool parameters : {false, true})
    for (const TensorDescription *tensor : needed(parameters))
      out << "  " << (parameters ? "parameters." : "tensors.") << fieldName(*tensor) << " = &" << fieldName(*tensor)
          << "_tensor;\n";
}

void ExampleWriter::writeLife() {
  const std::string &name = description.name;
  out << "  status = " << name << "_create(&options, &handle);\n"
      << "  if (!status)\n    status = " << name << "_prepare(handle, " << (hasParameters() ? "&parameters" : "NULL")
      << ");\n"
      << "  if (!status)\n    status = " << name << "_workspace(handle, &tensors, &bytes);\n";
  if (cpu)
    out << "  if (!status) {\n    memory = (char *)malloc(bytes + ATTUNE_WORKSPACE_ALIGNMENT);\n"
        << "    status = memory ? ATTUNE_OK : ATTUNE_ERROR_MEMORY;\n  }\n  if (!status) {\n"
        << "    size_t past = (uintptr_t)memory % ATTUNE_WORKSPACE_ALIGNMENT;\n    status = " << name
        << "_run(handle, &tensors, memory + (ATTUNE_WORKSPACE_ALIGNMENT - past), bytes, NULL);\n  }\n";
  else
    out << "  if (!status) {\n    memory = bytes ? allocate(bytes) : NULL;\n"
        << "    status = bytes && !memory ? ATTUNE_ERROR_MEMORY : ATTUNE_OK;\n  }\n  if (!status)\n    status = "
        << name << "_run(handle, &tensors, memory, bytes, stream);\n";
  out << "  if (status)\n    fprintf(stderr, \"%s\\n\", " << name << "_message());\n"
      << (cpu ? "  free(memory);\n" : "") << "  " << name << "_destroy(handle);\n  return status;\n}\n";
}

} // namespace

std::string attune::target::emitExample(const LibraryDescription &description) {
  std::string text;
  raw_string_ostream out(text);
  ExampleWriter(out, description).write();
  return text;
}
