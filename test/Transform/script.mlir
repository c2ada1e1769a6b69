// RUN: attn-opt %s -split-input-file -transform-interpreter -verify-diagnostics | FileCheck %s
// The plugin adds the ops to the transform dialect of a stock mlir-opt.
// RUN: %stock-mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin -split-input-file -transform-interpreter \
// RUN:   -verify-diagnostics %s | FileCheck %s

// A law brings one op into the form that the script names.
// CHECK-LABEL: func.func @state(
// CHECK-NOT: attn.kernel
// CHECK: %[[A:.*]] = attn.map %arg0
// CHECK: %[[B:.*]] = attn.map %arg1
// CHECK: %[[S:.*]], %[[Z:.*]] = attn.state %[[B]], %arg2
// CHECK: attn.readout %[[A]], %[[S]], %[[Z]]
// CHECK: attn.normalize {{.*}} {guard = {{.*}}, scripted}
func.func @state(%q: tensor<1x2x64x16xf32>, %k: tensor<1x2x64x16xf32>, %v: tensor<1x2x64x8xf32>) -> tensor<1x2x64x8xf32> {
  %o = attn.kernel %q, %k, %v {feature_map = #attn.feature_map<elu1>, denominator = #attn.denominator<bias = 0.0, floor = 0.0>}
      : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x8xf32> -> tensor<1x2x64x8xf32>
  return %o : tensor<1x2x64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %attention = transform.structured.match ops{["attn.kernel"]} in %root : (!transform.any_op) -> !transform.any_op
    %out = transform.attn.apply_law "linearize" as "state" to %attention : (!transform.any_op) -> !transform.any_op
    transform.annotate %out "scripted" : !transform.any_op
    transform.yield
  }
}

// -----

// A law that marks leaves the op.
// CHECK-LABEL: func.func @mark(
// CHECK: attn.project {{.*}} {execution = #attn.execution<values = fused>}
func.func @mark(%x: tensor<1x64x32xf32>, %w: tensor<32x32xf32>, %k: tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> {
  %q = attn.project %x, %w : tensor<1x64x32xf32>, tensor<32x32xf32> -> tensor<1x2x64x16xf32>
  %o = attn.softmax %q, %k, %k {scale = 0.25 : f64}
      : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x64x16xf32>
  return %o : tensor<1x2x64x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %project = transform.structured.match ops{["attn.project"]} in %root : (!transform.any_op) -> !transform.any_op
    %marked = transform.attn.apply_law "project" as "fused" to %project : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// A law is applied to what another one has made.
// CHECK-LABEL: func.func @composed(
// CHECK: attn.causal_readout {{.*}} {execution = #attn.execution<split = true, grouped = true>}
func.func @composed(%q: tensor<1x4x64x16xf32>, %k: tensor<1x2x64x16xf32>, %v: tensor<1x2x64x8xf32>) -> tensor<1x4x64x8xf32> {
  %o = attn.kernel %q, %k, %v {causal, feature_map = #attn.feature_map<elu1>, denominator = #attn.denominator<bias = 0.0, floor = 0.0>}
      : tensor<1x4x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x8xf32> -> tensor<1x4x64x8xf32>
  return %o : tensor<1x4x64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %attention = transform.structured.match ops{["attn.kernel"]} in %root : (!transform.any_op) -> !transform.any_op
    %out = transform.attn.apply_law "linearize" as "grouped" to %attention : (!transform.any_op) -> !transform.any_op
    %chunks = transform.structured.match ops{["attn.causal_readout"]} in %root : (!transform.any_op) -> !transform.any_op
    %parts = transform.attn.apply_law "keys" as "split" to %chunks : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// A form that the op cannot take is a failure that a script may catch, with the law's reason.
// CHECK-LABEL: func.func @causal(
// CHECK: attn.causal_readout
func.func @causal(%q: tensor<1x2x64x16xf32>, %k: tensor<1x2x64x16xf32>, %v: tensor<1x2x64x8xf32>) -> tensor<1x2x64x8xf32> {
  %o = attn.kernel %q, %k, %v {causal, feature_map = #attn.feature_map<elu1>, denominator = #attn.denominator<bias = 0.0, floor = 0.0>}
      : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x8xf32> -> tensor<1x2x64x8xf32>
  return %o : tensor<1x2x64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.alternatives %function : !transform.any_op {
    ^bb0(%scope: !transform.any_op):
      %attention = transform.structured.match ops{["attn.kernel"]} in %scope : (!transform.any_op) -> !transform.any_op
      transform.attn.apply_law "linearize" as "state" to %attention : (!transform.any_op) -> !transform.any_op
    }, {
    ^bb0(%scope: !transform.any_op):
      %attention = transform.structured.match ops{["attn.kernel"]} in %scope : (!transform.any_op) -> !transform.any_op
      transform.attn.apply_law "linearize" as "chunked" to %attention : (!transform.any_op) -> !transform.any_op
    }
    transform.yield
  }
}

// -----

// The cheapest forms but for what is pinned, and a schedule of the script's own.
// CHECK-LABEL: func.func @selected(
// CHECK-SAME: tile.schedule = #tile.schedule<target = cpu, query_tile = 32,
// CHECK: attn.row_sum
func.func @selected(%q: tensor<1x2x4096x16xf32>, %k: tensor<1x2x4096x16xf32>, %v: tensor<1x2x4096x8xf32>) -> tensor<1x2x4096x8xf32> {
  %o = attn.kernel %q, %k, %v {feature_map = #attn.feature_map<elu1>, denominator = #attn.denominator<bias = 0.0, floor = 0.0>}
      : tensor<1x2x4096x16xf32>, tensor<1x2x4096x16xf32>, tensor<1x2x4096x8xf32> -> tensor<1x2x4096x8xf32>
  return %o : tensor<1x2x4096x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %module = transform.get_parent_op %function {op_name = "builtin.module"} : (!transform.any_op) -> !transform.any_op
    %plans = transform.attn.select %module {device = "x86-64-avx512", pins = {linearize = "quadratic"}}
        : (!transform.any_op) -> !transform.any_op
    transform.attn.set_schedule
        #tile.schedule<target = cpu, query_tile = 32, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>
        on %plans : !transform.any_op
    transform.yield
  }
}
