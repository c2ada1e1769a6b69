// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// Masks and logits of decoders.
func.func @masks(%q: tensor<2x8x48x64xf32>, %k: tensor<2x2x80x64xf32>, %m: tensor<8xf32>, %l: tensor<2xi32>) {
  // CHECK: attn.softmax {{.*}} slopes(%{{.*}} : tensor<8xf32>) {causal, last = 32 : i64, scale = 1.000000e+00 : f64, softcap = 5.000000e+01 : f64} :
  %a = attn.softmax %q, %k, %k slopes(%m : tensor<8xf32>) {causal, last = 32 : i64, scale = 1.0 : f64, softcap = 50.0 : f64}
      : tensor<2x8x48x64xf32>, tensor<2x2x80x64xf32>, tensor<2x2x80x64xf32> -> tensor<2x8x48x64xf32>
  // CHECK: attn.softmax {{.*}} lengths(%{{.*}} : tensor<2xi32>) slopes(%{{.*}} : tensor<8xf32>) {{.*}}, lse tensor<2x8x48xf32>
  %b, %lse = attn.softmax %q, %k, %k lengths(%l : tensor<2xi32>) slopes(%m : tensor<8xf32>) {scale = 1.0 : f64}
      : tensor<2x8x48x64xf32>, tensor<2x2x80x64xf32>, tensor<2x2x80x64xf32> -> tensor<2x8x48x64xf32>, lse tensor<2x8x48xf32>
  // CHECK: attn.softmax_partial {{.*}} slopes({{.*}}last = 3 : i64{{.*}}softcap = 2.000000e+00 : f64
  %x, %y, %z = attn.softmax_partial %q, %k, %k slopes(%m : tensor<8xf32>) {causal, last = 3 : i64, piece = 0 : i64, pieces = 2 : i64, scale = 1.0 : f64, softcap = 2.0 : f64}
      : tensor<2x8x48x64xf32>, tensor<2x2x80x64xf32>, tensor<2x2x80x64xf32> -> tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
  // CHECK: attn.polynomial {{.*}}last = 7 : i64
  %p = attn.polynomial %q, %k, %k {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.0, floor = 0.0>, last = 7 : i64, scale = 1.0 : f64}
      : tensor<2x8x48x64xf32>, tensor<2x2x80x64xf32>, tensor<2x2x80x64xf32> -> tensor<2x8x48x64xf32>
  return
}

// The example of the op's description.
func.func @described(%q: tensor<2x8x48x64xbf16>, %k: tensor<2x2x80x64xbf16>, %v: tensor<2x2x80x64xbf16>, %m: tensor<8xf32>) {
  // CHECK: attn.softmax
  %o = attn.softmax %q, %k, %v {causal, scale = 1.250000e-01 : f64}
        : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x64xbf16>
  // CHECK: attn.softmax {{.*}}last = 32
  %p = attn.softmax %q, %k, %v slopes(%m : tensor<8xf32>) {causal, last = 32 : i64, scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64}
        : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x64xbf16>
  return
}

func.func @visible(%w: tensor<2x8x48x48xf32>) {
  // CHECK: attn.visible %{{.*}} {causal, last = 5 : i64}
  %v = attn.visible %w {causal, last = 5 : i64} : tensor<2x8x48x48xf32>
  return
}
