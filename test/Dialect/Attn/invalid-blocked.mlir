// EFFATT, agents, EVA and their terms: every check of their verifiers, with its number.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// A1 to A3: EFFATT.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected output of 2x4x12x6, but got 2x2x12x6}}
  %o = attn.effatt %q, %k, %v : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x2x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %o = attn.effatt %q, %k, %v lengths(%l : tensor<3xi32>) : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x3x12x8xf32>, %v: tensor<2x3x12x6xf32>) {
  // expected-error @below {{expected a number of key-value heads that divides 4, but got 3}}
  %o = attn.effatt %q, %k, %v : tensor<2x4x12x8xf32>, tensor<2x3x12x8xf32>, tensor<2x3x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A106: what EFFATT leaves.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected two more results, a state and the logarithms of its sums, or none, but got 1}}
  %o, %s = attn.effatt %q, %k, %v : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>, left tensor<2x2x8x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected state of 2x2x8x6, but got 2x4x8x6}}
  %o, %s:2 = attn.effatt %q, %k, %v : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>, left tensor<2x4x8x6xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected lse of 2x2x8, but got 2x2x6}}
  %o, %s:2 = attn.effatt %q, %k, %v : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>, left tensor<2x2x8x6xf32>, tensor<2x2x6xf32>
  return
}

// -----

// A1 to A5, A34: agents.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected output of 2x4x12x6, but got 2x2x12x6}}
  %o = attn.agent %q, %k, %v {agents = 3 : i64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x2x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a finite scale above 0, but got}}
  %o = attn.agent %q, %k, %v {agents = 3 : i64, scale = 0.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected agents of at least 1 that divide 12, but got 5}}
  %o = attn.agent %q, %k, %v {agents = 5 : i64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected agents of at least 1, but got 0}}
  %o = attn.agent %q, %k, %v {agents = 0 : i64, scale = 1.0 : f64} : tensor<2x4x?x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x?x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected lse of 2x4x12, but got 2x4x11}}
  %o, %l = attn.agent %q, %k, %v {agents = 3 : i64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>, lse tensor<2x4x11xf32>
  return
}

// -----

// A34: runs.
func.func @f(%q: tensor<2x4x12x8xf32>) {
  // expected-error @below {{expected runs of at least 1 that divide 12, but got 5}}
  %r = attn.pool %q {count = 5 : i64} : tensor<2x4x12x8xf32> -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>) {
  // expected-error @below {{expected result of 2x4x3x8, but got 2x4x4x8}}
  %r = attn.pool %q {count = 3 : i64} : tensor<2x4x12x8xf32> -> tensor<2x4x4x8xf32>
  return
}

// -----

// A35, A3: softmax over the sequence.
func.func @f(%k: tensor<2x2x12x8xf32>) {
  // expected-error @below {{expected result of 2x2x12x8, but got 2x4x12x8}}
  %r = attn.sequence_softmax %k : tensor<2x2x12x8xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%k: tensor<2x2x12x8xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %r = attn.sequence_softmax %k lengths(%l : tensor<3xi32>) : tensor<2x2x12x8xf32> -> tensor<2x2x12x8xf32>
  return
}

// -----

// A107, A3, A35: its logarithms of sums, and weights by them.
func.func @f(%k: tensor<2x2x12x8xf32>) {
  // expected-error @below {{expected result of 2x2x8, but got 2x2x12}}
  %r = attn.sequence_lse %k : tensor<2x2x12x8xf32> -> tensor<2x2x12xf32>
  return
}

// -----

func.func @f(%k: tensor<2x2x12x8xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %r = attn.sequence_lse %k lengths(%l : tensor<3xi32>) : tensor<2x2x12x8xf32> -> tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%k: tensor<2x2x12x8xf32>, %z: tensor<2x4x8xf32>) {
  // expected-error @below {{expected lse of 2x2x8, but got 2x4x8}}
  %r = attn.sequence_weights %k lse(%z : tensor<2x4x8xf32>) : tensor<2x2x12x8xf32> -> tensor<2x2x12x8xf32>
  return
}

// -----

func.func @f(%k: tensor<2x2x12x8xf32>, %z: tensor<2x2x8xf32>) {
  // expected-error @below {{expected result of 2x2x12x8, but got 2x2x11x8}}
  %r = attn.sequence_weights %k lse(%z : tensor<2x2x8xf32>) : tensor<2x2x12x8xf32> -> tensor<2x2x11x8xf32>
  return
}

// -----

func.func @f(%k: tensor<2x2x12x8xf32>, %z: tensor<2x2x8xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %r = attn.sequence_weights %k lse(%z : tensor<2x2x8xf32>) lengths(%l : tensor<3xi32>) : tensor<2x2x12x8xf32> -> tensor<2x2x12x8xf32>
  return
}

// -----

// A1 to A4: EVA.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected output of 2x4x12x6, but got 2x2x12x6}}
  %o = attn.eva %q, %k, %v {chunk = 3 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x2x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %o = attn.eva %q, %k, %v lengths(%l : tensor<3xi32>) {chunk = 3 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a finite scale above 0, but got}}
  %o = attn.eva %q, %k, %v {chunk = 3 : i64, mu_weight = 0.5 : f64, scale = 0.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A36: runs of keys and queries.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected chunk of at least 1 that divides 12 keys, but got 5}}
  %o = attn.eva %q, %k, %v {chunk = 5 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected local of at least 1 that divides 12 keys, but got 0}}
  %o = attn.eva %q, %k, %v {chunk = 3 : i64, local = 0 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x10x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected chunk whose number of runs of keys divides 10 queries, but got 4 runs}}
  %o = attn.eva %q, %k, %v {chunk = 3 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x10x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x10x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x10x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected local whose number of runs of keys divides 10 queries, but got 3 runs}}
  %o = attn.eva %q, %k, %v {chunk = 6 : i64, local = 4 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x10x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x10x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x?x6xf32>) {
  // expected-error @below {{expected chunk of at least 1, but got -1}}
  %o = attn.eva %q, %k, %v {chunk = -1 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a finite mu_weight, but got}}
  %o = attn.eva %q, %k, %v {chunk = 3 : i64, mu_weight = 0x7FF0000000000000 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A37: causal.
func.func @f(%q: tensor<2x4x24x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected as many queries as keys with causal, but got 24 and 12}}
  %o = attn.eva %q, %k, %v {causal, chunk = 3 : i64, local = 6 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x24x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x24x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a local with causal}}
  %o = attn.eva %q, %k, %v {causal, chunk = 3 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a chunk that divides local = 6 with causal, but got 4}}
  %o = attn.eva %q, %k, %v {causal, chunk = 4 : i64, local = 6 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A38: summaries, with two more for each local block.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected mean of 2x4x4x8, but got 2x2x4x8}}
  %m, %s, %l = attn.eva_summaries %q, %k, %v {chunk = 3 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x2x4x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected summary of 2x4x4x6, but got 2x4x4x8}}
  %m, %s, %l = attn.eva_summaries %q, %k, %v {chunk = 3 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x4x8xf32>, tensor<2x4x4x8xf32>, tensor<2x4x4xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected log weight of 2x4x4, but got 2x4x5}}
  %m, %s, %l = attn.eva_summaries %q, %k, %v {chunk = 3 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x4x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x5xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected mean of 2x4x8x8, but got 2x4x4x8}}
  %m, %s, %l = attn.eva_summaries %q, %k, %v {chunk = 3 : i64, local = 6 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x4x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>
  return
}

// -----

// A36, A1, A4.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected chunk of at least 1 that divides 12 keys, but got 5}}
  %m, %s, %l = attn.eva_summaries %q, %k, %v {chunk = 5 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x4x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a finite scale above 0, but got}}
  %m, %s, %l = attn.eva_summaries %q, %k, %v {chunk = 3 : i64, mu_weight = 0.5 : f64, scale = -1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x4x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>
  return
}

// -----

// A38: the same of their reader, whose blocks count only with exclude_local.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %m: tensor<2x4x4x8xf32>, %s: tensor<2x4x4x6xf32>, %l: tensor<2x4x4xf32>) {
  // expected-error @below {{expected mean of 2x4x8x8, but got 2x4x4x8}}
  %o = attn.eva_mix %q, %k, %v summaries(%m, %s, %l : tensor<2x4x4x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>)
      {chunk = 3 : i64, exclude_local, local = 6 : i64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %m: tensor<2x4x8x8xf32>, %s: tensor<2x4x8x6xf32>, %l: tensor<2x4x8xf32>) {
  // expected-error @below {{expected mean of 2x4x4x8, but got 2x4x8x8}}
  %o = attn.eva_mix %q, %k, %v summaries(%m, %s, %l : tensor<2x4x8x8xf32>, tensor<2x4x8x6xf32>, tensor<2x4x8xf32>)
      {chunk = 3 : i64, local = 6 : i64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A2, A36, A37.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %m: tensor<2x4x4x8xf32>, %s: tensor<2x4x4x6xf32>, %l: tensor<2x4x4xf32>) {
  // expected-error @below {{expected output of 2x4x12x6, but got 2x2x12x6}}
  %o = attn.eva_mix %q, %k, %v summaries(%m, %s, %l : tensor<2x4x4x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>)
      {chunk = 3 : i64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x2x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %m: tensor<2x4x4x8xf32>, %s: tensor<2x4x4x6xf32>, %l: tensor<2x4x4xf32>) {
  // expected-error @below {{expected chunk of at least 1 that divides 12 keys, but got 5}}
  %o = attn.eva_mix %q, %k, %v summaries(%m, %s, %l : tensor<2x4x4x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>)
      {chunk = 5 : i64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %m: tensor<2x4x4x8xf32>, %s: tensor<2x4x4x6xf32>, %l: tensor<2x4x4xf32>) {
  // expected-error @below {{expected a local with causal}}
  %o = attn.eva_mix %q, %k, %v summaries(%m, %s, %l : tensor<2x4x4x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>)
      {causal, chunk = 3 : i64, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A39: exclude_local.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %m: tensor<2x4x4x8xf32>, %s: tensor<2x4x4x6xf32>, %l: tensor<2x4x4xf32>) {
  // expected-error @below {{expected a local with exclude_local}}
  %o = attn.eva_mix %q, %k, %v summaries(%m, %s, %l : tensor<2x4x4x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>)
      {chunk = 3 : i64, exclude_local, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}
