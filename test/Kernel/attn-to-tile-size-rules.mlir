// RUN: attn-opt %s -split-input-file -attn-to-tile | FileCheck %s

// A size that only a run knows: the rule travels with the host function.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME:    attune.equal_lengths
// CHECK-SAME:    attune.size_rules = [{kind = "divides", symbol = "queries", value = 32 : i64}]
func.func @blocks(%q: tensor<?x4x?x64xf32>, %k: tensor<?x4x?x64xf32>, %v: tensor<?x4x?x64xf32>) -> tensor<?x4x?x64xf32> {
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64, window = #attn.window<32>}
      : tensor<?x4x?x64xf32>, tensor<?x4x?x64xf32>, tensor<?x4x?x64xf32> -> tensor<?x4x?x64xf32>
  return %o : tensor<?x4x?x64xf32>
}

// -----

// A known size has been checked.
// CHECK-LABEL: func.func @known
// CHECK-NOT:     attune.size_rules
// CHECK:         tile.launch
func.func @known(%q: tensor<?x4x64x64xf32>, %k: tensor<?x4x64x64xf32>, %v: tensor<?x4x64x64xf32>) -> tensor<?x4x64x64xf32> {
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64, window = #attn.window<32>}
      : tensor<?x4x64x64xf32>, tensor<?x4x64x64xf32>, tensor<?x4x64x64xf32> -> tensor<?x4x64x64xf32>
  return %o : tensor<?x4x64x64xf32>
}
