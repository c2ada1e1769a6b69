// RUN: attn-opt %s -attn-to-tile=print-regions -o %t.mlir 2>&1 | FileCheck %s
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s --check-prefix=TILE

// Exact attention over the last 100 keys of each query, with bounded logits that fade with the distance:
//
//   s_ij = 30 tanh(0.25 ⟨q_i, k_j⟩ / 30) − slope_h |i + N − n − j|,   over e_i − 100 ≤ j < e_i,   e_i = min(i + N − n + 1, length)
//
// d = 24, dv = 40, 4 query heads share 2 key-value heads.

!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
func.func @decoder(%q: !q, %k: !k, %v: !v, %lengths: tensor<?xi32>, %slopes: tensor<4xf32>) -> !o {
  %o = attn.softmax %q, %k, %v lengths(%lengths : tensor<?xi32>) slopes(%slopes : tensor<4xf32>)
      {causal, last = 100 : i64, scale = 0.25 : f64, softcap = 30.0 : f64} : !q, !k, !v -> !o
  return %o : !o
}

// The factors of logits in units of log 2: 0.25 / log 2 and 30 / log 2.
// CHECK-LABEL: region @decoder_softmax grid(batch, head, query tile 64)
// CHECK:         %[[Q:.*]] = scale(%{{.*}}) {factor = 3.606738e-01}
// CHECK:         %[[SLOPE:.*]] = load slope[head : 1]
// CHECK:         stage key lengths(key_lengths) causal(query) last(100) step 64
// CHECK-SAME:        segments(entering: begin to entered masked, seen: entered to seen, rest: seen to end masked)
// CHECK:           %[[K:.*]] = load k[
// CHECK:           %[[S:.*]] = logits(%[[Q]], %[[K]]) -> log
// CHECK:           %[[CAPPED:.*]] = softcap(%[[S]]) {c = 4.328085e+01} -> log
// CHECK:           %[[FADED:.*]] = alibi(%[[CAPPED]], %[[SLOPE]]) -> log
// CHECK:           %[[SEEN:.*]] = visible(%[[FADED]]) -> log

// A block of queries begins at the tile of the first key that its first row sees, and needs no mask from the tile on that its last row sees
// whole up to the one that its first row does not see whole.
// TILE-LABEL: tile.kernel @decoder_softmax(
// TILE-DAG:     %[[C100:.*]] = arith.constant 100 : index
// TILE-DAG:     %[[C0:.*]] = arith.constant 0 : index
// TILE-DAG:     %[[C63:.*]] = arith.constant 63 : index
// TILE:         %[[LENGTH:.*]] = arith.minsi
// TILE:         %[[END_OF_FIRST:.*]] = arith.minsi %{{.*}}, %[[LENGTH]]
// TILE:         %[[ROWS_END:.*]] = arith.minsi
// TILE:         %[[END_OF_LAST:.*]] = arith.minsi %{{.*}}, %[[LENGTH]]
// TILE-NEXT:    %[[BEGIN_OF_FIRST:.*]] = arith.subi %[[END_OF_FIRST]], %[[C100]]
// TILE:         %[[BEGIN:.*]] = arith.muli
// TILE-NEXT:    %[[BEGIN_OF_LAST:.*]] = arith.subi %[[END_OF_LAST]], %[[C100]]
// TILE-NEXT:    %[[NOT_BEFORE_0:.*]] = arith.maxsi %[[BEGIN_OF_LAST]], %[[C0]]
// TILE-NEXT:    arith.addi %[[NOT_BEFORE_0]], %[[C63]]
// TILE:         %[[ENTERED:.*]] = arith.minsi
// TILE:         tile.loop #tile.rescaled_sum<exp2, row> %{{.*}} = %[[BEGIN]] to %[[ENTERED]] step 64
// TILE:           %[[LEFT:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// TILE:           tile.mask
//   Keys before the last 100 of a row are those of a mask 100 keys earlier.
// TILE:           %[[PASSED:.*]] = tile.mask
// TILE-NEXT:      arith.cmpf oeq, %[[PASSED]]
// TILE:         tile.loop #tile.rescaled_sum<exp2, row> %{{.*}} = %[[ENTERED]] to %[[SEEN:.*]] step 64
// TILE-NOT:       tile.mask
// TILE:         tile.loop #tile.rescaled_sum<exp2, row> %{{.*}} = %[[SEEN]] to %[[END_OF_LAST]] step 64
// TILE-COUNT-2:   tile.mask
