//===- IssuedPairs.cpp - What the warps of a GPU do for weights of pairs -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "IssuedWork.h"

using namespace attune;
using namespace attune::cost;

/// What pieces of the keys leave, stored by each and loaded by the last one: an accumulator, a maximum and a sum. An arrival is
/// two exchanges: the first one finds what is there.
static void passSpans(IssuedWork &work, const Sizes &z, double spans) {
  work.move(2 * spans * z.Tq, z.dv);
  work.storeRegisters(spans, z.Tq, z.dv);
  work.loadToRegisters(spans, z.Tq, z.dv);
  work.storeVector(2 * spans * z.Tq);
  work.loadAlongRows(2 * spans * z.Tq);
  work.bytes += spans * 2 * counterBytes;
}

IssuedWorks cost::issuedPairs(const AttentionShape &shape, const Sizes &z) {
  double points = z.points(), pairs = points * z.pairs, keys = points * z.keysRead;
  Operands operands = shape.family == Family::Softmax ? Operands::Storage : Operands::F32;
  double pieces = shape.split ? static_cast<double>(z.schedule.getParts()) : 1; // of which each reads the queries
  IssuedWork work(z);
  loadQueries(work, z, pieces * points * z.n);
  loadKeys(work, z, keys);
  loadTurns(work, z, pieces * points * z.blocks, hasRope(shape));
  work.move(keys, z.dv, z.k);
  work.multiply(pairs, z.Tq, z.Tk, z.d, operands);
  work.multiply(pairs, z.Tq, z.dv, z.Tk, operands);
  takeQueries(work, shape, z, pieces * points * z.blocks, z.Tq);
  takeKeys(work, shape, z, pairs, z.Tk, operands);
  takeValues(work, z, pairs, z.Tk, operands);
  work.reduceAlongRows(pairs * 2, z.Tq); // the maximum and the sum of the weights
  storeOutput(work, shape, z);
  work.storeVector(shape.lse ? points * z.n : 0);
  if (shape.split)
    passSpans(work, z, pieces * points * z.blocks);
  return {work};
}
