//===- Head.cpp - One query head of one batch entry ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Head.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace attune::reference;

Blocks::Blocks(const std::optional<Window> &window, int64_t count)
    : window(window), length(window ? window->length() : count), tokens(count) {
  std::iota(tokens.begin(), tokens.end(), 0);
  if (window && window->gridRows)
    llvm::stable_sort(tokens, [&](int64_t a, int64_t b) { return blockOf(a) < blockOf(b); });
}

int64_t Blocks::blockOf(int64_t token) const {
  if (!window)
    return 0;
  if (window->gridRows == 0)
    return token / length;
  int64_t y = token / window->gridColumns, x = token % window->gridColumns;
  return y / window->rows * (window->gridColumns / window->columns) + x / window->columns;
}

llvm::ArrayRef<int64_t> Head::keysOf(int64_t row) const {
  llvm::ArrayRef<int64_t> block = blocks[blocks.blockOf(row)];
  llvm::ArrayRef<int64_t> seen = block.take_front(llvm::lower_bound(block, inputs.visibleEnd(batch, row)) - block.begin());
  return inputs.last ? seen.take_back(std::min(*inputs.last, static_cast<int64_t>(seen.size()))) : seen;
}

Array attune::reference::outputOf(const AttentionInputs &inputs) {
  return Array({inputs.batch(), inputs.heads(), static_cast<int64_t>(inputs.chosenRows().size()),
                inputs.value.size(3)});
}
