//===- PackImage.h - Device code as a library carries it ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_TARGET_PACKIMAGE_H
#define ATTUNE_LIB_TARGET_PACKIMAGE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace attune::target {

/// What the runtime's `unpack` takes. Empty if the bytes could not be packed.
llvm::SmallVector<uint8_t, 0> packImage(llvm::StringRef bytes);

} // namespace attune::target

#endif // ATTUNE_LIB_TARGET_PACKIMAGE_H
