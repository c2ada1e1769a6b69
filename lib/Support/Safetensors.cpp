//===- Safetensors.cpp - The .safetensors file format --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is: the length of the header (8 bytes, little endian), a JSON object name → {dtype, shape, data_offsets}, then
// the data that the offsets cut, without gaps. `__metadata__` is a map of strings that is not read.
//
//===----------------------------------------------------------------------===//
#include "attune/Support/Diagnostics.h"
#include "attune/Support/TensorFiles.h"

#include "BoundedFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

#include <cmath>

namespace attune {

static constexpr int64_t longestHeader = 16 << 20;
/// An object of objects of lists; what nests deeper is no header, and would recurse in the JSON parser.
static constexpr int deepestHeader = 8;
static constexpr llvm::StringLiteral metadataKey = "__metadata__";

static std::optional<ElementType> typeOfCode(llvm::StringRef code) {
  return code == "BOOL" ? ElementType::Bool : elementTypeOf(code.lower());
}

/// Whether brackets outside of strings nest no deeper than a header's do.
static bool isShallow(llvm::StringRef json) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString && (c == '{' || c == '[') && ++depth > deepestHeader)
      return false;
    else if (!inString && (c == '}' || c == ']'))
      --depth;
  }
  return true;
}

/// A key that an object of a JSON text has twice, which a parser would drop without a word. The text must be valid.
static std::optional<std::string> repeatedKey(llvm::StringRef json) {
  std::vector<llvm::StringSet<>> objects; // the keys so far of each that is open
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '{' || json[i] == '[')
      objects.emplace_back();
    else if (json[i] == '}' || json[i] == ']')
      objects.pop_back();
    if (json[i] != '"')
      continue;
    size_t begin = i++;
    while (json[i] != '"')
      i += json[i] == '\\' ? 2 : 1;
    if (!json.drop_front(i + 1).ltrim(" \t\r\n").starts_with(":"))
      continue;
    std::string key = llvm::cantFail(llvm::json::parse(json.slice(begin, i + 1))).getAsString()->str();
    if (!objects.back().insert(key).second)
      return key;
  }
  return std::nullopt;
}

/// Below 2^63 in size: a double of 2^63 would be taken for an int64_t, which does not hold it.
static std::optional<int64_t> integerOf(const llvm::json::Value &value) {
  std::optional<double> number = value.getAsNumber();
  return number && std::abs(*number) < 0x1p63 ? value.getAsInteger() : std::nullopt;
}

llvm::Error SafetensorsFile::addEntry(llvm::StringRef name, const void *jsonValue, int64_t dataBytes) {
  const auto *object = static_cast<const llvm::json::Value *>(jsonValue)->getAsObject();
  auto fail = [&](const llvm::Twine &message) {
    return tensorError(path_ + ": error: " + message + " in " + quoted(name));
  };
  Entry entry;
  std::optional<llvm::StringRef> dtype = object ? object->getString("dtype") : std::nullopt;
  const llvm::json::Array *shape = object ? object->getArray("shape") : nullptr;
  const llvm::json::Array *offsets = object ? object->getArray("data_offsets") : nullptr;
  if (!dtype || !shape || !offsets || offsets->size() != 2)
    return fail("expected dtype, shape and data_offsets, but got something else");
  entry.dtype = dtype->str();
  for (const llvm::json::Value &size : *shape) {
    std::optional<int64_t> value = integerOf(size);
    if (!value || *value < 0)
      return fail("expected sizes >= 0, but got something else");
    entry.shape.push_back(*value);
  }
  std::optional<int64_t> begin = integerOf((*offsets)[0]), end = integerOf((*offsets)[1]);
  if (!begin || !end || *begin < 0 || *end < *begin || *end > dataBytes)
    return fail("expected data_offsets inside the " + llvm::Twine(dataBytes) + " bytes of data, but got others");
  entry.begin = *begin;
  entry.end = *end;
  entries_[name] = std::move(entry);
  return llvm::Error::success();
}

llvm::Error SafetensorsFile::checkCoverage(int64_t dataBytes) const {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const auto &entry : entries_)
    ranges.emplace_back(entry.second.begin, entry.second.end);
  llvm::sort(ranges);
  int64_t covered = 0;
  for (auto [begin, end] : ranges) {
    if (begin != covered)
      return tensorError(path_ + ": error: expected tensors without gaps or overlaps, but got one at byte " +
                         llvm::Twine(begin) + " after byte " + llvm::Twine(covered));
    covered = end;
  }
  if (covered != dataBytes)
    return tensorError(path_ + ": error: expected " + llvm::Twine(covered) + " bytes of data, but got " +
                       llvm::Twine(dataBytes));
  return llvm::Error::success();
}

llvm::Expected<SafetensorsFile> SafetensorsFile::open(llvm::StringRef path) {
  llvm::Expected<BoundedFile> file = BoundedFile::open(path);
  if (!file)
    return file.takeError();
  char lead[8];
  if (file->size() < 8)
    return file->fail("expected a .safetensors file, but got " + llvm::Twine(file->size()) + " bytes");
  if (llvm::Error error = file->read(0, lead, 8))
    return error;
  uint64_t length = llvm::support::endian::read64le(lead);
  if (length > longestHeader || static_cast<int64_t>(length) > file->size() - 8)
    return file->fail("expected a header of at most " + llvm::Twine(std::min(longestHeader, file->size() - 8)) +
                      " bytes, but got " + llvm::Twine(length));
  std::string header(length, 0);
  if (llvm::Error error = file->read(8, header.data(), length))
    return error;
  if (!isShallow(header))
    return file->fail("expected a JSON header, but got one nested too deeply");
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(header);
  if (!json)
    return file->fail("expected a JSON header, but got " + llvm::toString(json.takeError()));
  if (std::optional<std::string> key = repeatedKey(header))
    return file->fail("expected each key of the header once, but got " + quoted(*key) + " again");
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    return file->fail("expected a JSON object in the header, but got something else");
  SafetensorsFile result;
  result.path_ = path.str();
  result.file_ = std::make_shared<BoundedFile>(std::move(*file));
  result.dataStart_ = 8 + static_cast<int64_t>(length);
  int64_t dataBytes = result.file_->size() - result.dataStart_;
  for (const auto &[name, value] : *object)
    if (llvm::StringRef(name) != metadataKey)
      if (llvm::Error error = result.addEntry(name, &value, dataBytes))
        return error;
  if (llvm::Error error = result.checkCoverage(dataBytes))
    return error;
  return std::move(result);
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> result;
  for (const auto &entry : entries_)
    result.push_back(entry.first().str());
  llvm::sort(result);
  return result;
}

llvm::Expected<TensorHeader> SafetensorsFile::header(llvm::StringRef name) const {
  auto found = entries_.find(name);
  if (found == entries_.end())
    return tensorError(path_ + ": error: expected tensor " + quoted(name) + ", but got none of that name");
  const Entry &entry = found->second;
  auto fail = [&](const llvm::Twine &message) {
    return tensorError(path_ + ": error: " + message + " in " + quoted(name));
  };
  std::optional<ElementType> type = typeOfCode(entry.dtype);
  if (!type)
    return fail("expected F32, F16, BF16, F64 or integers, but got " + quoted(entry.dtype));
  std::optional<int64_t> bytes = byteCount(*type, entry.shape);
  if (!bytes || *bytes != entry.end - entry.begin)
    return fail("expected data_offsets that hold shape " + showShape(entry.shape) + " of " + entry.dtype +
                ", but got " + llvm::Twine(entry.end - entry.begin) + " bytes");
  return TensorHeader{*type, entry.shape};
}

llvm::Expected<HostTensor> SafetensorsFile::read(llvm::StringRef name) const {
  llvm::Expected<TensorHeader> wanted = header(name);
  if (!wanted)
    return wanted.takeError();
  llvm::Expected<HostTensor> tensor = HostTensor::allocate(wanted->type, wanted->shape);
  if (!tensor)
    return file_->fail(llvm::toString(tensor.takeError()) + " in " + quoted(name));
  int64_t start = dataStart_ + entries_.at(name).begin;
  if (llvm::Error error = file_->read(start, tensor->bytes.data(), tensor->bytes.size()))
    return error;
  return tensor;
}

llvm::Error writeSafetensors(llvm::StringRef path, llvm::ArrayRef<NamedTensor> tensors) {
  llvm::json::Object header;
  std::vector<llvm::StringRef> parts(2);
  int64_t at = 0;
  for (const auto &[name, tensor] : tensors) {
    std::string dtype = nameOf(tensor.type).upper();
    int64_t end = at + static_cast<int64_t>(tensor.bytes.size());
    header[name] = llvm::json::Object{
        {"dtype", dtype}, {"shape", llvm::json::Array(tensor.shape)}, {"data_offsets", llvm::json::Array{at, end}}};
    at = end;
    parts.push_back(llvm::StringRef(tensor.bytes.data(), tensor.bytes.size()));
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(header));
  text.append((8 - text.size() % 8) % 8, ' '); // the data stays aligned
  char length[8];
  llvm::support::endian::write64le(length, text.size());
  parts[0] = llvm::StringRef(length, 8);
  parts[1] = text;
  return writeWhole(path, parts);
}

} // namespace attune
