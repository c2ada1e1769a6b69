//===- LoadTensors.cpp - Reading a spec's tensors ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecTensors.h"

namespace attune {

/// The known sizes of `shape` and '?' for the rest.
static std::string showExpected(llvm::ArrayRef<Size> shape) {
  std::string text = "[";
  for (const Size &size : shape)
    text += (text.size() > 1 ? ", " : "") + (size ? std::to_string(*size) : std::string("?"));
  return text + "]";
}

static bool matches(llvm::ArrayRef<Size> expected, llvm::ArrayRef<int64_t> given) {
  return expected.size() == given.size() && llvm::all_of(llvm::zip(expected, given), [](auto pair) {
           return !std::get<0>(pair) || *std::get<0>(pair) == std::get<1>(pair);
         });
}

/// Signs are exact in every type, and judged before they are rounded.
static llvm::Error checkSigns(const SpecTensor &wanted, const HostTensor &given, const TensorSource &source) {
  if (wanted.elements != Elements::Sign || !isFloat(given.type))
    return llvm::Error::success();
  for (double value : toDoubles(given))
    if (value != 1 && value != -1)
      return tensorError(source.placeOf(wanted.name) + ": error: expected signs -1 and 1, but got " +
                         std::to_string(value));
  return llvm::Error::success();
}

/// Reads one tensor in its storage type.
static llvm::Expected<HostTensor> readTensor(const SpecTensor &wanted, const TensorSource &source) {
  llvm::Expected<HostTensor> given = source.read(wanted.name);
  if (!given)
    return given.takeError();
  if (llvm::Error error = checkSigns(wanted, *given, source))
    return error;
  llvm::Expected<HostTensor> converted = convertTensor(*given, wanted.type);
  if (!converted)
    return tensorError(source.placeOf(wanted.name) + ": error: " + llvm::toString(converted.takeError()));
  return converted;
}

static llvm::Error checkShape(const SpecTensor &wanted, const HostTensor &given, const TensorSource &source) {
  if (matches(wanted.shape, given.shape))
    return llvm::Error::success();
  // A compression is bound to one length, and what to do about another one changes the function.
  const char *note = llvm::StringRef(wanted.field).ends_with("low_rank")
                         ? "\nnote: for another length, pad it with zero columns, slice its columns, or draw it anew"
                         : "";
  return tensorError(source.placeOf(wanted.name) + ": error: expected shape " + showExpected(wanted.shape) +
                     ", but got " + showShape(given.shape) + note);
}

/// Takes the '?' sizes off the inputs that have the right rank, and checks what waited for them.
static llvm::Expected<Spec> resolveFrom(const Spec &spec, llvm::ArrayRef<NamedTensor> inputs,
                                        llvm::StringRef specPath) {
  size_t rank = spec.projection ? 3 : 4;
  const HostTensor &first = inputs.front().tensor;
  const HostTensor &second = !spec.projection || spec.projection->cross ? inputs[1].tensor : first;
  if (first.shape.size() != rank || second.shape.size() != rank)
    return spec; // the shape check that follows says so
  auto positive = [](int64_t size) { return size > 0 ? Size(size) : std::nullopt; };
  Spec resolved =
      resolveSizes(spec, positive(first.shape[0]), positive(first.shape[rank - 2]), positive(second.shape[rank - 2]));
  Diagnostics diagnostics;
  if (checkSizes(resolved, diagnostics))
    return resolved;
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::Expected<SourceFile> file = SourceFile::read(specPath, largestSpec);
  if (!file)
    llvm::consumeError(file.takeError());
  print(diagnostics, file ? *file : SourceFile(specPath.str(), ""), os);
  return tensorError(llvm::StringRef(text).rtrim());
}

/// Indices lie in their range.
static llvm::Error checkIndices(llvm::ArrayRef<SpecTensor> wanted, llvm::ArrayRef<NamedTensor> given,
                                const TensorSource &source) {
  for (auto [tensor, read] : llvm::zip_equal(wanted, given)) {
    if (tensor.elements != Elements::Index)
      continue;
    for (int32_t value : llvm::ArrayRef(read.tensor.data<int32_t>(), read.tensor.count()))
      if (value < 0 || value >= *tensor.bound)
        return tensorError(source.placeOf(tensor.name) + ": error: expected values from 0 to " +
                           llvm::Twine(*tensor.bound - 1) + ", but got " + llvm::Twine(value));
  }
  return llvm::Error::success();
}

/// All that is missing at once, with what the spec reads.
static llvm::Error checkThere(llvm::ArrayRef<SpecTensor> wanted, const TensorSource &source, llvm::StringRef note) {
  std::string all, missing, first;
  for (const SpecTensor &tensor : wanted) {
    all += (all.empty() ? "" : ", ") + tensor.name;
    if (source.contains(tensor.name))
      continue;
    if (first.empty())
      first = source.placeOf(tensor.name);
    missing += (missing.empty() ? "" : ", ") + tensor.name;
  }
  if (missing.empty())
    return llvm::Error::success();
  return tensorError(first + ": error: expected a tensor file for each of " + all + ", but got none for " + missing +
                     "\nnote: " + note);
}

static llvm::Error readAll(llvm::ArrayRef<SpecTensor> wanted, const TensorSource &source,
                           std::vector<NamedTensor> &out) {
  for (const SpecTensor &tensor : wanted) {
    llvm::Expected<HostTensor> read = readTensor(tensor, source);
    if (!read)
      return read.takeError();
    out.push_back({tensor.name, std::move(*read)});
  }
  return llvm::Error::success();
}

static llvm::Error checkAll(llvm::ArrayRef<SpecTensor> wanted, llvm::ArrayRef<NamedTensor> given,
                            const TensorSource &source) {
  for (size_t i = 0; i < wanted.size(); ++i)
    if (llvm::Error error = checkShape(wanted[i], given[i].tensor, source))
      return error;
  return llvm::Error::success();
}

llvm::Expected<LoadedTensors> loadTensors(const Spec &spec, llvm::StringRef specPath, const TensorSource &source) {
  LoadedTensors result;
  if (llvm::Error error = checkThere(inputTensors(spec), source,
                                     "a spec with `projection` reads x (and context with `cross`), one without it q, k "
                                     "and v"))
    return error;
  if (llvm::Error error = readAll(inputTensors(spec), source, result.inputs))
    return error;
  // Shapes first against the spec as written: a mistake there would give the '?' a wrong size.
  if (llvm::Error error = checkAll(inputTensors(spec), result.inputs, source))
    return error;
  llvm::Expected<Spec> resolved = resolveFrom(spec, result.inputs, specPath);
  if (!resolved)
    return resolved.takeError();
  result.spec = std::move(*resolved);
  if (llvm::Error error = checkAll(inputTensors(result.spec), result.inputs, source))
    return error;
  for (const Size &size : {result.spec.batch, result.spec.queries, result.spec.keys})
    if (!size)
      return tensorError(source.placeOf(result.inputs.front().name) + ": error: expected sizes >= 1, but got shape " +
                         showShape(result.inputs.front().tensor.shape));
  if (llvm::Error error = checkIndices(inputTensors(result.spec), result.inputs, source))
    return error;
  std::vector<SpecTensor> parameters = parameterTensors(result.spec);
  if (llvm::Error error = checkThere(parameters, source, "attnc init draws parameters; trained ones go by these names"))
    return error;
  if (llvm::Error error = readAll(parameters, source, result.parameters))
    return error;
  if (llvm::Error error = checkAll(parameters, result.parameters, source))
    return error;
  if (llvm::Error error = checkIndices(parameters, result.parameters, source))
    return error;
  return std::move(result);
}

} // namespace attune
