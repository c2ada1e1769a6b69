//===- FormTexts.h - What the forms of a law are, in a few words -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_FORMTEXTS_H
#define ATTUNE_SUPPORT_FORMTEXTS_H

#include "llvm/ADT/StringRef.h"

namespace attune {

/// How a form computes, for somebody who has read the formula and nothing else; empty if there is no such form.
llvm::StringRef describeForm(llvm::StringRef law, llvm::StringRef form);

} // namespace attune

#endif // ATTUNE_SUPPORT_FORMTEXTS_H
