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
  return expected.size() == given.size() && llvm::all_of(llvm::zip_equal(expected, given), [](auto pair) {
           return !std::get<0>(pair) || *std::get<0>(pair) == std::get<1>(pair);
         });
}

//===----------------------------------------------------------------------===//
// Headers
//===----------------------------------------------------------------------===//

/// What the files say of their tensors, in the order of the spec's. All is checked before any data is read.
using Headers = std::vector<TensorHeader>;

static llvm::Error failAt(const SpecTensor &wanted, const TensorSource &source, const llvm::Twine &message) {
  return tensorError(source.placeOf(wanted.name) + ": error: " + message);
}

static llvm::Expected<Headers> readHeaders(llvm::ArrayRef<SpecTensor> wanted, const TensorSource &source) {
  Headers headers;
  for (const SpecTensor &tensor : wanted) {
    llvm::Expected<TensorHeader> header = source.header(tensor.name);
    if (!header)
      return header.takeError();
    // An empty tensor is converted as any other is: the same types pass, with the same message for the rest.
    llvm::Expected<HostTensor> converted = convertTensor(HostTensor::zeros(header->type, {0}), tensor.type);
    if (!converted)
      return failAt(tensor, source, llvm::toString(converted.takeError()));
    headers.push_back(std::move(*header));
  }
  return headers;
}

static llvm::Error checkShape(const SpecTensor &wanted, llvm::ArrayRef<int64_t> given, const TensorSource &source) {
  if (matches(wanted.shape, given))
    return llvm::Error::success();
  // A compression is bound to one length, and what to do about another one changes the function.
  const char *note = llvm::StringRef(wanted.field).ends_with("low_rank")
                         ? "\nnote: for another length, pad it with zero columns, slice its columns, or draw it anew"
                         : "";
  return failAt(wanted, source,
                "expected shape " + showExpected(wanted.shape) + ", but got " + showShape(given) + note);
}

static llvm::Error checkShapes(llvm::ArrayRef<SpecTensor> wanted, const Headers &headers, const TensorSource &source) {
  for (auto [tensor, header] : llvm::zip_equal(wanted, headers))
    if (llvm::Error error = checkShape(tensor, header.shape, source))
      return error;
  return llvm::Error::success();
}

/// The tensors together, as they lie in the files, which is what reading them takes at least.
static llvm::Error checkMemory(llvm::ArrayRef<SpecTensor> wanted, const Headers &headers, const TensorSource &source,
                               TensorMemory &memory) {
  for (auto [tensor, header] : llvm::zip_equal(wanted, headers))
    if (llvm::Error error = memory.add(header, source.placeOf(tensor.name)))
      return error;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// Signs are exact in every type, and judged before they are rounded.
static llvm::Error checkSigns(const SpecTensor &wanted, const HostTensor &given, const TensorSource &source) {
  if (wanted.elements != Elements::Sign || !isFloat(given.type))
    return llvm::Error::success();
  for (double value : toDoubles(given))
    if (value != 1 && value != -1)
      return failAt(wanted, source, "expected signs -1 and 1, but got " + std::to_string(value));
  return llvm::Error::success();
}

/// Reads one tensor in its storage type.
static llvm::Expected<HostTensor> readTensor(const SpecTensor &wanted, const TensorHeader &header,
                                             const TensorSource &source) {
  llvm::Expected<HostTensor> given = source.read(wanted.name);
  if (!given)
    return given.takeError();
  if (!(TensorHeader{given->type, given->shape} == header))
    return failAt(wanted, source, "expected a file that stays as it is while it is read, but got another header");
  if (llvm::Error error = checkSigns(wanted, *given, source))
    return error;
  llvm::Expected<HostTensor> converted = convertTensor(*given, wanted.type);
  if (!converted)
    return failAt(wanted, source, llvm::toString(converted.takeError()));
  return converted;
}

/// Indices lie in their range.
static llvm::Error checkIndices(const SpecTensor &wanted, const HostTensor &given, const TensorSource &source) {
  if (wanted.elements != Elements::Index)
    return llvm::Error::success();
  for (int32_t value : llvm::ArrayRef(given.data<int32_t>(), given.count()))
    if (value < 0 || value >= *wanted.bound)
      return failAt(wanted, source,
                    "expected values from 0 to " + llvm::Twine(*wanted.bound - 1) + ", but got " + llvm::Twine(value));
  return llvm::Error::success();
}

/// Offsets rise from 0 to the number of tokens.
static llvm::Error checkOffsets(const SpecTensor &wanted, const HostTensor &given, const TensorSource &source) {
  if (wanted.elements != Elements::Offsets)
    return llvm::Error::success();
  llvm::ArrayRef<int32_t> offsets(given.data<int32_t>(), given.count());
  if (offsets.front() != 0 || offsets.back() != *wanted.bound)
    return failAt(wanted, source, "expected offsets from 0 to " + llvm::Twine(*wanted.bound) + ", but got " + llvm::Twine(offsets.front()) +
                                      " to " + llvm::Twine(offsets.back()));
  for (size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] < offsets[i - 1])
      return failAt(wanted, source, "expected offsets that do not fall, but got " + llvm::Twine(offsets[i - 1]) + " and then " +
                                        llvm::Twine(offsets[i]));
  return llvm::Error::success();
}

/// Checks what waited for sizes.
static llvm::Error checkResolved(const Spec &resolved, llvm::StringRef specPath) {
  Diagnostics diagnostics;
  if (checkSizes(resolved, diagnostics))
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::Expected<SourceFile> file = readSpec(specPath);
  if (!file)
    llvm::consumeError(file.takeError());
  print(diagnostics, file ? *file : SourceFile(specPath.str(), ""), os);
  return tensorError(llvm::StringRef(text).rtrim());
}

/// The numbers of a tensor that was read; empty if it was not given.
static llvm::ArrayRef<int32_t> numbersOf(llvm::ArrayRef<NamedTensor> tensors, llvm::StringRef name) {
  const NamedTensor *found = llvm::find_if(tensors, [&](const NamedTensor &tensor) { return tensor.name == name; });
  return found == tensors.end() ? llvm::ArrayRef<int32_t>() : llvm::ArrayRef(found->tensor.data<int32_t>(), found->tensor.count());
}

/// Conditions on lengths are on those of each sequence, and on what came before it.
static llvm::Error checkSequences(const Spec &spec, llvm::ArrayRef<NamedTensor> inputs, llvm::StringRef specPath, const TensorSource &source) {
  llvm::ArrayRef<int32_t> queries = numbersOf(inputs, "offsets"), keys = numbersOf(inputs, "key_offsets"), before = numbersOf(inputs, "state.position");
  for (size_t s = 0; s + 1 < queries.size(); ++s) {
    Spec one = spec;
    one.packed = false, one.ragged = true, one.batch = 1, one.queries = queries[s + 1] - queries[s];
    one.keys = keys.empty() ? one.queries : Size(keys[s + 1] - keys[s]);
    if (llvm::Error error = checkResolved(one, specPath))
      return tensorError(llvm::toString(std::move(error)) + "\nnote: " + source.placeOf("offsets") + ": sequence " + llvm::Twine(s) + " has " +
                         llvm::Twine(*one.queries) + " tokens");
    SpecTensor position = positionTensor(one, initialPrefix);
    if (!before.empty() && before[s] >= *position.bound)
      return failAt(position, source, "expected values from 0 to " + llvm::Twine(*position.bound - 1) + " (sequence " + llvm::Twine(s) + " has " +
                                          llvm::Twine(*one.queries) + " tokens more), but got " + llvm::Twine(before[s]));
  }
  return llvm::Error::success();
}

static llvm::Error readAll(llvm::ArrayRef<SpecTensor> wanted, const Headers &headers, const TensorSource &source,
                           std::vector<NamedTensor> &out) {
  for (auto [tensor, header] : llvm::zip_equal(wanted, headers)) {
    llvm::Expected<HostTensor> read = readTensor(tensor, header, source);
    if (!read)
      return read.takeError();
    if (llvm::Error error = checkIndices(tensor, *read, source))
      return error;
    if (llvm::Error error = checkOffsets(tensor, *read, source))
      return error;
    out.push_back({tensor.name, std::move(*read)});
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

/// Takes the '?' sizes off the inputs that have the right rank, and checks what waited for them.
static llvm::Expected<Spec> resolveFrom(const Spec &spec, const Headers &inputs, llvm::StringRef specPath) {
  size_t rank = spec.projection ? 3 : 4;
  const TensorHeader &first = inputs.front();
  const TensorHeader &second = !spec.projection || spec.projection->cross ? inputs[1] : first;
  if (first.shape.size() != rank || second.shape.size() != rank)
    return spec; // the shape check that follows says so
  auto positive = [](int64_t size) { return size > 0 ? Size(size) : std::nullopt; };
  // A run that goes on from a state, or leaves one, may have no tokens.
  auto tokens = [&](int64_t size) { return spec.hasState() ? Size(size) : positive(size); };
  Spec resolved = resolveSizes(spec, positive(first.shape[0]), tokens(first.shape[rank - 2]), tokens(second.shape[rank - 2]));
  for (auto [tensor, header] : llvm::zip(inputTensors(spec), inputs))
    if (tensor.elements == Elements::Offsets && !resolved.sequences && header.shape.size() == 1 && header.shape[0] > 1)
      resolved.sequences = header.shape[0] - 1;
  if (llvm::Error error = checkResolved(resolved, specPath))
    return std::move(error);
  return resolved;
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

/// The inputs but those that may be missing, and are.
static std::vector<SpecTensor> givenInputs(const Spec &spec, const TensorSource &source, Direction direction) {
  std::vector<SpecTensor> inputs = inputTensors(spec, direction);
  llvm::erase_if(inputs, [&](const SpecTensor &tensor) { return tensor.optional && !source.contains(tensor.name); });
  return inputs;
}

/// The spec with its sizes, which are those of the inputs.
static llvm::Expected<Spec> resolveChecked(const Spec &spec, const Headers &inputs, llvm::StringRef specPath,
                                           const TensorSource &source, Direction direction) {
  // Shapes first against the spec as written: a mistake there would give the '?' a wrong size.
  if (llvm::Error error = checkShapes(givenInputs(spec, source, direction), inputs, source))
    return error;
  llvm::Expected<Spec> resolved = resolveFrom(spec, inputs, specPath);
  if (!resolved)
    return resolved;
  if (llvm::Error error = checkShapes(givenInputs(*resolved, source, direction), inputs, source))
    return error;
  if (resolved->packed && !resolved->sequences)
    return tensorError(source.placeOf("offsets") + ": error: expected shape [sequences + 1] with at least one sequence, but got another");
  for (const Size &size : {resolved->batch, resolved->queries, resolved->keys})
    if (!size)
      return failAt(inputTensors(spec).front(), source,
                    "expected sizes >= 1, but got shape " + showShape(inputs.front().shape));
  return resolved;
}

static llvm::Expected<Headers> readParameterHeaders(const Spec &spec, const TensorSource &source) {
  std::vector<SpecTensor> wanted = parameterTensors(spec);
  if (llvm::Error error = checkThere(wanted, source, "attnc init draws parameters; trained ones go by these names"))
    return error;
  llvm::Expected<Headers> headers = readHeaders(wanted, source);
  if (!headers)
    return headers;
  if (llvm::Error error = checkShapes(wanted, *headers, source))
    return error;
  return headers;
}

llvm::Expected<LoadedTensors> loadTensors(const Spec &spec, llvm::StringRef specPath, const TensorSource &source, Direction direction) {
  std::vector<SpecTensor> wanted = givenInputs(spec, source, direction);
  if (llvm::Error error = checkThere(wanted, source,
                                     "a spec with `projection` reads x (and context with `cross`), one without it q, k "
                                     "and v"))
    return error;
  llvm::Expected<Headers> inputs = readHeaders(wanted, source);
  if (!inputs)
    return inputs.takeError();
  llvm::Expected<Spec> resolved = resolveChecked(spec, *inputs, specPath, source, direction);
  if (!resolved)
    return resolved.takeError();
  llvm::Expected<Headers> parameters = readParameterHeaders(*resolved, source);
  if (!parameters)
    return parameters.takeError();
  LoadedTensors result;
  result.spec = std::move(*resolved);
  std::vector<SpecTensor> given = givenInputs(result.spec, source, direction), kept = parameterTensors(result.spec);
  TensorMemory memory;
  if (llvm::Error error = checkMemory(given, *inputs, source, memory))
    return error;
  if (llvm::Error error = checkMemory(kept, *parameters, source, memory))
    return error;
  if (llvm::Error error = readAll(given, *inputs, source, result.inputs))
    return error;
  if (llvm::Error error = checkSequences(result.spec, result.inputs, specPath, source))
    return error;
  if (llvm::Error error = readAll(kept, *parameters, source, result.parameters))
    return error;
  return std::move(result);
}

} // namespace attune
