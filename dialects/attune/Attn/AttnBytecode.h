//===- AttnBytecode.h - From each version of the dialect to the next -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_ATTNBYTECODE_H
#define ATTUNE_ATTN_ATTNBYTECODE_H

#include "attune/VersionedBytecode.h"

namespace attune::attn {
llvm::ArrayRef<BytecodeUpgrade> bytecodeUpgrades();
} // namespace attune::attn

#endif // ATTUNE_ATTN_ATTNBYTECODE_H
