//===- PtxTexts.h - The PTX of all architectures as one text -*- C++ -*- ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_TARGET_PTXTEXTS_H
#define ATTUNE_LIB_TARGET_PTXTEXTS_H

#include "attune/Target/LibraryDescription.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace attune::target {

/// Kernels of two architectures differ in a schedule's stages at most, so what one text says the other says again: packed as
/// one stream the second costs little. A driver that is given PTX takes far longer to assemble it than unpacking the
/// others takes.
class PtxTexts {
public:
  explicit PtxTexts(llvm::ArrayRef<VariantDescription> variants);

  /// All texts that differ, with a zero byte between them.
  llvm::StringRef joined() const { return text; }
  /// Where one of them begins; 0 of no text.
  int64_t beginOf(llvm::StringRef ptx) const { return begins.lookup(ptx); }

private:
  std::string text;
  llvm::StringMap<int64_t> begins;
};

} // namespace attune::target

#endif // ATTUNE_LIB_TARGET_PTXTEXTS_H
