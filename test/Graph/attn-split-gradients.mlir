// RUN: attn-opt %s -pass-pipeline='builtin.module(func.func(attn-split-gradients{threads=4}))' | FileCheck %s
// RUN: attn-opt %s -pass-pipeline='builtin.module(func.func(attn-split-gradients{threads=1}))' | FileCheck %s --check-prefix=ONE --implicit-check-not=split
// RUN: attn-opt %s -pass-pipeline='builtin.module(func.func(attn-split-gradients{device=sm_90a}))' | FileCheck %s --check-prefix=GPU
// RUN: not attn-opt %s -pass-pipeline='builtin.module(func.func(attn-split-gradients{device=sm_1}))' 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: expected {{.*}}sm_1

// The example of the pass: a part for each core.
// CHECK-LABEL: func.func @f(
// CHECK-SAME:      attributes {tile.schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1, parts = 4>}
// CHECK:         attn.causal_readout_gradient {{.*}} {execution = #attn.execution<split = true>}
// ONE-LABEL:   func.func @f(
// GPU-LABEL:   func.func @f(
// GPU-SAME:        target = gpu, {{.*}} parts = 16>}
func.func @f(%a: tensor<1x1x4096x16xf32>, %b: tensor<1x1x4096x16xf32>, %v: tensor<1x1x4096x16xf32>, %c: tensor<1x1x4096x16xf32>) -> tensor<1x1x4096x16xf32> {
  %x, %y, %z = attn.causal_readout_gradient %a, %b, %v cotangents(numerator %c : tensor<1x1x4096x16xf32>)
      : tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>
      -> tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>
  return %y : tensor<1x1x4096x16xf32>
}

// Heads that are as many as half of the cores have two parts each, as many as schedules have where they do not say; batch entries and lengths that are not known count as one, and as long.
// CHECK-LABEL: func.func @open(
// CHECK-SAME:      tile.schedule = {{[^>]*}}stages = 1>}
// CHECK:         {execution = #attn.execution<split = true>}
func.func @open(%a: tensor<?x2x?x16xf32>, %b: tensor<?x2x?x16xf32>, %v: tensor<?x2x?x16xf32>, %c: tensor<?x2x?x16xf32>) -> tensor<?x2x?x16xf32> {
  %x, %y, %z = attn.causal_readout_gradient %a, %b, %v cotangents(numerator %c : tensor<?x2x?x16xf32>)
      : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32> -> tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>
  return %y : tensor<?x2x?x16xf32>
}

// Enough heads, few tokens, keys that erase: nothing is split.
// CHECK-LABEL: func.func @heads(
// CHECK-NOT:     split
func.func @heads(%a: tensor<1x3x4096x16xf32>, %c: tensor<1x3x4096x16xf32>) -> tensor<1x3x4096x16xf32> {
  %x, %y, %z = attn.causal_readout_gradient %a, %a, %a cotangents(numerator %c : tensor<1x3x4096x16xf32>)
      : tensor<1x3x4096x16xf32>, tensor<1x3x4096x16xf32>, tensor<1x3x4096x16xf32> -> tensor<1x3x4096x16xf32>, tensor<1x3x4096x16xf32>, tensor<1x3x4096x16xf32>
  return %y : tensor<1x3x4096x16xf32>
}
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     split
func.func @few(%a: tensor<1x1x511x16xf32>, %c: tensor<1x1x511x16xf32>) -> tensor<1x1x511x16xf32> {
  %x, %y, %z = attn.causal_readout_gradient %a, %a, %a cotangents(numerator %c : tensor<1x1x511x16xf32>)
      : tensor<1x1x511x16xf32>, tensor<1x1x511x16xf32>, tensor<1x1x511x16xf32> -> tensor<1x1x511x16xf32>, tensor<1x1x511x16xf32>, tensor<1x1x511x16xf32>
  return %y : tensor<1x1x511x16xf32>
}
// CHECK-LABEL: func.func @erase(
// CHECK-NOT:     split
func.func @erase(%a: tensor<1x1x4096x16xf32>, %c: tensor<1x1x4096x16xf32>, %e: tensor<1x1x4096xf32>) -> tensor<1x1x4096x16xf32> {
  %x, %y, %z, %d = attn.causal_readout_gradient %a, %a, %a erase(%e : tensor<1x1x4096xf32>) cotangents(numerator %c : tensor<1x1x4096x16xf32>) written(%c : tensor<1x1x4096x16xf32>)
      : tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>
      -> tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32> erase(tensor<1x1x4096xf32>)
  return %y : tensor<1x1x4096x16xf32>
}

// On many cores sums over all tokens have the pieces whose price is least; of rows of more than 64 columns two warps have a half each.
// CHECK-LABEL: func.func @sums(
// CHECK-NOT:     tile.schedule
// GPU-LABEL:   func.func @sums(
// GPU-SAME:        piece = 256, operand = f32, warps = 8, stages = 2, warp_columns = 2>}
func.func @sums(%b: tensor<1x4x4096x128xf32>, %v: tensor<1x4x4096x128xf32>) -> tensor<1x4x128x128xf32> {
  %s, %z = attn.state %b, %v : tensor<1x4x4096x128xf32>, tensor<1x4x4096x128xf32> -> tensor<1x4x128x128xf32>, tensor<1x4x128xf32>
  return %s : tensor<1x4x128x128xf32>
}

// Rows of more than 128 columns begin with 32 of them, of which four warps share the columns; a state that no block holds is multiplied with 64 of them at a time.
// CHECK-LABEL: func.func @rows(
// CHECK-NOT:     tile.schedule
// GPU-LABEL:   func.func @rows(
// GPU-SAME:        query_tile = 32, key_tile = 32, piece = {{[0-9]+}}, operand = f32, warps = 8, stages = 2, warp_columns = 4>}
func.func @rows(%a: tensor<1x4x4096x256xf32>, %b: tensor<1x4x4096x256xf32>) -> tensor<1x4x4096xf32> {
  %p = attn.contract %a [batch, head, query, feature], %b [batch, head, query, feature] -> [batch, head, query] : tensor<1x4x4096x256xf32>, tensor<1x4x4096x256xf32> -> tensor<1x4x4096xf32>
  return %p : tensor<1x4x4096xf32>
}
// CHECK-LABEL: func.func @state(
// GPU-LABEL:   func.func @state(
// GPU-SAME:        warps = 8, stages = 2, warp_columns = 4, feature_tile = 64, value_tile = 64>}
func.func @state(%a: tensor<1x4x4096x256xf32>, %c: tensor<1x4x4096x256xf32>, %v: tensor<1x4x4096x256xf32>) -> tensor<1x4x4096x256xf32> attributes {attn.backward} {
  %s = attn.contract %a [batch, head, query, feature], %c [batch, head, query, value] -> [batch, head, feature, value]
      : tensor<1x4x4096x256xf32>, tensor<1x4x4096x256xf32> -> tensor<1x4x256x256xf32>
  %y = attn.contract %v [batch, head, key, value], %s [batch, head, feature, value] -> [batch, head, key, feature]
      : tensor<1x4x4096x256xf32>, tensor<1x4x256x256xf32> -> tensor<1x4x4096x256xf32>
  return %y : tensor<1x4x4096x256xf32>
}
