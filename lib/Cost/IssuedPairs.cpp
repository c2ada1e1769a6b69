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

IssuedWorks cost::issuedPairs(const AttentionShape &shape, const Sizes &z) {
  double points = z.points(), pairs = points * z.pairs, keys = points * z.keysRead;
  Operands operands = shape.family == Family::Softmax ? Operands::Storage : Operands::F32;
  IssuedWork work(z);
  loadQueries(work, z, points * z.n);
  loadKeys(work, z, keys);
  loadTurns(work, z, points * z.blocks, hasRope(shape));
  work.move(keys, z.dv, z.k);
  work.multiply(pairs, z.Tq, z.Tk, z.d, operands);
  work.multiply(pairs, z.Tq, z.dv, z.Tk, operands);
  takeQueries(work, shape, z, points * z.blocks, z.Tq);
  takeKeys(work, shape, z, pairs, z.Tk, operands);
  takeValues(work, z, pairs, z.Tk, operands);
  work.reduceAlongRows(pairs * 2, z.Tq); // the maximum and the sum of the weights
  storeOutput(work, shape, z);
  work.storeVector(shape.lse ? points * z.n : 0);
  return {work};
}
