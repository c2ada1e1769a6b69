//===- LengthModel.h - What the length L means for the sizes of a function -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_GRAPH_LENGTHMODEL_H
#define ATTUNE_LIB_GRAPH_LENGTHMODEL_H

#include "attune/Graph/Metric.h"

namespace attune::graph {

/// Prices are compared along one axis, L = 2nN / (n + N), the harmonic mean of the number of queries and of keys: the
/// quadratic form costs nN and the linear ones n + N, so that their ratio depends on L alone.
class LengthModel {
public:
  explicit LengthModel(const FunctionSizes &shape)
      : queries(shape.queries), keys(shape.keys),
        batchIsUnknown(mlir::ShapedType::isDynamic(shape.batch)), knownBatch(batchIsUnknown ? 1 : shape.batch) {}

  /// Whether L is known only when a kernel runs.
  bool unknown() const { return dynamic(queries) || dynamic(keys); }

  /// L where it is known, else the length at which prices are told.
  int64_t reference() const {
    constexpr int64_t typical = 4096;
    return unknown() ? std::min(typical, longest()) : std::llround(mean());
  }

  /// The largest L that is looked at. With one length known, L stays below twice that length.
  int64_t longest() const {
    constexpr int64_t limit = int64_t(1) << 20;
    int64_t known = dynamic(queries) ? keys : queries;
    if (!unknown() || dynamic(known))
      return limit;
    return std::clamp<int64_t>(2 * std::min(known, limit) - 1, 1, limit);
  }

  int64_t batch() const { return knownBatch; }
  bool unknownBatch() const { return batchIsUnknown; }

  /// What people call the axis: for n = N the length is n.
  const char *name() const { return queries == keys ? "n" : "L"; }

  RuntimeSizes sizesAt(int64_t length) const {
    if (!unknown())
      return {knownBatch, queries, keys, length == reference() ? 1.0 : length / mean()};
    // The other length N of L = 2nN / (n + N).
    auto other = [&](int64_t known) {
      double rest = 2.0 * known - length;
      return std::max<int64_t>(1, rest > 0 ? std::llround(double(known) * length / rest) : length);
    };
    if (dynamic(queries) && dynamic(keys))
      return {knownBatch, length, length};
    return dynamic(queries) ? RuntimeSizes{knownBatch, other(keys), keys}
                            : RuntimeSizes{knownBatch, queries, other(queries)};
  }

private:
  static bool dynamic(int64_t size) { return mlir::ShapedType::isDynamic(size); }
  double mean() const { return queries + keys > 0 ? std::max(1.0, 2.0 * queries * keys / (queries + keys)) : 1.0; }

  int64_t queries, keys;
  bool batchIsUnknown;
  int64_t knownBatch;
};

} // namespace attune::graph

#endif // ATTUNE_LIB_GRAPH_LENGTHMODEL_H
