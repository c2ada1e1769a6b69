// RUN: attn-opt %s -attn-select-rewrites="device=x86-64-avx512 save" | FileCheck %s 
// RUN: attn-opt %s -attn-select-rewrites="device=x86-64-avx512 save pin=save:all" | FileCheck %s 
// RUN: attn-opt %s -attn-select-rewrites="device=x86-64-avx512 save pin=save:none" | FileCheck %s --check-prefix=NONE
// RUN: attn-opt %s -attn-select-rewrites="device=x86-64-avx512" | FileCheck %s --check-prefix=NONE
// RUN: attn-opt %s -attn-select-rewrites="device=x86-64-avx512 save pin=save:2048" | FileCheck %s --check-prefix=ROOM
// RUN: attn-opt %s -attn-select-rewrites="device=x86-64-avx512 save saved=k,v" | FileCheck %s --check-prefix=GIVEN
// RUN: not attn-opt %s -attn-select-rewrites="device=x86-64-avx512 save pin=save:some" 2>&1 | FileCheck %s --check-prefix=WRONG

// WRONG: expected a number of bytes a token, or what a run leaves for its gradients (none, all) in the pin save, but got 'some'

// A layer's projections and its attention's output are stored, and left.
// CHECK-LABEL: func.func @layer(
// CHECK-SAME:    attn.name = "saved.q"
// CHECK-SAME:    attn.name = "saved.k"
// CHECK-SAME:    attn.name = "saved.v"
// CHECK-SAME:    attn.name = "saved.o"
// CHECK-SAME:    tensor<1x4x2048xf32> {attn.name = "saved.lse"}
// CHECK-SAME:    attn.saved = ["q", "k", "v", "o", "lse"]
// CHECK:         %[[Q:.*]] = attn.project %{{.*}} : tensor<1x2048x256xf32>, tensor<256x256xf32> -> tensor<1x4x2048x64xf32>
// CHECK:         %[[O:.*]], %[[LSE:.*]] = attn.softmax %[[Q]],
// CHECK:         %[[KEPT:.*]] = attn.keep %[[Q]] : tensor<1x4x2048x64xf32>
// CHECK:         %[[OUT:.*]] = attn.keep %[[O]] : tensor<1x4x2048x64xf32>
// CHECK:         return %{{.*}}, %[[KEPT]], %{{.*}}, %{{.*}}, %[[OUT]], %[[LSE]]
// NONE-LABEL:  func.func @layer(
// NONE-NOT:      saved.
// NONE-NOT:      attn.keep
// 2048 bytes a token have room for what takes the most time a byte to make again: the attention of long sequences.
// ROOM-LABEL:  func.func @layer(
// ROOM-SAME:     attn.saved = ["o", "lse"]
// GIVEN-LABEL: func.func @layer(
// GIVEN-SAME:    attn.name = "saved.k"
// GIVEN-SAME:    attn.saved = ["k", "v"]
func.func @layer(%x: tensor<1x2048x256xf32> {attn.name = "x"}, %wq: tensor<256x256xf32> {attn.name = "wq", attn.parameter},
                 %wk: tensor<256x256xf32> {attn.name = "wk", attn.parameter}, %wv: tensor<256x256xf32> {attn.name = "wv", attn.parameter},
                 %wo: tensor<256x256xf32> {attn.name = "wo", attn.parameter}) -> (tensor<1x2048x256xf32> {attn.name = "y"})
    attributes {attn.gradients = ["x", "wq", "wk", "wv", "wo"]} {
  %q = attn.project %x, %wq : tensor<1x2048x256xf32>, tensor<256x256xf32> -> tensor<1x4x2048x64xf32>
  %k = attn.project %x, %wk : tensor<1x2048x256xf32>, tensor<256x256xf32> -> tensor<1x4x2048x64xf32>
  %v = attn.project %x, %wv : tensor<1x2048x256xf32>, tensor<256x256xf32> -> tensor<1x4x2048x64xf32>
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64}
      : tensor<1x4x2048x64xf32>, tensor<1x4x2048x64xf32>, tensor<1x4x2048x64xf32> -> tensor<1x4x2048x64xf32>
  %y = attn.project_output %o, %wo : tensor<1x4x2048x64xf32>, tensor<256x256xf32> -> tensor<1x2048x256xf32>
  return %y : tensor<1x2048x256xf32>
}

// Of a wide model and few tokens it is projections that take the most time a byte.
// CHECK-LABEL: func.func @wide(
// CHECK-SAME:    attn.saved = ["q", "k", "v", "o", "lse"]
// NONE-LABEL:  func.func @wide(
// NONE-NOT:      saved.
// ROOM-LABEL:  func.func @wide(
// ROOM-SAME:     attn.saved = ["q", "k"]
func.func @wide(%x: tensor<32x128x1024xf32> {attn.name = "x"}, %wq: tensor<1024x256xf32> {attn.name = "wq", attn.parameter},
                %wk: tensor<1024x256xf32> {attn.name = "wk", attn.parameter}, %wv: tensor<1024x256xf32> {attn.name = "wv", attn.parameter},
                %wo: tensor<256x1024xf32> {attn.name = "wo", attn.parameter}) -> (tensor<32x128x1024xf32> {attn.name = "y"})
    attributes {attn.gradients = ["x", "wq", "wk", "wv", "wo"]} {
  %q = attn.project %x, %wq : tensor<32x128x1024xf32>, tensor<1024x256xf32> -> tensor<32x4x128x64xf32>
  %k = attn.project %x, %wk : tensor<32x128x1024xf32>, tensor<1024x256xf32> -> tensor<32x4x128x64xf32>
  %v = attn.project %x, %wv : tensor<32x128x1024xf32>, tensor<1024x256xf32> -> tensor<32x4x128x64xf32>
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64}
      : tensor<32x4x128x64xf32>, tensor<32x4x128x64xf32>, tensor<32x4x128x64xf32> -> tensor<32x4x128x64xf32>
  %y = attn.project_output %o, %wo : tensor<32x4x128x64xf32>, tensor<256x1024xf32> -> tensor<32x128x1024xf32>
  return %y : tensor<32x128x1024xf32>
}

// A projection in the load of its reader is stored nowhere: where it is to be left, it is made beside the rest, and only if a run asks for it.
// GIVEN-LABEL: func.func @fused(
// GIVEN:         attn.project %{{.*}}, %{{.*}} {execution = #attn.execution<values = fused>}
// GIVEN:         return
func.func @fused(%x: tensor<1x64x32xf32> {attn.name = "x"}, %wk: tensor<32x32xf32> {attn.name = "wk", attn.parameter}, %q: tensor<1x1x64x32xf32> {attn.name = "q"},
                 %v: tensor<1x1x64x32xf32> {attn.name = "v"}) -> (tensor<1x1x64x32xf32> {attn.name = "o"})
    attributes {attn.gradients = ["x"], attn.pin = {project = "fused"}} {
  %k = attn.project %x, %wk : tensor<1x64x32xf32>, tensor<32x32xf32> -> tensor<1x1x64x32xf32>
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64} : tensor<1x1x64x32xf32>, tensor<1x1x64x32xf32>, tensor<1x1x64x32xf32> -> tensor<1x1x64x32xf32>
  return %o : tensor<1x1x64x32xf32>
}

// Without a mask the state of keys is left, which the plan's kernel has anyway.
// CHECK-LABEL: func.func @numbers(
// CHECK-SAME:    tensor<1x4x64x64xf32> {attn.name = "saved.state"}, tensor<1x4x64xf32> {attn.name = "saved.sum"}
// CHECK-SAME:    attn.saved = ["state", "sum"]
// CHECK:         %[[S:.*]], %[[Z:.*]] = attn.state
// CHECK:         attn.readout %{{.*}}, %[[S]], %[[Z]] {execution = #attn.execution<values = fused>}
// CHECK:         %[[LEFT:.*]] = attn.keep %[[S]] : tensor<1x4x64x64xf32>
// CHECK:         %[[SUMS:.*]] = attn.keep %[[Z]] : tensor<1x4x64xf32>
// CHECK:         return %{{.*}}, %[[LEFT]], %[[SUMS]]
// NONE-LABEL:  func.func @numbers(
// NONE-NOT:      attn.keep
func.func @numbers(%q: tensor<1x4x4096x64xf32> {attn.name = "q"}, %k: tensor<1x4x4096x64xf32> {attn.name = "k"}, %v: tensor<1x4x4096x64xf32> {attn.name = "v"})
    -> (tensor<1x4x4096x64xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x4x4096x64xf32>, tensor<1x4x4096x64xf32>, tensor<1x4x4096x64xf32> -> tensor<1x4x4096x64xf32>
  return %o : tensor<1x4x4096x64xf32>
}

// Features that are exponents take the units that gradients read them in.
// CHECK-LABEL: func.func @exponents(
// CHECK-SAME:    attn.saved = ["state", "sum", "maximum"]
// CHECK:         %[[M:.*]] = attn.key_maximum %arg1
// CHECK:         attn.map %arg0 {{.*}} shift(%[[M]] :
// CHECK:         %[[B:.*]] = attn.map %arg1 {{.*}} shift(%[[M]] :
// CHECK:         %[[S:.*]], %[[Z:.*]] = attn.state %[[B]]
// CHECK:         attn.keep %[[S]]
// CHECK:         attn.keep %[[Z]]
// CHECK:         attn.keep %[[M]]
// NONE-LABEL:  func.func @exponents(
// NONE-NOT:      shift
func.func @exponents(%q: tensor<1x4x4096x64xf32> {attn.name = "q"}, %k: tensor<1x4x4096x64xf32> {attn.name = "k"}, %v: tensor<1x4x4096x64xf32> {attn.name = "v"},
                     %omega: tensor<1x128x64xf32> {attn.name = "omega", attn.parameter})
    -> (tensor<1x4x4096x64xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %o = attn.kernel %q, %k, %v parameter(%omega : tensor<1x128x64xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>,
       feature_map = #attn.feature_map<favor, features = 128, epsilon = 0.0, scale = 0.125, stabilizer = constant>}
      : tensor<1x4x4096x64xf32>, tensor<1x4x4096x64xf32>, tensor<1x4x4096x64xf32> -> tensor<1x4x4096x64xf32>
  return %o : tensor<1x4x4096x64xf32>
}

// Epsilon is added to features: whatever units a plan takes, gradients have others.
// CHECK-LABEL: func.func @not_alone(
// CHECK-NOT:     saved.state
func.func @not_alone(%q: tensor<1x4x4096x64xf32> {attn.name = "q"}, %k: tensor<1x4x4096x64xf32> {attn.name = "k"}, %v: tensor<1x4x4096x64xf32> {attn.name = "v"},
                   %omega: tensor<1x128x64xf32> {attn.name = "omega", attn.parameter})
    -> (tensor<1x4x4096x64xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %o = attn.kernel %q, %k, %v parameter(%omega : tensor<1x128x64xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>,
       feature_map = #attn.feature_map<favor, features = 128, epsilon = 0.001, scale = 0.125, stabilizer = constant>}
      : tensor<1x4x4096x64xf32>, tensor<1x4x4096x64xf32>, tensor<1x4x4096x64xf32> -> tensor<1x4x4096x64xf32>
  return %o : tensor<1x4x4096x64xf32>
}
