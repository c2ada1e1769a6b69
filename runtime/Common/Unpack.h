//===- Unpack.h - Unpacks what the compiler has packed --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_UNPACK_H
#define ATTUNE_RT_COMMON_UNPACK_H

#include <stddef.h>
#include <stdint.h>

namespace attune::rt {

/// Unpacks contents of `bytes` bytes: a stream of LZMA as liblzma's "alone" encoder writes it with its default numbers of
/// context bits, then the Adler-32 sum of the contents, lowest byte first. False if it is anything else: nothing outside
/// `to` is then written, and nothing outside `from` read.
bool unpack(uint8_t *to, size_t bytes, const uint8_t *from, size_t packedBytes);

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_UNPACK_H
