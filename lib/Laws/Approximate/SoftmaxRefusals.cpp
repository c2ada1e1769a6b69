//===- SoftmaxRefusals.cpp - Why softmax stays as it is -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SoftmaxRefusals.h"

#include "attune/Laws/ApproximateLaw.h"

using namespace mlir;
using namespace attune;

std::string graph::softmaxRefusal(attn::SoftmaxOp op) {
  if (op.getLse())
    return "the logarithm of the softmax's sum is asked for";
  if (op.getWindow())
    return "its windows make it linear in the length already";
  if (op.getLast())
    return "the keys that a query sees make it linear in the length already";
  if (op.getSoftcap() || op.getSlopes())
    return "its logits are more than scaled products";
  if (op.getKey().getDefiningOp<attn::CompressOp>())
    return "its compressed keys make it linear in the length already";
  return "";
}

std::vector<std::unique_ptr<graph::ApproximateLaw>> graph::createApproximateLaws() {
  std::vector<std::unique_ptr<ApproximateLaw>> laws;
  laws.push_back(createEfficientLaw());
  laws.push_back(createLocalLaw());
  laws.push_back(createAgentsLaw());
  laws.push_back(createDropGuardsLaw());
  return laws;
}

SmallVector<StringRef> graph::approximateLawNames() {
  return llvm::map_to_vector(createApproximateLaws(), [](const auto &law) { return law->name(); });
}
