//===- Inflate.h - Unpacks what the compiler has packed -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_INFLATE_H
#define ATTUNE_RT_COMMON_INFLATE_H

#include <stddef.h>
#include <stdint.h>

namespace attune::rt {

/// Unpacks a zlib stream (RFC 1950, RFC 1951) whose contents are `bytes` long. False if it is anything else: nothing
/// outside `to` is then written, and nothing outside `from` read.
bool inflate(uint8_t *to, size_t bytes, const uint8_t *from, size_t packedBytes);

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_INFLATE_H
