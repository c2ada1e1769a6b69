//===- KeepForBackward.h - What the forward pass leaves for gradients -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of exact attention a backward pass needs o and the logarithms of the rows' sums. A forward pass has both at hand; to compute them again is two
// of the seven products of pairs that it has on a CPU, of nine on a GPU. So the forward function of a spec with gradients has `saved.lse` among
// its results, and the backward function takes `saved.o` and `saved.lse`, each of which a run may leave out.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_KEEPFORBACKWARD_H
#define ATTUNE_GRAPH_KEEPFORBACKWARD_H

#include "attune/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::graph {
/// The softmax attention whose output is a result of the function, where a backward pass takes what it leaves; null if there is none. With
/// permission for another function (`attn.allow`) nothing is kept: which one is computed is not known before prices are. Nor is it of image
/// blocks, whose rows lie in another order.
attn::SoftmaxOp keptSoftmax(mlir::func::FuncOp function);

/// The same attention with the logarithms of its rows' sums as a result.
attn::SoftmaxOp withSums(attn::SoftmaxOp softmax);

/// Has the function return `saved.lse`, unless it returns those numbers already.
void keepForBackward(mlir::func::FuncOp function);
} // namespace attune::graph

#endif // ATTUNE_GRAPH_KEEPFORBACKWARD_H
