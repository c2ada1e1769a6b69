//===- SharePtx.h - PTX that is the same for several architectures --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_PIPELINE_SHAREPTX_H
#define ATTUNE_LIB_PIPELINE_SHAREPTX_H

#include "attune/Target/LibraryDescription.h"

namespace attune {

/// Gives variants whose PTX differs only in the architecture that it names the text of the oldest of them, which all of them
/// take. A library holds equal texts once.
void sharePtx(llvm::MutableArrayRef<target::VariantDescription> variants);

} // namespace attune

#endif // ATTUNE_LIB_PIPELINE_SHAREPTX_H
