//===- NpyHeader.cpp - The dict in front of a .npy file ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NpyHeader.h"

#include "attune/Support/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"

namespace attune {

/// More dimensions than any tensor of ours or of NumPy has.
static constexpr size_t highestRank = 64;

static std::optional<ElementType> typeOfCode(llvm::StringRef code) {
  if (code == "b1")
    return ElementType::Bool;
  for (llvm::StringRef name : {"f32", "f64", "f16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) {
    std::optional<ElementType> type = elementTypeOf(name);
    if (code == (name.take_front() + llvm::Twine(bytesOf(*type))).str())
      return type;
  }
  return std::nullopt;
}

namespace {

/// Reads the dict from left to right; `text` is what is left of it.
class HeaderParser {
public:
  explicit HeaderParser(llvm::StringRef text) : text(text) {}
  llvm::Expected<NpyHeader> parse();

private:
  bool accept(llvm::StringRef token);
  bool parseString(llvm::StringRef &out);
  bool parseShape();
  llvm::Error parseType(llvm::StringRef descr);
  llvm::Error parseEntry();
  llvm::Error fail(llvm::StringRef expected) const {
    return tensorError("expected " + expected + " in the header, but got " + quoted(text, 30));
  }

  llvm::StringRef text;
  NpyHeader header;
  bool seenType = false, seenOrder = false, seenShape = false;
};

} // namespace

bool HeaderParser::accept(llvm::StringRef token) {
  text = text.ltrim(" \t\n");
  return text.consume_front(token);
}

bool HeaderParser::parseString(llvm::StringRef &out) {
  char quote = accept("'") ? '\'' : accept("\"") ? '"' : 0;
  size_t end = quote ? text.find(quote) : llvm::StringRef::npos;
  if (end == llvm::StringRef::npos)
    return false;
  out = text.take_front(end);
  text = text.drop_front(end + 1);
  return true;
}

bool HeaderParser::parseShape() {
  if (!accept("("))
    return false;
  while (!accept(")")) {
    text = text.ltrim();
    llvm::StringRef digits = text.take_while(llvm::isDigit);
    int64_t size = 0;
    if (digits.empty() || digits.getAsInteger(10, size) || header.shape.size() == highestRank)
      return false;
    header.shape.push_back(size);
    text = text.drop_front(digits.size());
    if (accept(","))
      continue;
    return accept(")") && header.shape.size() > 1; // `(3)` is a number in Python, `(3,)` a tuple
  }
  return true;
}

llvm::Error HeaderParser::parseType(llvm::StringRef descr) {
  llvm::StringRef code = descr;
  header.bigEndian = code.consume_front(">");
  if (!header.bigEndian)
    (void)(code.consume_front("<") || code.consume_front("|") || code.consume_front("="));
  std::optional<ElementType> type = typeOfCode(code);
  if (!type)
    return tensorError("expected elements of f2, f4, f8 or integers, but got " + quoted(descr));
  header.type = *type;
  header.bigEndian &= bytesOf(*type) > 1;
  return llvm::Error::success();
}

llvm::Error HeaderParser::parseEntry() {
  llvm::StringRef key, descr;
  if (!parseString(key) || !accept(":"))
    return fail("a key and a colon");
  if (key == "descr" && !seenType) {
    seenType = true;
    if (!parseString(descr))
      return fail("one element type");
    return parseType(descr);
  }
  if (key == "fortran_order" && !seenOrder) {
    seenOrder = true;
    header.fortranOrder = accept("True");
    return header.fortranOrder || accept("False") ? llvm::Error::success() : fail("True or False");
  }
  if (key == "shape" && !seenShape) {
    seenShape = true;
    return parseShape() ? llvm::Error::success() : fail("a tuple of sizes");
  }
  return tensorError("expected descr, fortran_order and shape once each in the header, but got " + quoted(key));
}

llvm::Expected<NpyHeader> HeaderParser::parse() {
  if (!accept("{"))
    return fail("a dict");
  while (!accept("}")) {
    if (llvm::Error error = parseEntry())
      return error;
    if (accept(","))
      continue;
    if (!accept("}"))
      return fail("a comma or the end of the dict");
    break;
  }
  if (!text.trim().empty())
    return fail("nothing after the dict");
  if (!seenType || !seenOrder || !seenShape)
    return tensorError("expected descr, fortran_order and shape in the header, but got fewer");
  return std::move(header);
}

llvm::Expected<NpyHeader> parseNpyHeader(llvm::StringRef text) { return HeaderParser(text).parse(); }

std::string formatNpyHeader(ElementType type, llvm::ArrayRef<int64_t> shape) {
  std::string sizes;
  for (int64_t size : shape)
    sizes += std::to_string(size) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1)
    sizes.resize(sizes.size() - 2);
  llvm::StringRef order = bytesOf(type) == 1 ? "|" : "<";
  std::string letter = nameOf(type).take_front().str(); // f, i, u and the b of bool
  return ("{'descr': '" + order + letter + llvm::Twine(bytesOf(type)) + "', 'fortran_order': False, 'shape': (" +
          sizes + "), }")
      .str();
}

} // namespace attune
