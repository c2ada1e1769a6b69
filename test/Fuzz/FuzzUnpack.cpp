//===- FuzzUnpack.cpp - Any bytes as packed device code -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first byte says how many changes there are to a packed stream: a place (two bytes) and a byte each. With 255 of
// them the rest is the stream itself, after two bytes that say how large its contents are; else the contents, which are
// packed here. What was not changed comes back as it was.
//
//===----------------------------------------------------------------------===//
#include "PackImage.h"

#include "Common/Unpack.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdlib>
#include <memory>

using Bytes = llvm::ArrayRef<uint8_t>;

static unsigned wordAt(Bytes bytes, size_t at) { return bytes[at] | bytes[at + 1] << 8; }

/// On the heap and no larger than it is, so that a step outside shows.
static bool unpacks(Bytes packed, size_t size, Bytes expected) {
  std::unique_ptr<uint8_t[]> from(new uint8_t[packed.size()]), to(new uint8_t[size]);
  llvm::copy(packed, from.get());
  return attune::rt::unpack(to.get(), size, from.get(), packed.size()) && Bytes(to.get(), size) == expected;
}

static void changeAndUnpack(Bytes changes, Bytes contents) {
  auto packed = attune::target::packImage(llvm::toStringRef(contents));
  if (packed.empty())
    std::abort();
  bool same = true;
  for (size_t at = 0; at < changes.size(); at += 3) {
    uint8_t &byte = packed[wordAt(changes, at) % packed.size()];
    same = same && byte == changes[at + 2];
    byte = changes[at + 2];
  }
  if (!unpacks(packed, contents.size(), contents) && same)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Bytes bytes(data, size);
  if (size < 3)
    return 0;
  size_t changes = bytes[0] * size_t(3);
  if (bytes[0] == 255)
    unpacks(bytes.drop_front(3), wordAt(bytes, 1), {});
  else if (changes < size)
    changeAndUnpack(bytes.slice(1, changes), bytes.drop_front(1 + changes));
  return 0;
}
