// RUN: attn-opt %s -split-input-file -attn-select-rewrites=pin=linearize:chunked -verify-diagnostics
// RUN: not attn-opt %s -attn-select-rewrites=pin=linearise:chunked 2>&1 | FileCheck %s --check-prefix=LAW
// RUN: not attn-opt %s -attn-select-rewrites=pin=linearize:recurrent 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not attn-opt %s -attn-select-rewrites=pin=linearize:state,linearize:quadratic 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not attn-opt %s -attn-select-rewrites=device=cray-1 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not attn-opt %s -attn-select-rewrites=device=/nowhere/cray-1.yaml 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: split-file %S/Inputs/invalid-devices.yaml %t
// RUN: not attn-opt %s -attn-select-rewrites=device=%t/source.yaml 2>&1 | FileCheck %s --check-prefix=SOURCE
// RUN: not attn-opt %s -attn-select-rewrites=device=%t/number.yaml 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not attn-opt %s -attn-select-rewrites=device=%t/missing.yaml 2>&1 | FileCheck %s --check-prefix=MISSING

// LAW:     error: expected the name of a law (linearize, fold, low_rank, project, project_out, map, launch, keys) in a pin, but got 'linearise'
// FORM:    error: expected a form of linearize (quadratic, state, fused_state, merged_state, chunked, split, grouped) in a pin, but got 'recurrent'
// TWICE:   error: expected one pin of linearize, but got several
// DEVICE:  error: expected a device description ({{.*}}a100-40gb{{.*}}, a target, or a path that ends in .yaml), but got 'cray-1'
// FILE:    error: /nowhere/cray-1.yaml: expected a readable file, but got No such file or directory
// SOURCE:  source.yaml:4:1: cores: expected the source of the number, but got none
// NUMBER:  number.yaml:4:1: cores: expected a positive number, but got -1
// MISSING: missing.yaml:{{[0-9]+:[0-9]+}}: missing required key 'products_per_second'

// A pin that the attention cannot take: the reason and the remedy, and no change.
func.func @not_causal(%q: tensor<1x1x9x8xf32>, %k: tensor<1x1x9x8xf32>, %v: tensor<1x1x9x8xf32>) -> tensor<1x1x9x8xf32> {
  // expected-error @below {{expected a form that this attention can take, but got the pin linearize: chunked; chunks order queries and keys, and this attention is not causal}}
  // expected-note @below {{pin one of quadratic, state, fused_state, merged_state, or leave the choice to the cost model}}
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>
  return %o : tensor<1x1x9x8xf32>
}

// -----

func.func @sketched(%q: tensor<1x1x9x8xf32>, %k: tensor<1x1x9x8xf32>, %v: tensor<1x1x9x8xf32>,
                    %s0: tensor<1x8xf32>, %s1: tensor<1x8xf32>, %sa: tensor<1x4xf32>, %sb: tensor<1x4xf32>,
                    %i0: tensor<1x4xi32>, %i1: tensor<1x4xi32>, %ia: tensor<1x4xi32>, %ib: tensor<1x4xi32>) -> tensor<1x1x9x8xf32> {
  // expected-error @below {{got the pin linearize: chunked; chunks order queries and keys, and this attention is not causal}}
  // expected-note @below {{pin one of quadratic, state, or leave the choice to the cost model}}
  %o = attn.polysketch %q, %k, %v signs(%s0, %s1, %sa, %sb : tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
      indices(%i0, %i1, %ia, %ib : tensor<1x4xi32>, tensor<1x4xi32>, tensor<1x4xi32>, tensor<1x4xi32>)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 4 : i64}
      : tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>
  return %o : tensor<1x1x9x8xf32>
}

// -----

// Of several parts one must take it.
func.func @no_part(%q: tensor<1x1x8x8xf32>, %k: tensor<1x1x8x8xf32>, %v: tensor<1x1x8x8xf32>) -> (tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>) {
  // expected-error @below {{got the pin linearize: chunked; the blocks of a window would each have a state of their own}}
  // expected-note @below {{pin one of quadratic, or leave the choice to the cost model}}
  %a = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>, window = #attn.window<4>}
      : tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32> -> tensor<1x1x8x8xf32>
  %b = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32> -> tensor<1x1x8x8xf32>
  return %a, %b : tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>
}
