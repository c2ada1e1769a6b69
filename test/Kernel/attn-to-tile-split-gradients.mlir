// RUN: attn-opt %s -attn-to-tile=print-regions -o %t.mlir 2>&1 | FileCheck %s

// Three parts of three pieces each. The spans of the keys of all parts but the last come first; each part begins with those before it, transposed: rows
// read what lies along the columns of the state that they go through.
// CHECK-LABEL: region @split_state grid(batch, head, piece)
// CHECK:         stage key of piece step 16
// CHECK:         output {{.*}} to [[LEFT:workspace0]][batch, head, piece, 0 : 16, 0 : 1]
// CHECK:         output {{.*}} to [[STATE:workspace1]][batch, head, piece, 0 : 16, 0 : 24]
// CHECK-LABEL: region @split_query_gradients grid(batch, head, part)
// CHECK:         [[BEFORE:%.*]] = stage piece of part * 3 step 1 segments(before: begin to end)
// CHECK-SAME:        carry(#tile.affine<transition = vector>)
// CHECK:           carry compose(
// CHECK:         [[TRANSPOSE:%.*]] = transposed([[BEFORE]])
// CHECK:         [[BEGIN:%.*]] = blocks([[TRANSPOSE]])
// CHECK:         stage query of part step 16 with key causal(query) segments(chunks: begin to end)
// CHECK-SAME:        from [[BEGIN]] {
// CHECK:           scan({{.*}}) {columns decay}
// CHECK:           to grad_a[batch, head, query : rows, 0 : 16]

// The spans of rows, from their ends down, of all parts but the first: memory has no place for those of that one. Each part begins with those
// behind it, the last one first, as they are for the values' gradients and transposed for those of the keys.
// CHECK-LABEL: region @split_row_pieces grid(batch, head, piece from 3)
// CHECK:         stage key of piece step 16
// CHECK:         output {{.*}} to {{.*}}[batch, head, piece + -3, 0 : 16, 0 : 1]
// CHECK:         stage query of piece step 16 reverse with key causal(query) of piece
// CHECK-NOT:       output
// CHECK:           carry state(
// CHECK:         output {{.*}} to [[SPANS:workspace.]][batch, head, piece + -3, 0 : 16, 0 : 24]
// CHECK-LABEL: region @split_key_gradients grid(batch, head, part)
// CHECK:         [[BEHIND:%.*]] = stage piece of size([[MEMORY:.*]], 2) step 1 reverse segments(behind: part * 3 to size([[MEMORY]], 2))
// CHECK:         [[TRANSPOSE:%.*]] = transposed([[BEHIND]])
// CHECK:         [[BEGIN:%.*]] = blocks([[BEHIND]], [[TRANSPOSE]])
// CHECK:         stage query of part step 16 reverse with key causal(query) segments(chunks: begin to end)
// CHECK-SAME:        from [[BEGIN]] {
// CHECK:           scan({{.*}}) {reverse, columns decay}
// CHECK:           to grad_b[batch, head, key : rows, 0 : 16]
// CHECK:           scan({{.*}}) {reverse, rows decay}
// CHECK:           to grad_v[batch, head, key : rows, 0 : 24]
func.func @split(%a: tensor<?x2x?x16xf32> {attn.name = "a"}, %b: tensor<?x2x?x16xf32> {attn.name = "b"}, %v: tensor<?x2x?x24xf32> {attn.name = "v"},
                 %u: tensor<?x2x?x24xf32> {attn.name = "u"}, %g: tensor<?x2x?xf32> {attn.name = "g"})
    -> (tensor<?x2x?x16xf32> {attn.name = "grad_a"}, tensor<?x2x?x16xf32> {attn.name = "grad_b"}, tensor<?x2x?x24xf32> {attn.name = "grad_v"})
    attributes {tile.schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1, parts = 3>} {
  %x, %y, %z, %d = attn.causal_readout_gradient %a, %b, %v decay(%g : tensor<?x2x?xf32>) cotangents(numerator %u : tensor<?x2x?x24xf32>)
      {execution = #attn.execution<split = true>} : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x24xf32>
      -> tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x24xf32> decay(tensor<?x2x?xf32>)
  return %x, %y, %z : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x24xf32>
}
