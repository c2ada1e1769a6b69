//===- CommonHeader.h - The text of attune-rt/attune.h --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_TARGET_COMMONHEADER_H
#define ATTUNE_LIB_TARGET_COMMONHEADER_H

namespace attune::target {

/// Filled in when the build is configured.
extern const char *const commonHeaderText;

} // namespace attune::target

#endif // ATTUNE_LIB_TARGET_COMMONHEADER_H
