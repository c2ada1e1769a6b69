//===- PackImage.cpp - Device code as a library carries it ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LZMA: device code is unrolled, and what it repeats is further away than the 32 kB that zlib looks back. Of the PTX of 429
// kB of an agent attention zlib leaves 68 kB and LZMA 36 kB; of cubins three fifths of what zlib leaves.
//
//===----------------------------------------------------------------------===//
#include "PackImage.h"

#include <algorithm>
#include <lzma.h>

using namespace attune::target;
using namespace llvm;

static uint32_t adler(StringRef bytes) {
  uint32_t low = 1, high = 0;
  for (unsigned char byte : bytes) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  return high << 16 | low;
}

SmallVector<uint8_t, 0> attune::target::packImage(StringRef bytes) {
  lzma_options_lzma options;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_lzma_preset(&options, LZMA_PRESET_DEFAULT))
    return {};
  options.dict_size = std::max<uint32_t>(LZMA_DICT_SIZE_MIN, static_cast<uint32_t>(bytes.size())); // of the window
  if (lzma_alone_encoder(&stream, &options) != LZMA_OK)
    return {};
  SmallVector<uint8_t, 0> packed(bytes.size() + bytes.size() / 8 + 1024); // noise becomes longer
  stream.next_in = reinterpret_cast<const uint8_t *>(bytes.data());
  stream.avail_in = bytes.size();
  stream.next_out = packed.data();
  stream.avail_out = packed.size();
  bool done = lzma_code(&stream, LZMA_FINISH) == LZMA_STREAM_END;
  packed.truncate(done ? stream.total_out : 0);
  lzma_end(&stream);
  for (uint32_t sum = adler(bytes), i = 0; done && i < 4; ++i)
    packed.push_back(static_cast<uint8_t>(sum >> 8 * i));
  return packed;
}
