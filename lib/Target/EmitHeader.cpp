//===- EmitHeader.cpp - The C header of a compiled library ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attune/Attn/Backward.h"
#include "attune/Target/EmitHeader.h"

#include "CommonHeader.h"
#include "HeaderText.h"

#include "attune/Support/UniqueFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune::target;
using namespace llvm;

std::string attune::target::dimText(int64_t dim) {
  if (dim == dynamicSize(ATTUNE_RT_BATCH))
    return "batch";
  if (dim == dynamicSize(ATTUNE_RT_QUERIES))
    return "n";
  if (dim == dynamicSize(ATTUNE_RT_KEYS))
    return "N";
  return std::to_string(dim);
}

std::string attune::target::fieldName(const TensorDescription &tensor) {
  std::string name = tensor.name;
  llvm::replace(name, '.', '_');
  return name;
}

std::string attune::target::meaningText(const TensorDescription &tensor) {
  std::string text = tensor.meaning.empty() ? standardMeaning(tensor.name).str() : tensor.meaning;
  StringRef separator = text.empty() ? "" : "; ";
  if (tensor.signs)
    text += (separator + "each -1 or 1").str();
  if (tensor.indexBound)
    text += (separator + "each in 0 ... " + Twine(tensor.indexBound - 1)).str();
  return text;
}

std::string attune::target::shapeText(const TensorDescription &tensor) {
  bool oneMore = (tensor.offsets || tensor.keyOffsets) && tensor.dims.front() < 0;
  return join(map_range(tensor.dims, dimText), ", ") + (oneMore ? " + 1" : "");
}

bool attune::target::hasCpuCode(const LibraryDescription &description) {
  return any_of(description.variants,
                [](const VariantDescription &variant) { return variant.target != ATTUNE_RT_CUDA; });
}

namespace {

class HeaderWriter {
public:
  HeaderWriter(raw_ostream &out, const LibraryDescription &description) : out(out), description(description) {}

  void write() {
    std::string guard = "ATTUNE_LIBRARY_" + StringRef(description.name).upper() + "_H";
    writeEssay();
    out << "#ifndef " << guard << "\n#define " << guard << "\n\n" << commonHeaderText << "\n";
    out << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    writeStructs();
    writeFunctions();
    if (description.backward) {
      HeaderWriter(out, *description.backward).writeGradients();
      writeStepWorkspace(description.backward->name);
    }
    out << "#ifdef __cplusplus\n}\n#endif\n\n#endif /* " << guard << " */\n";
  }

  /// What a header says of the gradients, behind the functions of the forward pass.
  void writeGradients() {
    out << "/*\n * Gradients of L = sum of output * grad_output over all outputs.\n *\n";
    writeTensorTable();
    writePlans();
    out << " *\n * A cotangent that is NULL is 0, and a gradient that is NULL is not wanted. ";
    if (any_of(description.tensors, isSaved))
      out << R"(A run has left what is given as saved.NAME, in its output
 * saved.NAME or else NAME; what is NULL is computed again.)";
    else
      out << R"(The forward pass is computed again: nothing of a run
 * is kept for it.)";
    out << R"( A handle is made, prepared and used as that of the forward pass is.
 */
)";
    writeStructs();
    writeFunctions();
  }

private:
  void writeEssay();
  void writeTensorTable();
  void writePlans();
  void writeStruct(StringRef suffix, StringRef comment, bool parameters);
  void writeStructs();
  void writeFunctions();
  void writeStepWorkspace(StringRef backward);
  static bool isSaved(const TensorDescription &tensor) { return StringRef(tensor.name).starts_with(attune::attn::savedPrefix); }
  bool hasParameters() const { return any_of(description.tensors, isParameter); }

  raw_ostream &out;
  const LibraryDescription &description;
};

StringRef roleText(attune_rt_role role) {
  switch (role) {
  case ATTUNE_RT_INPUT:
    return "input";
  case ATTUNE_RT_OUTPUT:
    return "output";
  case ATTUNE_RT_OPTIONAL_INPUT:
    return "input, optional";
  case ATTUNE_RT_OPTIONAL_OUTPUT:
    return "output, optional";
  case ATTUNE_RT_PARAMETER:
    return "parameter";
  case ATTUNE_RT_PREPARED:
    break;
  }
  return "";
}

/// A comment must not end early, whatever a summary says.
std::string commentText(StringRef text) {
  std::string result;
  for (char c : text) {
    bool ends = c == '/' && !result.empty() && result.back() == '*';
    result += ends ? " /" : std::string(1, c == '\n' ? ' ' : c);
  }
  return result;
}

void HeaderWriter::writeTensorTable() {
  out << " * tensor            role              dtype  shape\n";
  for (const TensorDescription &tensor : description.tensors) {
    if (isPrepared(tensor))
      continue;
    out << " * " << left_justify(tensor.name, 17) << " " << left_justify(roleText(tensor.role), 17) << " "
        << left_justify(dtypeName(tensor.dtype), 6) << " [" << shapeText(tensor) << "]\n";
    std::string meaning = meaningText(tensor);
    if (!meaning.empty())
      out << " *     " << commentText(meaning) << "\n";
  }
}

void HeaderWriter::writePlans() {
  out << " *\n * Ways of computing, chosen by L = 2nN/(n+N):\n";
  for (const VariantDescription &variant : description.variants) {
    out << " *   ";
    if (variant.target == ATTUNE_RT_CUDA)
      out << "sm_" << variant.arch << (variant.archSpecific ? "a" : "");
    else
      out << (variant.target == ATTUNE_RT_AVX2     ? "avx2"
              : variant.target == ATTUNE_RT_AVX512 ? "avx512"
              : variant.target == ATTUNE_RT_AMX    ? "amx"
                                                   : "avx512_bf16");
    ListSeparator separator(";");
    for (const PlanDescription &plan : variant.plans)
      out << separator << (&plan == variant.plans.begin() ? ": " : " ") << plan.form << " from L = " << plan.fromLength;
    out << "\n";
  }
}

/// One line for a rule of sizes.
static std::string meaningOf(const SizeRule &rule, bool packed) {
  std::string symbol = std::string(rule.symbol == ATTUNE_RT_QUERIES ? "n" : "N") + (packed ? " of each sequence" : ""), value = std::to_string(rule.value);
  switch (rule.kind) {
  case ATTUNE_RT_MULTIPLE:
    return "This mechanism needs " + symbol + " to be a multiple of " + value + ".";
  case ATTUNE_RT_EXACTLY:
    return "This mechanism needs " + symbol + " = " + value + ".";
  case ATTUNE_RT_AT_MOST:
    return "This mechanism needs " + symbol + " <= " + value + ".";
  case ATTUNE_RT_BLOCKS:
    return "This mechanism needs N / " + value + " to divide n.";
  }
  llvm_unreachable("every kind of rule is above");
}

void HeaderWriter::writeEssay() {
  out << "/*\n * " << description.name << ".h - made by " << compilerVersion() << "; do not edit.\n *\n * "
      << commentText(description.summary) << "\n *\n";
  writeTensorTable();
  bool packed = any_of(description.tensors, [](const TensorDescription &tensor) { return tensor.offsets; });
  out << " *\n * batch: " << (packed ? "sequences" : "entries") << R"(; n: queries; N: keys; each may be 0. Elements are plain numbers without a unit, row-major as above or
 * with any outer strides (see DLTensor below), so that a view of [batch, n, heads, head_dim] passes without a copy. An
 * optional tensor may be NULL.
)";
  if (hasParameters())
    out << " * Parameters are copied by prepare, which takes any strides: PyTorch's linear.weight.T as it is. A part's begin "
           "with\n * part<i>. and are fields part<i>_... of the struct.\n";
  if (description.queriesEqualKeys)
    out << " * This mechanism needs n = N: position i of the queries is position i of the keys.\n";
  for (const SizeRule &rule : description.sizeRules)
    out << " * " << meaningOf(rule, packed) << "\n";
  writePlans();
  out << " *\n * Example (no includes but this header, stdio.h and stdlib.h):\n *\n";
  std::string example = emitExample(description);
  SmallVector<StringRef> lines;
  StringRef(example).rtrim('\n').split(lines, '\n');
  for (StringRef line : lines)
    out << " *" << (line.empty() ? "" : "     ") << line << "\n";
  out << " */\n";
}

void HeaderWriter::writeStruct(StringRef suffix, StringRef comment, bool parameters) {
  const std::string &name = description.name;
  auto members = make_filter_range(
      description.tensors, [parameters](const TensorDescription &tensor) {
        return !isPrepared(tensor) && isParameter(tensor) == parameters;
      });
  std::string type = name + "_" + suffix.str(), macro = StringRef(type).upper() + "_INIT";
  out << "/* " << comment << " Start from " << macro << ". */\ntypedef struct " << type
      << " {\n  size_t size; /* sizeof(" << type << ") */\n";
  size_t count = 0;
  for (const TensorDescription &tensor : members) {
    out << "  const DLTensor *" << fieldName(tensor) << "; /* " << dtypeName(tensor.dtype) << " [" << shapeText(tensor)
        << "]" << (isOptional(tensor) ? ", optional" : "") << (isOutput(tensor) ? ", written" : "") << " */\n";
    ++count;
  }
  out << "} " << type << ";\n\n#define " << macro << " { sizeof(" << type << ")";
  for (size_t i = 0; i < count; ++i)
    out << ", NULL";
  out << " }\n\n";
}

void HeaderWriter::writeStructs() {
  const std::string &name = description.name;
  out << "/* A library made ready on one device. */\ntypedef struct " << name << "_handle " << name << "_handle;\n\n";
  writeStruct("tensors", "The tensors of one run.", /*parameters=*/false);
  if (hasParameters())
    writeStruct("parameters", "What stays the same from run to run; prepare copies it.", /*parameters=*/true);
}

void HeaderWriter::writeFunctions() {
  const std::string &name = description.name;
  auto declare = [&](const Twine &comment, StringRef result, StringRef function, const Twine &parameters) {
    out << "/* " << comment << " */\n"
        << result << (result.ends_with("*") ? "" : " ") << name << "_" << function << "(" << parameters << ");\n\n";
  };
  std::string handle = name + "_handle *handle", tensors = "const " + name + "_tensors *tensors";
  std::string parameters = hasParameters() ? "const " + name + "_parameters *parameters" : "const void *parameters";
  declare("Chooses device, instruction set and threads. options may be NULL: the defaults.", "attune_status", "create",
          "const attune_options *options, " + name + "_handle **handle");
  declare(hasParameters() ? "Checks and copies the parameters, allocates all that run needs. May be called again."
                          : "Allocates all that run needs. There are no parameters: pass NULL.",
          "attune_status", "prepare", handle + ", " + parameters);
  declare("Bytes of workspace that run needs for tensors of these sizes; their data may be NULL.", "attune_status",
          "workspace", handle + ", " + tensors + ", size_t *bytes");
  declare("Index, in attune_info's plans, of the plan that run takes for tensors of these sizes.", "attune_status",
          "plan", handle + ", " + tensors + ", int32_t *index");
  declare("Computes. Neither allocates nor fails half-way. workspace: at least the bytes that " + name +
              R"(_workspace
   states, at a multiple of ATTUNE_WORKSPACE_ALIGNMENT, on the handle's device; its contents are free between runs.
   stream: a CUstream (or cudaStream_t) on a GPU, where run only enqueues; NULL on the CPU.)",
          "attune_status", "run", handle + ", " + tensors + ", void *workspace, size_t bytes, void *stream");
  declare("Plans, threads and memory in use; set info->size to sizeof(attune_info) first.", "attune_status", "info",
          handle + ", attune_info *info");
  declare(
      "The tensor of an index below attune_info's tensor_count; set info->size to sizeof(attune_tensor_info) first.",
      "attune_status", "tensor", handle + ", uint32_t index, attune_tensor_info *info");
  declare("Frees the handle; NULL is allowed. No run may be under way.", "void", "destroy", handle);
  declare("Why the last call of this thread into this library failed; empty if it did not.", "const char *", "message",
          "void");
}

/// Both passes of a step run one after the other, and neither keeps anything in its workspace.
void HeaderWriter::writeStepWorkspace(StringRef backward) {
  const std::string &name = description.name;
  out << "/* Bytes of a workspace for both runs of a step, one after the other: the most that either needs. bytes must not be NULL;\n"
         "   of an error the message of the call that failed says why. */\n"
      << "static inline attune_status " << name << "_step_workspace(" << name << "_handle *forward, const " << name << "_tensors *tensors,\n    "
      << backward << "_handle *backward, const " << backward << "_tensors *gradients, size_t *bytes) {\n"
      << "  size_t own = 0;\n  attune_status status = " << name << "_workspace(forward, tensors, bytes);\n"
      << "  if (!status)\n    status = " << backward << "_workspace(backward, gradients, &own);\n"
      << "  if (!status && own > *bytes)\n    *bytes = own;\n  return status;\n}\n\n";
}

} // namespace

std::string attune::target::emitHeader(const LibraryDescription &description) {
  std::string text;
  raw_string_ostream out(text);
  HeaderWriter(out, description).write();
  return text;
}

Error attune::target::writeHeader(const LibraryDescription &description, StringRef path) {
  return writeFile(path, [&](raw_ostream &out) { out << emitHeader(description); });
}
