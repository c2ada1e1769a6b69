// RUN: attn-opt %s -verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// What a run goes on from, and leaves.
!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x16x8xf32>
!z = tensor<2x2x16xf32>
func.func @states(%q: !x, %p: tensor<2xi32>, %l: tensor<2xi32>, %s0: !s, %z0: !z, %m0: !z, %w: tensor<1x16x8xf32>) {
  // CHECK: attn.kernel {{.*}} initial(%{{.*}}, %{{.*}} : tensor<2x2x16x8xf32>, tensor<2x2x16xf32>) position(%{{.*}} : tensor<2xi32>) {{.*}}, final tensor<2x2x16x8xf32>, tensor<2x2x16xf32>
  %a, %s1, %z1 = attn.kernel %q, %q, %q initial(%s0, %z0 : !s, !z) position(%p : tensor<2xi32>)
      {causal, denominator = #attn.denominator<bias = 0.0, floor = 1.0e-06>, feature_map = #attn.feature_map<cosformer, max_position = 40>} : !x, !x, !x -> !x, final !s, !z
  // CHECK: attn.kernel {{.*}} initial(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x2x16x8xf32>, tensor<2x2x16xf32>, tensor<2x2x16xf32>) {{.*}}, final tensor<2x2x16x8xf32>, tensor<2x2x16xf32>, tensor<2x2x16xf32>
  %b, %s2, %z2, %m2 = attn.kernel %q, %q, %q parameter(%w : tensor<1x16x8xf32>) initial(%s0, %z0, %m0 : !s, !z, !z)
      {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = constant>} : !x, !x, !x -> !x, final !s, !z, !z
  // CHECK: attn.kernel {{.*}} initial(%{{.*}} : tensor<2x2x8x8xf32>) {{.*}}, final tensor<2x2x8x8xf32>
  %s3 = tensor.empty() : tensor<2x2x8x8xf32>
  %c, %s4 = attn.kernel %q, %q, %q initial(%s3 : tensor<2x2x8x8xf32>) {causal, denominator = #attn.denominator<none>, feature_map = #attn.feature_map<identity, scale = 1.0>} : !x, !x, !x -> !x, final tensor<2x2x8x8xf32>
  // CHECK: attn.map {{.*}} position(%{{.*}} : tensor<2xi32>)
  %f = attn.map %q position(%p : tensor<2xi32>) {feature_map = #attn.feature_map<cosformer, max_position = 40>} : !x -> tensor<2x2x12x16xf32>
  // CHECK: attn.causal_readout {{.*}} initial(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} -> {{.*}}, tensor<2x2x16x8xf32>, tensor<2x2x16xf32>, tensor<2x2x16xf32>
  %num, %den, %s5, %z5, %m5 = attn.causal_readout %f, %f, %q initial(%s0, %z0, %m0 : !s, !z, !z)
      : tensor<2x2x12x16xf32>, tensor<2x2x12x16xf32>, !x -> !x, tensor<2x2x12xf32>, !s, !z, !z
  // CHECK: attn.rope {{.*}} aligned(%{{.*}} : tensor<2xi32>)
  %r = attn.rope %q aligned(%p : tensor<2xi32>) {base = 1.000000e+04 : f64} : !x -> !x
  return
}

// The state of sketches, and the block of exact weights that is not full.
!i = tensor<2x4xi32>
!sq = tensor<2x2x16x8xf32>
!zq = tensor<2x2x16xf32>
!h = tensor<2x2x5x8xf32>
func.func @sketched(%q: !x, %s: tensor<2x8xf32>, %t: tensor<2x4xf32>, %i: !i, %p: tensor<2xi32>, %s0: !sq, %z0: !zq, %c0: tensor<2x2xf32>, %h: !h) {
  // CHECK: attn.polysketch {{.*}} initial(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x2x16x8xf32>, tensor<2x2x16xf32>, tensor<2x2xf32>)
  // CHECK-SAME: held(%{{.*}}, %{{.*}} : tensor<2x2x5x8xf32>, tensor<2x2x5x8xf32>) position(%{{.*}} : tensor<2xi32>)
  // CHECK-SAME: -> tensor<2x2x12x8xf32>, final tensor<2x2x16x8xf32>, tensor<2x2x16xf32>, tensor<2x2xf32> held tensor<2x2x5x8xf32>, tensor<2x2x5x8xf32>
  %a, %s1, %z1, %c1, %k1, %v1 = attn.polysketch %q, %q, %q signs(%s, %s, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i, %i, %i, %i : !i, !i, !i, !i) initial(%s0, %z0, %c0 : !sq, !zq, tensor<2x2xf32>) held(%h, %h : !h, !h) position(%p : tensor<2xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, local_exact = 5 : i64, scale = 1.0 : f64, size = 4 : i64}
      : !x, !x, !x -> !x, final !sq, !zq, tensor<2x2xf32> held !h, !h
  // CHECK: attn.polysketch {{.*}} -> tensor<2x2x12x8xf32>, final tensor<2x2x16x8xf32>, tensor<2x2x16xf32>, tensor<2x2xf32>{{$}}
  %b, %s2, %z2, %c2 = attn.polysketch %q, %q, %q signs(%s, %s, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i, %i, %i, %i : !i, !i, !i, !i)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 4 : i64}
      : !x, !x, !x -> !x, final !sq, !zq, tensor<2x2xf32>
  return
}

// The example of the op's description.
func.func @described(%k: tensor<2x4x200x64xbf16>, %x: tensor<2x200x64xbf16>, %p0: tensor<2xi32>, %l: tensor<2xi32>) {
  // CHECK: attn.advance %{{.*}} position(%{{.*}} : tensor<2xi32>) lengths(%{{.*}} : tensor<2xi32>) : tensor<2x4x200x64xbf16> -> tensor<2xi32>
  %p = attn.advance %k position(%p0 : tensor<2xi32>) lengths(%l : tensor<2xi32>) : tensor<2x4x200x64xbf16> -> tensor<2xi32>
  // CHECK: attn.advance %{{.*}} : tensor<2x200x64xbf16> -> tensor<2xi32>
  %p1 = attn.advance %x : tensor<2x200x64xbf16> -> tensor<2xi32>
  return
}

// A state as it is, and tokens in the blocks that runs share.
func.func @blocks(%s0: tensor<2x4x256x32xf32>, %z0: tensor<2x4x256xf32>, %c: tensor<2x4xf32>, %x: tensor<2x4x200x64xf32>, %held: tensor<2x4x32x64xf32>, %p: tensor<2xi32>, %l: tensor<2xi32>) {
  // CHECK: attn.true_state(%{{.*}}, %{{.*}}) scale(%{{.*}}) : tensor<2x4x256x32xf32>, tensor<2x4x256xf32>, tensor<2x4xf32>
  %s, %z = attn.true_state (%s0, %z0) scale(%c) : tensor<2x4x256x32xf32>, tensor<2x4x256xf32>, tensor<2x4xf32>
  // CHECK: attn.place_in_blocks run of 32, %{{.*}} position(%{{.*}} : tensor<2xi32>) lengths(%{{.*}} : tensor<2xi32>) : tensor<2x4x200x64xf32> -> tensor<2x4x232x64xf32>
  %all = attn.place_in_blocks run of 32, %x position(%p : tensor<2xi32>) lengths(%l : tensor<2xi32>) : tensor<2x4x200x64xf32> -> tensor<2x4x232x64xf32>
  // CHECK: attn.place_in_blocks held of 32, %{{.*}} position(%{{.*}} : tensor<2xi32>) like(%{{.*}} : tensor<2x4x232x64xf32>) : tensor<2x4x32x64xf32> -> tensor<2x4x232x64xf32>
  %y = attn.place_in_blocks held of 32, %held position(%p : tensor<2xi32>) like(%all : tensor<2x4x232x64xf32>) : tensor<2x4x32x64xf32> -> tensor<2x4x232x64xf32>
  // CHECK: attn.take_from_blocks run of 32, %{{.*}} position(%{{.*}} : tensor<2xi32>) : tensor<2x4x232x64xf32> -> tensor<2x4x200x64xf32>
  %run = attn.take_from_blocks run of 32, %y position(%p : tensor<2xi32>) : tensor<2x4x232x64xf32> -> tensor<2x4x200x64xf32>
  // CHECK: attn.take_from_blocks whole of 32, %{{.*}} : tensor<2x4x232x64xf32> -> tensor<2x4x232x64xf32>
  %whole = attn.take_from_blocks whole of 32, %y : tensor<2x4x232x64xf32> -> tensor<2x4x232x64xf32>
  // CHECK: attn.take_from_blocks last of 32, %{{.*}} : tensor<2x4x232x64xf32> -> tensor<2x4x32x64xf32>
  %last = attn.take_from_blocks last of 32, %y : tensor<2x4x232x64xf32> -> tensor<2x4x32x64xf32>
  return
}

func.func @take_run(%y: tensor<2x4x232x64xf32>, %p: tensor<2xi32>) {
  // CHECK: attn.take_from_blocks run of 32
  %x = attn.take_from_blocks run of 32, %y position(%p : tensor<2xi32>) : tensor<2x4x232x64xf32> -> tensor<2x4x200x64xf32>
  return
}

func.func @place_held(%x: tensor<2x4x32x64xf32>, %p: tensor<2xi32>, %all: tensor<2x4x232x16xf32>) {
  // CHECK: attn.place_in_blocks held of 32
  %y = attn.place_in_blocks held of 32, %x position(%p : tensor<2xi32>) like(%all : tensor<2x4x232x16xf32>)
      : tensor<2x4x32x64xf32> -> tensor<2x4x232x64xf32>
  return
}
