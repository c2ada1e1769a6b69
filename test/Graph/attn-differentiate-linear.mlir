// RUN: attn-opt %s -attn-differentiate | FileCheck %s --check-prefix=PAIRS
// RUN: attn-opt %s -attn-differentiate=linear | FileCheck %s --check-prefix=STATES

// Weights of pairs, or a state of the keys and one of what reaches the queries: S̄ = Aᵀ ū, V̄ = B S̄.
// PAIRS-LABEL: func.func @f_backward
// PAIRS:         attn.contract %{{.*}} [batch, head, query, feature], %{{.*}} [batch, head, key, feature] -> [batch, head, query, key]
// PAIRS-NOT:     attn.state
// STATES-LABEL: func.func @f_backward
// STATES-NOT:     -> [batch, head, query, key]
// STATES:         attn.state
// STATES:         [[S:%.*]] = attn.contract %{{.*}} [batch, head, query, feature], %{{.*}} [batch, head, query, value] -> [batch, head, feature, value]
// STATES:         attn.contract %{{.*}} [batch, head, key, feature], [[S]] [batch, head, feature, value] -> [batch, head, key, value]
func.func @f(%q: tensor<1x2x?x16xf32> {attn.name = "q"}, %k: tensor<1x2x?x16xf32> {attn.name = "k"}, %v: tensor<1x2x?x16xf32> {attn.name = "v"})
    -> (tensor<1x2x?x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["v"]} {
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}
