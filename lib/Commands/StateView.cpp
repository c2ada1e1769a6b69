//===- StateView.cpp - A state beside a cache ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "StateView.h"

#include "attune/Frontend/SpecTensors.h"
#include "attune/Graph/PrintNumbers.h"

using namespace attune;
using namespace attune::attnc;

std::optional<StateSizes> attune::attnc::stateSizes(const Spec &spec) {
  if (!spec.initialState && !spec.finalState)
    return std::nullopt;
  StateSizes sizes;
  for (const SpecTensor &tensor : stateTensors(spec, initialPrefix)) {
    int64_t bytes = bytesOf(tensor.type);
    for (Size size : llvm::drop_begin(tensor.shape)) // the batch
      bytes *= *size;
    sizes.bytes += bytes;
  }
  sizes.cacheBytes = (spec.keyHeads() * spec.headDim + spec.kvHeads * spec.valueDim) * bytesOf(spec.dtype);
  return sizes;
}

void attune::attnc::printState(const StateSizes &sizes, llvm::raw_ostream &out) {
  out << "  its state has " << graph::printBytes(sizes.bytes) << " for each sequence: a token that comes alone moves "
      << graph::printBytes(sizes.bytesPerToken()) << "\n"
      << "  exact attention would read a cache of " << graph::printBytes(sizes.cacheBytes)
      << " for each token so far: more from " << sizes.beatsCacheFrom() << " tokens on\n";
}

llvm::json::Object attune::attnc::stateAsJson(const StateSizes &sizes) {
  return llvm::json::Object{{"bytes", sizes.bytes},
                            {"bytes_per_token", sizes.bytesPerToken()},
                            {"cache_bytes", sizes.cacheBytes},
                            {"beats_cache_from", sizes.beatsCacheFrom()}};
}
