//===- TextMutator.h - Changes to a text that mostly leave it one ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random bytes seldom get beyond a parser. These changes put a word in a word's place and a number in a number's.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FUZZ_TEXTMUTATOR_H
#define ATTUNE_TEST_FUZZ_TEXTMUTATOR_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// libFuzzer's own changes to bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t mostBytes);

namespace attune::fuzz {

using Words = std::vector<std::string>;

/// The new size of the text in `data`, which has room for `mostBytes`. `words` are those of the language.
size_t mutateText(uint8_t *data, size_t size, size_t mostBytes, unsigned seed, const Words &words);

/// Lines of the one in the place of lines of the other.
size_t crossTexts(const uint8_t *one, size_t oneSize, const uint8_t *other, size_t otherSize, uint8_t *out,
                  size_t mostBytes, unsigned seed);

/// A file whose beginning tells the length of a text that follows.
struct Frame {
  size_t lengthAt, lengthBytes, textAt;
};

/// The same for the text of such a file; its length is told anew, and what follows it stays.
size_t mutateFramed(const Frame &frame, uint8_t *data, size_t size, size_t mostBytes, unsigned seed,
                    const Words &words);

} // namespace attune::fuzz

#endif // ATTUNE_TEST_FUZZ_TEXTMUTATOR_H
