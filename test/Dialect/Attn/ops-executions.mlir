// Every decision of laws on an op that can carry it: the table of #attn.execution.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// CHECK-LABEL: func.func @project(
func.func @project(%arg0: tensor<2x96x256xf32>, %arg1: tensor<256x256xf32>) -> (tensor<2x8x96x32xf32>, tensor<2x8x96x32xf32>) {
  // CHECK: attn.project {{.*}}execution = #attn.execution<form = folded>
  %0 = attn.project %arg0, %arg1 {execution = #attn.execution<form = folded>} : tensor<2x96x256xf32>, tensor<256x256xf32> -> tensor<2x8x96x32xf32>
  // CHECK: attn.project {{.*}}execution = #attn.execution<form = folded, values = fused>
  %1 = attn.project %arg0, %arg1 {execution = #attn.execution<form = folded, values = fused>} : tensor<2x96x256xf32>, tensor<256x256xf32> -> tensor<2x8x96x32xf32>
  return %0, %1 : tensor<2x8x96x32xf32>, tensor<2x8x96x32xf32>
}

// CHECK-LABEL: func.func @project_output(
func.func @project_output(%arg0: tensor<2x8x96x32xf32>, %arg1: tensor<256x256xf32>) -> tensor<2x96x256xf32> {
  // CHECK: attn.project_output {{.*}}execution = #attn.execution<values = fused>
  %0 = attn.project_output %arg0, %arg1 {execution = #attn.execution<values = fused>} : tensor<2x8x96x32xf32>, tensor<256x256xf32> -> tensor<2x96x256xf32>
  return %0 : tensor<2x96x256xf32>
}

// CHECK-LABEL: func.func @compress(
func.func @compress(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<1x32x200xf32>) -> tensor<2x4x32x64xf32> {
  // CHECK: attn.compress {{.*}}execution = #attn.execution<form = compress_first>
  %0 = attn.compress %arg0, %arg1 {execution = #attn.execution<form = compress_first>} : tensor<2x4x200x64xf32>, tensor<1x32x200xf32> -> tensor<2x4x32x64xf32>
  return %0 : tensor<2x4x32x64xf32>
}

// CHECK-LABEL: func.func @map(
func.func @map(%arg0: tensor<2x4x200x64xbf16>, %arg1: tensor<2xi32>) -> tensor<2x4x200x64xf32> {
  // CHECK: attn.map {{.*}}execution = #attn.execution<values = materialized>
  %0 = attn.map %arg0 lengths(%arg1 : tensor<2xi32>) {execution = #attn.execution<values = materialized>, feature_map = #attn.feature_map<elu1>, keys} : tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xf32>
  return %0 : tensor<2x4x200x64xf32>
}

// CHECK-LABEL: func.func @readout(
func.func @readout(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x4x64x32xf32>, %arg2: tensor<2x4x64xf32>) -> (tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>) {
  // CHECK: attn.readout {{.*}}execution = #attn.execution<values = fused>
  %numerator, %denominator = attn.readout %arg0, %arg1, %arg2 {execution = #attn.execution<values = fused>} : tensor<2x4x200x64xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>
  // CHECK: attn.readout {{.*}}execution = #attn.execution<ending = last_block>
  %numerator_0, %denominator_1 = attn.readout %arg0, %arg1, %arg2 {execution = #attn.execution<ending = last_block>} : tensor<2x4x200x64xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>
  return %numerator, %numerator_0 : tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>
}

// CHECK-LABEL: func.func @causal_readout(
func.func @causal_readout(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x4x200x64xf32>, %arg2: tensor<2x4x200x32xbf16>, %arg3: tensor<2xi32>) -> (tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>) {
  // CHECK: attn.causal_readout {{.*}}execution = #attn.execution<split = true>
  %numerator, %denominator, %state, %sum = attn.causal_readout %arg0, %arg1, %arg2 lengths(%arg3 : tensor<2xi32>) {execution = #attn.execution<split = true>} : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  // CHECK: attn.causal_readout {{.*}}execution = #attn.execution<grouped = true>
  %numerator_0, %denominator_1, %state_2, %sum_3 = attn.causal_readout %arg0, %arg1, %arg2 {execution = #attn.execution<grouped = true>} : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  // CHECK: attn.causal_readout {{.*}}execution = #attn.execution<split = true, grouped = true>
  %numerator_4, %denominator_5, %state_6, %sum_7 = attn.causal_readout %arg0, %arg1, %arg2 {execution = #attn.execution<split = true, grouped = true>} : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  return %numerator, %numerator_0 : tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>
}

// CHECK-LABEL: func.func @softmax(
func.func @softmax(%arg0: tensor<2x8x48x64xbf16>, %arg1: tensor<2x2x80x64xbf16>, %arg2: tensor<2x2x80x64xbf16>) -> tensor<2x8x48x64xbf16> {
  // CHECK: attn.softmax {{.*}}execution = #attn.execution<split = true>
  %output = attn.softmax %arg0, %arg1, %arg2 {causal, execution = #attn.execution<split = true>, scale = 1.250000e-01 : f64} : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x64xbf16>
  return %output : tensor<2x8x48x64xbf16>
}

// CHECK-LABEL: func.func @polysketch(
func.func @polysketch(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x2x200x64xf32>, %arg2: tensor<2x2x200x32xf32>, %arg3: tensor<4x64xf32>, %arg4: tensor<4x32xf32>, %arg5: tensor<4x32xi32>) -> (tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>) {
  // CHECK: attn.polysketch {{.*}}execution = #attn.execution<form = chunked, split = true>
  %0 = attn.polysketch %arg0, %arg1, %arg2 signs(%arg3, %arg3, %arg4, %arg4 : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) indices(%arg5, %arg5, %arg5, %arg5 : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>) {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, execution = #attn.execution<form = chunked, split = true>, local_exact = 50 : i64, scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x32xf32> -> tensor<2x4x200x32xf32>
  // CHECK: attn.polysketch {{.*}}execution = #attn.execution<form = state>
  %1 = attn.polysketch %arg0, %arg1, %arg2 signs(%arg3, %arg3, %arg4, %arg4 : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) indices(%arg5, %arg5, %arg5, %arg5 : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>) {degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, execution = #attn.execution<form = state>, scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x32xf32> -> tensor<2x4x200x32xf32>
  // CHECK-NOT: execution
  // CHECK: attn.polysketch
  %2 = attn.polysketch %arg0, %arg1, %arg2 signs(%arg3, %arg3, %arg4, %arg4 : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) indices(%arg5, %arg5, %arg5, %arg5 : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>) {degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x32xf32> -> tensor<2x4x200x32xf32>
  return %0, %1, %2 : tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>
}

// CHECK-LABEL: func.func @concat_heads(
func.func @concat_heads(%arg0: tensor<1x2x196x32xf32>, %arg1: tensor<1x2x196x32xf32>) -> tensor<1x4x196x32xf32> {
  // CHECK: attn.concat_heads {{.*}}execution = #attn.execution<launch = co_launched>
  %0 = attn.concat_heads %arg0, %arg1 {execution = #attn.execution<launch = co_launched>} : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
  return %0 : tensor<1x4x196x32xf32>
}
