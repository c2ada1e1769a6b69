//===- TextMutator.cpp - Changes to a text that mostly leave it one -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TextMutator.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <random>
#include <sstream>

using namespace attune::fuzz;

namespace {

enum class Kind { Word, Number, Other };

struct Token {
  size_t begin, end;
  Kind kind;
};

bool isWordByte(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
Kind kindOf(char c) { return isWordByte(c) ? Kind::Word : isDigit(c) ? Kind::Number : Kind::Other; }

std::vector<Token> tokensOf(const std::string &text) {
  std::vector<Token> tokens;
  for (size_t begin = 0, end; begin < text.size(); begin = end) {
    Kind kind = kindOf(text[begin]);
    for (end = begin + 1; kind != Kind::Other && end < text.size() && kindOf(text[end]) == kind;)
      ++end;
    if (kind != Kind::Other || !std::isspace(static_cast<unsigned char>(text[begin])))
      tokens.push_back({begin, end, kind});
  }
  return tokens;
}

/// What is at the edge of some type or of some rule.
const Words &edgeNumbers() {
  static std::istringstream text("0 1 2 3 7 8 16 17 63 64 65 128 1024 65535 65536 1073741824 2147483647 2147483648 "
                                 "4294967296 9223372036854775807 -9223372036854775808 18446744073709551615 -1 -2 -0.0 "
                                 "0.5 1e-30 1e39 4e18 1e308 1e400 nan inf ?");
  static const Words words{std::istream_iterator<std::string>(text), {}};
  return words;
}

/// A text under change.
class Change {
public:
  Change(std::string text, unsigned seed, const Words &words) : text(std::move(text)), draw(seed), words(words) {}

  void apply();
  std::string text;

private:
  size_t below(size_t bound) { return bound ? draw() % bound : 0; }
  template <typename List> const auto &oneOf(const List &list) { return list[below(std::size(list))]; }
  bool pick(Kind kind, Token &token);
  std::string at(const Token &token) const { return text.substr(token.begin, token.end - token.begin); }
  void put(const Token &token, const std::string &with) { text.replace(token.begin, token.end - token.begin, with); }
  std::pair<size_t, size_t> pickLine();

  void changeNumber();
  void changeWord();
  void copyToken();
  void deleteToken();
  void insertWord();
  void copyLine();
  void deleteLine();

  std::minstd_rand draw;
  const Words &words;
};

bool Change::pick(Kind kind, Token &token) {
  std::vector<Token> found = tokensOf(text);
  std::erase_if(found, [&](const Token &candidate) { return candidate.kind != kind; });
  if (found.empty())
    return false;
  token = oneOf(found);
  return true;
}

void Change::changeNumber() {
  Token token;
  if (!pick(Kind::Number, token))
    return;
  if (below(2))
    return put(token, oneOf(edgeNumbers()));
  unsigned long long number = std::strtoull(at(token).c_str(), nullptr, 10);
  const unsigned long long near[] = {number + 1, number - (number > 0), number * 2, number / 2, number * number};
  put(token, std::to_string(oneOf(near)));
}

void Change::changeWord() {
  Token token;
  if (!words.empty() && pick(Kind::Word, token))
    put(token, oneOf(words));
}

/// A token over another one of its kind.
void Change::copyToken() {
  Token from, to;
  Kind kind = static_cast<Kind>(below(3));
  if (pick(kind, from) && pick(kind, to))
    put(to, at(from));
}

void Change::deleteToken() {
  Token token;
  if (pick(static_cast<Kind>(below(3)), token))
    put(token, "");
}

void Change::insertWord() {
  Token token;
  if (!words.empty() && pick(static_cast<Kind>(below(3)), token))
    text.insert(token.begin, oneOf(words) + (below(2) ? " " : ": "));
}

std::pair<size_t, size_t> Change::pickLine() {
  size_t inside = below(text.size() + 1);
  size_t before = inside ? text.rfind('\n', inside - 1) : std::string::npos;
  size_t begin = before == std::string::npos ? 0 : before + 1, end = text.find('\n', begin);
  return {begin, (end == std::string::npos ? text.size() : end + 1) - begin};
}

void Change::copyLine() {
  auto [begin, size] = pickLine();
  text.insert(pickLine().first, text.substr(begin, size));
}

void Change::deleteLine() {
  auto [begin, size] = pickLine();
  text.erase(begin, size);
}

void Change::apply() {
  switch (below(12)) {
  case 0:
    return deleteToken();
  case 1:
    return insertWord();
  case 2:
    return copyLine();
  case 3:
    return deleteLine();
  case 4:
  case 5:
    return copyToken();
  case 6:
  case 7:
    return changeWord();
  default:
    return changeNumber();
  }
}

size_t store(const std::string &text, uint8_t *data, size_t mostBytes) {
  size_t size = std::min(text.size(), mostBytes);
  std::memcpy(data, text.data(), size);
  return size;
}

std::string textOf(const uint8_t *data, size_t size) { return {reinterpret_cast<const char *>(data), size}; }

} // namespace

size_t attune::fuzz::mutateText(uint8_t *data, size_t size, size_t mostBytes, unsigned seed, const Words &words) {
  if (size == 0 || seed % 16 == 0)
    return LLVMFuzzerMutate(data, size, mostBytes);
  Change change(textOf(data, size), seed, words);
  for (unsigned rounds = 1 + seed / 16 % 3; rounds > 0; --rounds)
    change.apply();
  return store(change.text, data, mostBytes);
}

size_t attune::fuzz::crossTexts(const uint8_t *one, size_t oneSize, const uint8_t *other, size_t otherSize,
                                uint8_t *out, size_t mostBytes, unsigned seed) {
  std::minstd_rand draw(seed);
  std::string result = textOf(one, oneSize), from = textOf(other, otherSize);
  auto lineStart = [&](const std::string &text) {
    size_t found = text.find('\n', draw() % (text.size() + 1));
    return found == std::string::npos ? 0 : found + 1;
  };
  size_t begin = lineStart(from), end = std::max(begin, lineStart(from)), to = lineStart(result);
  result.replace(to, draw() % 2 ? end - begin : 0, from.substr(begin, end - begin));
  return store(result, out, mostBytes);
}

size_t attune::fuzz::mutateFramed(const Frame &frame, uint8_t *data, size_t size, size_t mostBytes, unsigned seed,
                                  const Words &words) {
  uint64_t length = 0;
  if (size < frame.textAt || seed % 8 == 0)
    return LLVMFuzzerMutate(data, size, mostBytes);
  std::memcpy(&length, data + frame.lengthAt, frame.lengthBytes);
  length = std::min<uint64_t>(length, size - frame.textAt);
  std::string rest = textOf(data + frame.textAt + length, size - frame.textAt - length);
  Change change(textOf(data + frame.textAt, length), seed, words);
  change.apply();
  uint64_t now = change.text.size();
  std::memcpy(data + frame.lengthAt, &now, frame.lengthBytes);
  return frame.textAt + store(change.text + rest, data + frame.textAt, mostBytes - frame.textAt);
}
