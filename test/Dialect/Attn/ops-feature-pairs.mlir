// Attention over given features and its gradients: what is printed is read again, in bytecode too.
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s -emit-bytecode | attn-opt | FileCheck %s

func.func @pairs(%a: tensor<2x4x48x64xf32>, %b: tensor<2x2x48x64xf32>, %v: tensor<2x2x48x32xbf16>, %g: tensor<2x4x48x32xf32>, %s: tensor<2x4x48xf32>,
                 %n: tensor<2xi32>) {
  // CHECK: attn.feature_attention %{{.*}}, %{{.*}}, %{{.*}} {causal, guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, window = #attn.window<8>} :
  %o, %l = attn.feature_attention %a, %b, %v {causal, guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, window = #attn.window<8>}
      : tensor<2x4x48x64xf32>, tensor<2x2x48x64xf32>, tensor<2x2x48x32xbf16> -> tensor<2x4x48x32xf32>, tensor<2x4x48xf32>
  // CHECK: attn.feature_query_gradient {{.*}} lse(%{{.*}} : tensor<2x4x48xf32>) cotangents(%{{.*}}, %{{.*}} : tensor<2x4x48x32xf32>, tensor<2x4x48xf32>) {causal, window = #attn.window<8>} :
  %x = attn.feature_query_gradient %a, %b, %v lse(%l : tensor<2x4x48xf32>) cotangents(%g, %s : tensor<2x4x48x32xf32>, tensor<2x4x48xf32>)
      {causal, window = #attn.window<8>} : tensor<2x4x48x64xf32>, tensor<2x2x48x64xf32>, tensor<2x2x48x32xbf16> -> tensor<2x4x48x64xf32>
  // CHECK: attn.feature_key_gradients {{.*}} {causal, window = #attn.window<8>} : {{.*}} -> tensor<2x4x48x64xf32>, tensor<2x4x48x32xf32>
  %y, %z = attn.feature_key_gradients %a, %b, %v lse(%l : tensor<2x4x48xf32>) cotangents(%g, %s : tensor<2x4x48x32xf32>, tensor<2x4x48xf32>)
      {causal, window = #attn.window<8>} : tensor<2x4x48x64xf32>, tensor<2x2x48x64xf32>, tensor<2x2x48x32xbf16>
      -> tensor<2x4x48x64xf32>, tensor<2x4x48x32xf32>
  // CHECK: attn.feature_attention {{.*}} lengths(%{{.*}} : tensor<2xi32>) {guard = #attn.denominator<bias = 5.000000e-01, floor = 2.500000e-01>} :
  %p, %m = attn.feature_attention %a, %b, %v lengths(%n : tensor<2xi32>) {guard = #attn.denominator<bias = 0.5, floor = 0.25>}
      : tensor<2x4x48x64xf32>, tensor<2x2x48x64xf32>, tensor<2x2x48x32xbf16> -> tensor<2x4x48x32xf32>, tensor<2x4x48xf32>
  // CHECK: attn.denominator_gradient {{.*}} {guard = #attn.denominator<bias = 5.000000e-01, floor = 2.500000e-01>, logarithms} : tensor<2x4x48xf32>
  %d = attn.denominator_gradient %s, %m {guard = #attn.denominator<bias = 0.5, floor = 0.25>, logarithms} : tensor<2x4x48xf32>
  return
}
