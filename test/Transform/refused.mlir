// RUN: attn-opt %s -split-input-file -transform-interpreter -verify-diagnostics

func.func @unknown_law(%q: tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> {
  %o = attn.kernel %q, %q, %q {feature_map = #attn.feature_map<elu1>, denominator = #attn.denominator<bias = 0.0, floor = 0.0>}
      : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x64x16xf32>
  return %o : tensor<1x2x64x16xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %attention = transform.structured.match ops{["attn.kernel"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error@+2 {{expected the name of an exact law (}}
    // expected-note@+1 {{linearize}}
    transform.attn.apply_law "linearise" as "state" to %attention : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

func.func @unknown_form(%q: tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> {
  %o = attn.kernel %q, %q, %q {feature_map = #attn.feature_map<elu1>, denominator = #attn.denominator<bias = 0.0, floor = 0.0>}
      : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x64x16xf32>
  return %o : tensor<1x2x64x16xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %attention = transform.structured.match ops{["attn.kernel"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error@+2 {{expected a form of linearize (}}
    // expected-note@+1 {{state}}
    transform.attn.apply_law "linearize" as "stat" to %attention : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

func.func @refused(%q: tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> {
  // expected-note@+1 {{of this op}}
  %o = attn.kernel %q, %q, %q {causal, feature_map = #attn.feature_map<elu1>, denominator = #attn.denominator<bias = 0.0, floor = 0.0>}
      : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x64x16xf32>
  return %o : tensor<1x2x64x16xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %attention = transform.structured.match ops{["attn.kernel"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error@+1 {{linearize: state is not possible: one state for all queries would let a causal query see later keys}}
    transform.attn.apply_law "linearize" as "state" to %attention : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

func.func @terms(%q: tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> {
  // expected-note@+1 {{of this op}}
  %o = attn.kernel %q, %q, %q {feature_map = #attn.feature_map<elu1>, denominator = #attn.denominator<bias = 0.0, floor = 0.0>}
      : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x64x16xf32>
  return %o : tensor<1x2x64x16xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %attention = transform.structured.match ops{["attn.kernel"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error@+1 {{map: materialized is not possible: it marks what another law makes of the op; pin it in transform.attn.select}}
    transform.attn.apply_law "map" as "materialized" to %attention : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

func.func @another_op(%q: tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> {
  // expected-note@+1 {{of this op}}
  return %q : tensor<1x2x64x16xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %end = transform.structured.match ops{["func.return"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error@+1 {{linearize: state is not possible: the law does not speak of func.return}}
    transform.attn.apply_law "linearize" as "state" to %end : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

func.func @no_module(%q: tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> {
  return %q : tensor<1x2x64x16xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %end = transform.structured.match ops{["func.return"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error@+1 {{expected a builtin.module, but got func.return; give the module around it}}
    transform.attn.select %end : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error@+1 {{a device}}
    transform.attn.select %root {device = "abacus"} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error@+1 {{expected names of forms by names of laws in pins, but got 7}}
    transform.attn.select %root {pins = {linearize = 7 : i64}} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error@+1 {{expected a schedule (#tile.schedule<…>), but got 64}}
    transform.attn.set_schedule 64 : i64 on %root : !transform.any_op
    transform.yield
  }
}
