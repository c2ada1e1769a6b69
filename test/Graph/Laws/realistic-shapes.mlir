// Layers as models have them, on the devices that they run on: where each choice wins, and a shape where it does not.
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=cpu --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=h100-sxm --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GPU

#none = #attn.denominator<bias = 0.0, floor = 0.0>
#elu1 = #attn.feature_map<elu1>

// I1: eight heads of 64 over 4,096 tokens, an encoder's batch: the state, which a kernel of each head keeps.
// CHECK: Remark="linearize: took the fused_state form
// GPU:   Remark="linearize: took the fused_state form
!i1 = tensor<8x8x4096x64xf16>
func.func @encoder(%q: !i1, %k: !i1, %v: !i1) -> !i1 {
  %o = attn.kernel %q, %k, %v {denominator = #none, feature_map = #elu1} : !i1, !i1, !i1 -> !i1
  return %o : !i1
}

// -----

// ... and over the 49 tokens of a patch: the pairs themselves.
// CHECK: Remark="linearize: took the quadratic form
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#elu1 = #attn.feature_map<elu1>
!patch = tensor<64x8x49x64xf32>
func.func @patch(%q: !patch, %k: !patch, %v: !patch) -> !patch {
  %o = attn.kernel %q, %k, %v {denominator = #none, feature_map = #elu1} : !patch, !patch, !patch -> !patch
  return %o : !patch
}

// -----

// I3, I4: Linformer's layer, D = 512 and 8 heads over 4,096 tokens, to 256 slots by one E.
// CHECK: Remark="low_rank of wk: took the compress_first form
// CHECK: Remark="low_rank of wv: took the compress_first form
// GPU:   Remark="low_rank of wk: took the compress_first form
// GPU:   Remark="low_rank of wv: took the compress_first form
!x = tensor<1x4096x512xf32>
!w = tensor<512x512xf32>
!t = tensor<1x8x4096x64xf32>
!s = tensor<1x8x256x64xf32>
!e = tensor<1x256x4096xf32>
func.func @linformer(%x: !x, %wq: !w {attn.name = "wq", attn.parameter}, %wk: !w {attn.name = "wk", attn.parameter},
                     %wv: !w {attn.name = "wv", attn.parameter}, %e: !e {attn.name = "e", attn.parameter}) -> !t {
  %q = attn.project %x, %wq : !x, !w -> !t
  %k = attn.project %x, %wk : !x, !w -> !t
  %v = attn.project %x, %wv : !x, !w -> !t
  %ks = attn.compress %k, %e : !t, !e -> !s
  %vs = attn.compress %v, %e : !t, !e -> !s
  %o = attn.softmax %q, %ks, %vs {scale = 0.125 : f64} : !t, !s, !s -> !t
  return %o : !t
}

// -----

// I5: a narrow layer, D = 192 and 3 heads (as DeiT-Ti has), with 48 positive features a head.
// CHECK: Remark="fold of wq: took the folded form
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!x = tensor<64x196x192xf32>
!w = tensor<192x192xf32>
!t = tensor<64x3x196x64xf32>
!om = tensor<1x48x64xf32>
func.func @narrow(%x: !x, %wq: !w {attn.name = "wq", attn.parameter}, %wk: !w {attn.name = "wk", attn.parameter},
                  %wv: !w {attn.name = "wv", attn.parameter}, %omega: !om {attn.name = "omega", attn.parameter}) -> !t {
  %q = attn.project %x, %wq : !x, !w -> !t
  %k = attn.project %x, %wk : !x, !w -> !t
  %v = attn.project %x, %wv : !x, !w -> !t
  %o = attn.kernel %q, %k, %v parameter(%omega : !om)
      {denominator = #none, feature_map = #attn.feature_map<favor_relu, features = 48, epsilon = 0.0>} : !t, !t, !t -> !t
  return %o : !t
}

// -----

// I10: a decoder's 16,384 tokens.
// CHECK: Remark="linearize: took the chunked form
// GPU:   Remark="linearize: took the split form
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!d = tensor<1x16x16384x64xf16>
func.func @decoder(%q: !d, %k: !d, %v: !d) -> !d {
  %o = attn.kernel %q, %k, %v {causal, denominator = #none, feature_map = #attn.feature_map<elu1>} : !d, !d, !d -> !d
  return %o : !d
}

// -----

// I15: 32 query heads of 128 on 8 key-value heads, a batch of 8: groups enough for every core of a CPU, and half as many as a GPU
// has multiprocessors, for which their chunks are cut.
// CHECK: Remark="linearize: took the grouped form
// CHECK: Remark="keys of grouped: took the in_order form
// GPU:   Remark="linearize: took the grouped form
// GPU:   Remark="keys of grouped: took the split form
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!gq = tensor<8x32x4096x128xf32>
!gk = tensor<8x8x4096x128xf32>
func.func @groups(%q: !gq, %k: !gk, %v: !gk) -> !gq {
  %o = attn.kernel %q, %k, %v {causal, denominator = #none, feature_map = #attn.feature_map<elu1>} : !gq, !gk, !gk -> !gq
  return %o : !gq
}

// -----

// S2: Swin-T's first stage, 56 x 56 tokens of 3 heads of 32 in windows of 7 x 7, D = 96: heads are not stored.
// CHECK: Remark="project_out of wo: took the epilogue form
// GPU:   Remark="project_out of wo: took the materialized form
!t = tensor<1x3x3136x32xf32>
!w = tensor<96x96xf32>
!y = tensor<1x3136x96xf32>
func.func @swin(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo", attn.parameter}) -> !y {
  %o = attn.softmax %q, %k, %v {scale = 0.17677669529663687 : f64, window = #attn.window<7x7 of 56x56>} : !t, !t, !t -> !t
  %y = attn.project_output %o, %wo : !t, !w -> !y
  return %y : !y
}

// -----

// ... and one short sequence, whose heads two cores share.
// CHECK: Remark="project_out of wo: took the materialized form
!t = tensor<1x12x64x64xf32>
!w = tensor<768x768xf32>
!y = tensor<1x64x768xf32>
func.func @sentence(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo", attn.parameter}) -> !y {
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !t, !t, !t -> !t
  %y = attn.project_output %o, %wo : !t, !w -> !y
  return %y : !y
}
