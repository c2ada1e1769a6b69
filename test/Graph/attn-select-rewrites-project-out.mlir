// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=x86-64-avx512 \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=x86-64-avx512 | FileCheck %s --check-prefix=PLAN
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=a100-40gb \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s --check-prefix=GPU

// The output projection alone, or as an epilogue of the kernel that computes the heads.

// Four blocks of queries for two cores: a launch and the workspace of the heads are spared.
// CHECK: Remark="project_out of wo: took the epilogue form: the cheapest; {{.*}}"
// PLAN-LABEL: func.func @blocks(
// PLAN: attn.project_output {{.*}} {execution = #attn.execution<values = fused>}
// GPU: Remark="project_out of wo: cannot take the epilogue form: rows as wide as the model hold registers that the kernels of a GPU do not have (not supported yet)"
!t = tensor<1x4x256x64xf32>
!w = tensor<256x128xf32>
!y = tensor<1x256x128xf32>
func.func @blocks(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo"}) -> !y {
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !t, !t, !t -> !t
  %y = attn.project_output %o, %wo : !t, !w -> !y
  return %y : !y
}

// -----

// One block: its heads are what two cores could share.
// CHECK: Remark="project_out of wo: took the materialized form: the cheapest; {{.*}}"
// CHECK: Remark="project_out of wo: did not take the epilogue form: {{.*}} times the price; cheaper from n = 65{{.*}}"
// PLAN-LABEL: func.func @one_block(
// PLAN: attn.project_output {{.*}} :
!t = tensor<1x4x64x64xf32>
!w = tensor<256x128xf32>
!y = tensor<1x64x128xf32>
func.func @one_block(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo"}) -> !y {
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !t, !t, !t -> !t
  %y = attn.project_output %o, %wo : !t, !w -> !y
  return %y : !y
}

// -----

// Sums of 64 x 2,048 numbers do not stay in the core beside a head's weights of as many.
// CHECK: Remark="project_out of wo: took the materialized form: the cheapest; {{.*}}"
// PLAN-LABEL: func.func @wide(
// PLAN: attn.project_output {{.*}} :
!t = tensor<2x4x64x256xf32>
!w = tensor<1024x2048xf32>
!y = tensor<2x64x2048xf32>
func.func @wide(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo"}) -> !y {
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !t, !t, !t -> !t
  %y = attn.project_output %o, %wo : !t, !w -> !y
  return %y : !y
}

// -----

// A LePE stands between, and is added before; what a form cannot do is told with it.
// CHECK: Remark="project_out of wo: took the epilogue form: the cheapest; {{.*}}"
// PLAN-LABEL: func.func @convolved(
// PLAN: attn.project_output {{.*}} {execution = #attn.execution<values = fused>}
!t = tensor<8x2x49x32xf32>
!w = tensor<64x64xf32>
!y = tensor<8x49x64xf32>
func.func @convolved(%q: !t, %k: !t, %v: !t, %l: tensor<2x32x3xf32>, %wo: !w {attn.name = "wo"}) -> !y {
  %a = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !t, !t, !t -> !t
  %o = attn.lepe %a, %v, %l : !t, !t, tensor<2x32x3xf32> -> !t
  %y = attn.project_output %o, %wo : !t, !w -> !y
  return %y : !y
}

// -----

// Chunks, and kernels that keep a state, have one head for themselves: with the projection as an epilogue it is another form.
// CHECK: Remark="linearize: took the chunked form: {{.*}}"
// CHECK: Remark="project_out of wo: took the materialized form: {{.*}}"
// CHECK: Remark="project_out of wo: did not take the epilogue form: {{.*}} times the price; {{.*}}"
// PLAN-LABEL: func.func @chunks(
!t = tensor<1x4x4096x64xf32>
!w = tensor<256x128xf32>
!y = tensor<1x4096x128xf32>
func.func @chunks(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo"}) -> !y {
  %o = attn.kernel %q, %k, %v {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : !t, !t, !t -> !t
  %y = attn.project_output %o, %wo : !t, !w -> !y
  return %y : !y
}
