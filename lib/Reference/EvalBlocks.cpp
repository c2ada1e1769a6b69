//===- EvalBlocks.cpp - Tokens in blocks that runs share, and rescaled states ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Evaluators.h"

#include "attune/Reference/Attention.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

namespace {
/// Row t of a part is row first + t of the blocks, for t below count.
struct PartRows {
  int64_t first, count;
};
} // namespace

template <typename Op> static FailureOr<std::vector<PartRows>> partsOf(AttnFrame &frame, Op op, int64_t batch, int64_t rows) {
  auto block = static_cast<int64_t>(op.getBlock());
  int64_t run = rows - block;
  if (run < 0)
    return op.emitOpError() << "expected the rows of a run and " << block << " more in blocks, but got " << rows;
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), batch, run);
  std::optional<Array> position = frame.optional(op.getPosition());
  if (failed(lengths) || (position && failed(expectShape(op, "position", *position, {batch}))))
    return failure();
  std::vector<PartRows> parts;
  for (int64_t entry = 0; entry < batch; ++entry) {
    int64_t before = position ? static_cast<int64_t>((*position)({entry})) % block : 0, end = before + (*lengths)[entry];
    int64_t whole = end / block * block;
    switch (op.getPart()) {
    case attn::BlockPart::Run:
      parts.push_back({before, end - before});
      break;
    case attn::BlockPart::Held:
      parts.push_back({0, before});
      break;
    case attn::BlockPart::Whole:
      parts.push_back({0, whole});
      break;
    case attn::BlockPart::Last:
      parts.push_back({whole, end - whole});
      break;
    }
  }
  return parts;
}

/// Copies rows between the blocks and the part.
template <typename Op> static LogicalResult evalPart(AttnFrame &frame, Op op, int64_t rowsOfPart, int64_t rowsOfBlocks, bool take) {
  const Array &source = frame[op.getSource()];
  FailureOr<std::vector<PartRows>> parts = partsOf(frame, op, source.size(0), rowsOfBlocks);
  if (failed(parts))
    return failure();
  Array result({source.size(0), source.size(1), take ? rowsOfPart : rowsOfBlocks, source.size(3)});
  for (int64_t entry = 0; entry < source.size(0); ++entry)
    for (int64_t head = 0; head < source.size(1); ++head)
      for (int64_t t = 0; t < std::min((*parts)[entry].count, rowsOfPart); ++t)
        for (int64_t c = 0; c < source.size(3); ++c) {
          int64_t row = (*parts)[entry].first + t;
          result({entry, head, take ? t : row, c}) = source({entry, head, take ? row : t, c});
        }
  frame.set(op.getResult(), result);
  return success();
}

static LogicalResult evalTakeFromBlocks(AttnFrame &frame, attn::TakeFromBlocksOp op) {
  auto block = static_cast<int64_t>(op.getBlock());
  int64_t rows = frame[op.getSource()].size(2);
  return evalPart(frame, op, op.getPart() == attn::BlockPart::Run ? rows - block : op.getPart() == attn::BlockPart::Whole ? rows : block, rows, true);
}

static LogicalResult evalPlaceInBlocks(AttnFrame &frame, attn::PlaceInBlocksOp op) {
  int64_t rows = frame[op.getSource()].size(2), blocks = rows;
  if (op.getPart() == attn::BlockPart::Run)
    blocks = rows + static_cast<int64_t>(op.getBlock());
  else if (op.getLike())
    blocks = frame[op.getLike()].size(2);
  return evalPart(frame, op, rows, blocks, false);
}

static LogicalResult evalTrueState(AttnFrame &frame, attn::TrueStateOp op) {
  const Array &s = frame[op.getGivenState()], &z = frame[op.getGivenSum()], &scale = frame[op.getScale()];
  if (failed(expectShape(op, "sum", z, s.shape().drop_back())) || failed(expectShape(op, "scale", scale, s.shape().take_front(2))))
    return failure();
  Array state(s.shape()), sum(z.shape());
  auto scaled = [](double entry, double by) { return entry == 0 ? 0 : entry * std::exp(by); };
  for (int64_t entry = 0; entry < s.size(0); ++entry)
    for (int64_t head = 0; head < s.size(1); ++head)
      for (int64_t f = 0; f < s.size(2); ++f) {
        double by = scale({entry, head});
        sum({entry, head, f}) = scaled(z({entry, head, f}), by);
        for (int64_t c = 0; c < s.size(3); ++c)
          state({entry, head, f, c}) = scaled(s({entry, head, f, c}), by);
      }
  frame.set(op.getState(), state);
  frame.set(op.getSum(), sum);
  return success();
}

void attune::reference::addBlocks(Evaluators &all) { all.add(evalTakeFromBlocks, evalPlaceInBlocks, evalTrueState); }
