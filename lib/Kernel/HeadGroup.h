//===- HeadGroup.h - The query heads that one grid point serves -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_HEADGROUP_H
#define ATTUNE_LIB_KERNEL_HEADGROUP_H

#include "KernelFrame.h"

#include <deque>

namespace attune::kernel {

/// A query head of a key-value head's group, with the tokens that it reads.
struct GroupMember {
  GroupMember(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const Point &where)
      : point(where), query(tiles, frame, problem, problem.query, point, problem.heads()) {}
  GroupMember(const GroupMember &) = delete;

  Point point; ///< its head is that of the queries
  TokenReader query;
};

/// Where the grid's head axis counts key-value heads: the query heads of the group at `point`; else the one head there.
inline std::deque<GroupMember> groupAt(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem,
                                       const Point &point) {
  std::deque<GroupMember> members;
  int64_t count = problem.grouped ? problem.heads() / problem.sharedHeads() : 1;
  for (int64_t member = 0; member < count; ++member) {
    Point where = point;
    if (count > 1)
      where.head = tiles.add(tiles.mul(point.head, count), tiles.index(member));
    members.emplace_back(tiles, frame, problem, where);
  }
  return members;
}

/// The heads that the grid counts.
inline int64_t gridHeads(const Problem &problem) { return problem.grouped ? problem.sharedHeads() : problem.heads(); }

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_HEADGROUP_H
