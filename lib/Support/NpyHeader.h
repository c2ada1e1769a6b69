//===- NpyHeader.h - The dict in front of a .npy file --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_SUPPORT_NPYHEADER_H
#define ATTUNE_LIB_SUPPORT_NPYHEADER_H

#include "attune/Support/HostTensor.h"

namespace attune {

struct NpyHeader {
  ElementType type = ElementType::F32;
  bool bigEndian = false;
  bool fortranOrder = false;
  llvm::SmallVector<int64_t, 4> shape;
};

/// `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }` in any order of keys. Errors have no path.
llvm::Expected<NpyHeader> parseNpyHeader(llvm::StringRef text);
std::string formatNpyHeader(ElementType type, llvm::ArrayRef<int64_t> shape);

} // namespace attune

#endif // ATTUNE_LIB_SUPPORT_NPYHEADER_H
