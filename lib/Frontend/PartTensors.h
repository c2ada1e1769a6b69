//===- PartTensors.h - Listing the tensors of a part ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_PARTTENSORS_H
#define ATTUNE_LIB_FRONTEND_PARTTENSORS_H

#include "attune/Frontend/SpecTensors.h"

namespace attune {

/// The deviation of what a paper initialises with 0: a test should see it all the same.
inline constexpr double fromZero = 0.1;

/// Lists the tensors that the mechanism of one part reads.
class PartTensors {
public:
  using Shape = llvm::SmallVector<Size, 4>;

  PartTensors(const Spec &spec, const Part &part, std::vector<SpecTensor> &out)
      : spec(spec), part(part), m(part.mechanism), out(out) {}

  /// Of the spec's storage type unless another is given. `field` is one of the mechanism's.
  SpecTensor &add(llvm::StringRef name, Shape shape, llvm::StringRef field, Elements elements, double deviation = 1,
                  std::optional<ElementType> type = std::nullopt) {
    out.push_back({part.prefix + name.str(), type.value_or(spec.dtype), std::move(shape), part.path + "mechanism." + field.str(),
                   elements, deviation});
    return out.back();
  }
  int64_t sharedHeads() const { return part.heads / spec.headsPerKvHead(); }

  const Spec &spec;
  const Part &part;
  const Mechanism &m;

private:
  std::vector<SpecTensor> &out;
};

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_PARTTENSORS_H
