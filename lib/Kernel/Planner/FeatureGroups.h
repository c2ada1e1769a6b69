//===- FeatureGroups.h - Features that are carried in one way -*- C++ -*------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Features, and the weights, states and sums that are made of them, are numbers or stand in units of a power of two. Who
// makes them and who reads them have to agree, so all terms that hang together are one group. A group is in units where each of
// its sums is divided by its denominator, so that units cancel, nobody else reads what lies between, and its maps have exponents
// (attn::carriesExponents); attention over features is such a quotient. So is that of a gradient of such a quotient which gives the cotangents of
// logarithms, but on a GPU whose shared memory
// does not hold what that takes: there its features are numbers.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PLANNER_FEATUREGROUPS_H
#define ATTUNE_LIB_KERNEL_PLANNER_FEATUREGROUPS_H

#include "attune/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>

namespace attune::kernel {

struct FeatureGroup {
  llvm::SmallVector<attn::MapOp, 2> maps;
  llvm::SmallVector<attn::NormalizeOp, 1> quotients;
  bool closed = true;       ///< every sum is divided, and nothing else is read from outside of the group or by others
  bool decays = false;      ///< in chunks; attn.decay, of weights of pairs, is no term of a group
  bool sharesState = false; ///< a state comes from outside of the group, or others read one
  attn::FeatureAttentionOp attention;     ///< over the features; null: none
  attn::CausalReadoutGradientOp gradient; ///< of one of its quotients, giving cotangents of logarithms; null: there is none
  bool inUnits = false;

  /// Whether every quotient is the same with other stabilizers.
  bool stabilizersCancel() const;
};

class FeatureGroups {
public:
  FeatureGroups(mlir::func::FuncOp function, tile::ScheduleAttr schedule);

  /// The group of a term; null if it has none.
  const FeatureGroup *of(mlir::Operation *op) const { return groups.lookup(op).get(); }
  bool inUnits(mlir::Operation *op) const {
    const FeatureGroup *group = op ? of(op) : nullptr;
    return group && group->inUnits;
  }

private:
  llvm::DenseMap<mlir::Operation *, std::shared_ptr<FeatureGroup>> groups;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_FEATUREGROUPS_H
