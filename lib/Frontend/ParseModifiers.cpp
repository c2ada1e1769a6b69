//===- ParseModifiers.cpp - Windows, compression, convolution --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ParseFields.h"

namespace attune {

Window parseWindow(const Fields &mechanism, bool onlyLength) {
  Fields fields = mechanism.submap("window", "window");
  Window window;
  if (!fields.isMapping())
    return window;
  if (!onlyLength && fields.has("last")) {
    fields.allowOnly({"last"}, "window");
    window.last = fields.size("last");
    return window;
  }
  bool asLength = onlyLength || fields.has("length");
  if (asLength)
    fields.allowOnly({"length"}, "window");
  else if (fields.has("grid") || fields.has("size"))
    fields.allowOnly({"grid", "size"}, "window");
  else
    fields.allowOnly({"length", "grid", "size", "last"}, "window");
  if (asLength) {
    window.length = fields.size("length");
    return window;
  }
  // With no field at all, or only misspelt ones, it is not known which of the two is meant.
  bool either = !fields.has("grid") && !fields.has("size");
  if (either && !fields.parseState().isGood(fields.pathOf("length")))
    return window;
  if (either && fields.parseState().isGood(fields.pathOf("grid")) &&
      fields.parseState().isGood(fields.pathOf("size"))) {
    fields.missing("grid", ", or 'length' alone");
    return window;
  }
  window.grid = fields.pair("grid");
  window.size = fields.pair("size");
  return window;
}

LowRank parseLowRank(const Fields &mechanism) {
  Fields fields = mechanism.submap("low_rank", "low_rank");
  fields.allowOnly({"rank", "tied", "per_head", "order"}, "low_rank");
  LowRank result;
  result.rank = fields.size("rank");
  result.tied = fields.boolean("tied", true);
  result.perHead = fields.boolean("per_head", false);
  if (fields.has("order"))
    result.order = static_cast<CompressionOrder>(fields.choice("order", {"before_map", "after_map"}).value_or(0));
  return result;
}

Lepe parseLepe(const Fields &mechanism) {
  Fields fields = mechanism.submap("lepe", "lepe");
  fields.allowOnly({"grid", "bias"}, "lepe");
  Lepe result;
  result.bias = fields.boolean("bias", false);
  if (fields.has("grid"))
    result.grid = fields.pair("grid");
  return result;
}

} // namespace attune
