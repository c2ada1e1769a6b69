// RUN: attn-opt %s -verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// The examples of the ops' descriptions.
func.func @entries(%a: tensor<2x4x200x64xf32>, %b: tensor<2x4x200x64xf32>, %x: tensor<2x4x200x64xf32>, %w: tensor<2x4x200x200xf32>,
                   %x1: tensor<2x4x200x200xf32>, %z: tensor<2x4x200xf32>, %p: tensor<2x4x200x100xf32>) {
  // CHECK: attn.add %{{.*}}, %{{.*}} : tensor<2x4x200x64xf32>
  %s = attn.add %a, %b : tensor<2x4x200x64xf32>
  // CHECK: attn.scale %{{.*}} {factor = 1.250000e-01 : f64} : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xbf16>
  %y = attn.scale %x {factor = 1.250000e-01 : f64} : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xbf16>
  // CHECK: attn.spread %{{.*}}[batch, head, query] like %{{.*}}[batch, head, query, key] : tensor<2x4x200xf32>, tensor<2x4x200x100xf32> -> tensor<2x4x200x100xf32>
  %w1 = attn.spread %z[batch, head, query] like %p[batch, head, query, key]
      : tensor<2x4x200xf32>, tensor<2x4x200x100xf32> -> tensor<2x4x200x100xf32>
  return
}

func.func @products(%w: tensor<2x4x200x200xf32>, %x: tensor<2x4x200x200xf32>) {
  // CHECK: attn.multiply %{{.*}}, %{{.*}} : tensor<2x4x200x200xf32>, tensor<2x4x200x200xf32> -> tensor<2x4x200x200xf32>
  %y = attn.multiply %w, %x : tensor<2x4x200x200xf32>, tensor<2x4x200x200xf32> -> tensor<2x4x200x200xf32>
  // CHECK: attn.decay_sums %{{.*}} : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
  %g = attn.decay_sums %w : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
  // CHECK: attn.decay_sums %{{.*}} : tensor<2x4x200x200xf32> -> tensor<2xf32>
  %g1 = attn.decay_sums %w : tensor<2x4x200x200xf32> -> tensor<2xf32>
  return
}

func.func @heads(%x: tensor<2x8x200x64xf32>, %e: tensor<4x32x200xf32>, %y: tensor<1x2x196x32xf32>, %k: tensor<2x4x200x64xbf16>, %l: tensor<2xi32>) {
  // CHECK: attn.sum_heads %{{.*}} : tensor<2x8x200x64xf32> -> tensor<2x2x200x64xf32>
  %g = attn.sum_heads %x : tensor<2x8x200x64xf32> -> tensor<2x2x200x64xf32>
  // CHECK: attn.sum_heads %{{.*}} {parameter} : tensor<4x32x200xf32> -> tensor<1x32x200xf32>
  %e1 = attn.sum_heads %e {parameter} : tensor<4x32x200xf32> -> tensor<1x32x200xf32>
  // CHECK: attn.place_heads %{{.*}} {first = 2 : i64} : tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
  %x1 = attn.place_heads %y {first = 2 : i64} : tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
  // CHECK: attn.existing %{{.*}} lengths(%{{.*}} : tensor<2xi32>) : tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xf32>
  %x2 = attn.existing %k lengths(%l : tensor<2xi32>) : tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xf32>
  return
}

func.func @pool(%y: tensor<2x4x16x64xf32>, %q: tensor<2x4x128x64xf32>) {
  // CHECK: attn.unpool %{{.*}} like %{{.*}} : tensor<2x4x16x64xf32>, tensor<2x4x128x64xf32> -> tensor<2x4x128x64xf32>
  %x = attn.unpool %y like %q : tensor<2x4x16x64xf32>, tensor<2x4x128x64xf32> -> tensor<2x4x128x64xf32>
  return
}

func.func @softmax(%q: tensor<2x8x48x64xbf16>, %k: tensor<2x2x80x64xbf16>, %l: tensor<2x8x48xf32>, %w: tensor<2x8x48x80xf32>, %x: tensor<2x8x48x80xf32>) {
  // CHECK: attn.softmax_weights %{{.*}}, %{{.*}} lse(%{{.*}} : tensor<2x8x48xf32>) {causal, scale = 1.250000e-01 : f64} : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x80xf32>
  %p = attn.softmax_weights %q, %k lse(%l : tensor<2x8x48xf32>) {causal, scale = 1.250000e-01 : f64}
      : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x80xf32>
  // CHECK: attn.softcap_gradient %{{.*}}, %{{.*}} {scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64} : tensor<2x8x48x80xf32>
  %s = attn.softcap_gradient %w, %x {scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64} : tensor<2x8x48x80xf32>
  // CHECK: attn.distance_sums %{{.*}} : tensor<2x8x48x80xf32> -> tensor<8xf32>
  %d = attn.distance_sums %w : tensor<2x8x48x80xf32> -> tensor<8xf32>
  return
}

func.func @saved(%given: tensor<2x4x200xf32>, %sums: tensor<2x4x200xf32>) {
  // CHECK: attn.saved %{{.*}} else %{{.*}} : tensor<2x4x200xf32>
  %lse = attn.saved %given else %sums : tensor<2x4x200xf32>
  return
}

func.func @keep(%x: tensor<2x200x64xf32>, %w: tensor<64x128xf32>) -> tensor<2x4x200x32xf32> {
  %q = attn.project %x, %w : tensor<2x200x64xf32>, tensor<64x128xf32> -> tensor<2x4x200x32xf32>
  // CHECK: attn.keep %{{.*}} : tensor<2x4x200x32xf32>
  %left = attn.keep %q : tensor<2x4x200x32xf32>
  return %left : tensor<2x4x200x32xf32>
}

func.func @blocks(%w: tensor<2x4x128x128xf32>) {
  // CHECK: attn.only_blocks %{{.*}} {block = 32 : i64, outside} : tensor<2x4x128x128xf32>
  %d = attn.only_blocks %w {block = 32 : i64, outside} : tensor<2x4x128x128xf32>
  return
}

func.func @quotients(%d: tensor<2x4x200xf32>, %den: tensor<2x4x200xf32>) {
  // CHECK: attn.denominator_gradient %{{.*}}, %{{.*}} {guard = #attn.denominator<bias = 0.000000e+00, floor = {{.*}}>} : tensor<2x4x200xf32>
  %z = attn.denominator_gradient %d, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 1.000000e-06>} : tensor<2x4x200xf32>
  return
}

func.func @map(%k: tensor<2x4x200x64xbf16>, %c: tensor<2x4x200x64xf32>, %l: tensor<2xi32>) {
  // CHECK: attn.map_gradient %{{.*}}, %{{.*}} lengths(%{{.*}} : tensor<2xi32>) {feature_map = #attn.feature_map<elu1>} : tensor<2x4x200x64xbf16>, tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
  %x = attn.map_gradient %k, %c lengths(%l : tensor<2xi32>) {feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x200x64xbf16>, tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
  return
}

func.func @omega(%k: tensor<2x4x200x64xf32>, %c: tensor<2x4x200x96xf32>, %p: tensor<4x96x64xf32>) {
  // CHECK: attn.map_parameter_gradient %{{.*}}, %{{.*}} parameter(%{{.*}} : tensor<4x96x64xf32>) {{.*}} : tensor<2x4x200x64xf32>, tensor<2x4x200x96xf32> -> tensor<4x96x64xf32>
  %w = attn.map_parameter_gradient %k, %c parameter(%p : tensor<4x96x64xf32>) {feature_map = #attn.feature_map<favor, features = 96, epsilon = 0.000000e+00, scale = 1.250000e-01, stabilizer = constant>, keys}
      : tensor<2x4x200x64xf32>, tensor<2x4x200x96xf32> -> tensor<4x96x64xf32>
  return
}

func.func @readout(%a: tensor<2x4x200x64xf32>, %b: tensor<2x4x200x64xf32>, %v: tensor<2x4x200x32xbf16>, %n: tensor<2x4x200x32xf32>,
                   %s: tensor<2x4x64x32xf32>, %z: tensor<2x4x64xf32>, %g: tensor<2x4x200xf32>) {
  // CHECK: attn.causal_readout_gradient %{{.*}}, %{{.*}}, %{{.*}} cotangents(numerator %{{.*}} : tensor<2x4x200x32xf32>) : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32>
  %a1, %b1, %v1 = attn.causal_readout_gradient %a, %b, %v cotangents(numerator %n : tensor<2x4x200x32xf32>)
      : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16>
      -> tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32>
  // CHECK: attn.causal_readout_gradient %{{.*}}, %{{.*}}, %{{.*}} cotangents(numerator %{{.*}} : tensor<2x4x200x32xf32>) {guard = #attn.denominator<bias = 0.000000e+00, floor = 5.000000e-01>} :
  %a3, %b3, %v3 = attn.causal_readout_gradient %a, %b, %v cotangents(numerator %n : tensor<2x4x200x32xf32>) {guard = #attn.denominator<bias = 0.0, floor = 0.5>}
      : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16>
      -> tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32>
  // CHECK: attn.causal_readout_gradient {{.*}} {execution = #attn.execution<split = true>} :
  %a4, %b4, %v4 = attn.causal_readout_gradient %a, %b, %v cotangents(numerator %n : tensor<2x4x200x32xf32>) {execution = #attn.execution<split = true>}
      : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16>
      -> tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32>
  // CHECK: attn.causal_readout_gradient {{.*}} initial(%{{.*}}, %{{.*}} : tensor<2x4x64x32xf32>, tensor<2x4x64xf32>) decay(%{{.*}} : tensor<2x4x200xf32>) erase(%{{.*}} : tensor<2x4x200xf32>) cotangents({{ *}}state %{{.*}} : tensor<2x4x64x32xf32> sum %{{.*}} : tensor<2x4x64xf32>) written(%{{.*}} : tensor<2x4x200x32xf32>) {{.*}} state(tensor<2x4x64x32xf32>) sum(tensor<2x4x64xf32>) decay(tensor<2x4x200xf32>) erase(tensor<2x4x200xf32>)
  %a2, %b2, %v2, %s2, %z2, %g2, %e2 = attn.causal_readout_gradient %a, %b, %v initial(%s, %z : tensor<2x4x64x32xf32>, tensor<2x4x64xf32>)
      decay(%g : tensor<2x4x200xf32>) erase(%g : tensor<2x4x200xf32>) cotangents(state %s : tensor<2x4x64x32xf32> sum %z : tensor<2x4x64xf32>)
      written(%n : tensor<2x4x200x32xf32>) : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16>
      -> tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32> state(tensor<2x4x64x32xf32>) sum(tensor<2x4x64xf32>)
         decay(tensor<2x4x200xf32>) erase(tensor<2x4x200xf32>)
  return
}

func.func @shares(%q: tensor<2x4x200x64xf32>, %v: tensor<2x4x200x32xf32>, %p: tensor<4x64xf32>, %w: tensor<2x4x200xf32>) {
  %a = attn.map %q parameter(%p : tensor<4x64xf32>) {feature_map = #attn.feature_map<focused, epsilon = 1.0, power = 9.0>} : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
  // CHECK: attn.causal_readout_gradient %{{.*}}, %{{.*}}, %{{.*}} write(%{{.*}} : tensor<2x4x200xf32>) cotangents({{.*}}) {guard = {{.*}}, logarithms} : {{.*}} write(tensor<2x4x200xf32>)
  %a1, %b1, %v1, %w1 = attn.causal_readout_gradient %a, %a, %v write(%w : tensor<2x4x200xf32>) cotangents(numerator %v : tensor<2x4x200x32xf32>)
      {guard = #attn.denominator<bias = 0.0, floor = 0.0>, logarithms}
      : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32>
      -> tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32> write(tensor<2x4x200xf32>)
  return
}

func.func @sketch(%k: tensor<2x2x200x64xf32>, %c: tensor<2x4x200x32xf32>, %s0: tensor<4x64xf32>, %s1: tensor<4x64xf32>, %sa: tensor<4x32xf32>, %sb: tensor<4x32xf32>,
                  %i0: tensor<4x32xi32>, %i1: tensor<4x32xi32>, %ia: tensor<4x32xi32>, %ib: tensor<4x32xi32>) {
  // CHECK: attn.sketch_gradient %{{.*}}, %{{.*}} signs({{.*}}) indices({{.*}}) {scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x2x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x64xf32>
  %x = attn.sketch_gradient %k, %c signs(%s0, %s1, %sa, %sb : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
      indices(%i0, %i1, %ia, %ib : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>)
      {scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x2x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x64xf32>
  return
}

func.func @eva(%q: tensor<1x2x128x64xf32>, %k: tensor<1x2x128x64xf32>, %v: tensor<1x2x128x64xf32>, %c: tensor<1x2x128x64xf32>,
               %mean: tensor<1x2x16x64xf32>, %beta: tensor<1x2x16x64xf32>, %w: tensor<1x2x16xf32>, %m: tensor<1x2x16x64xf32>, %b: tensor<1x2x16x64xf32>,
               %o: tensor<1x2x128x64xf32>, %l: tensor<1x2x128xf32>) {
  // CHECK: attn.eva {{.*}} -> tensor<1x2x128x64xf32>, lse tensor<1x2x128xf32>
  %e, %s = attn.eva %q, %k, %v {chunk = 8 : i64, local = 32 : i64, mu_weight = 1.0 : f64, scale = 1.250000e-01 : f64}
      : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x128x64xf32>, lse tensor<1x2x128xf32>
  // CHECK: attn.eva_mix {{.*}} -> tensor<1x2x128x64xf32>, lse tensor<1x2x128xf32>
  %x, %y = attn.eva_mix %q, %k, %v summaries(%mean, %beta, %w : tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16xf32>)
      {chunk = 8 : i64, local = 32 : i64, scale = 1.250000e-01 : f64}
      : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x128x64xf32>, lse tensor<1x2x128xf32>
  // CHECK: attn.eva_mix_gradient %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} of(%{{.*}}, %{{.*}} : {{.*}}) summaries({{.*}}) {chunk = 8 : i64, local = 32 : i64, scale = 1.250000e-01 : f64}
  %q1, %k1, %v1, %m1, %b1 = attn.eva_mix_gradient %q, %k, %v, %c of(%o, %l : tensor<1x2x128x64xf32>, tensor<1x2x128xf32>)
      summaries(%mean, %beta, %w : tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16xf32>)
      {chunk = 8 : i64, local = 32 : i64, scale = 1.250000e-01 : f64}
      : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>
      -> tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>
  // CHECK: attn.eva_summaries_gradient %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {chunk = 8 : i64, mu_weight = 5.000000e-01 : f64, scale = 1.250000e-01 : f64}
  %q2, %k2, %v2 = attn.eva_summaries_gradient %q, %k, %v, %m, %b {chunk = 8 : i64, mu_weight = 5.000000e-01 : f64, scale = 1.250000e-01 : f64}
      : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>
      -> tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>
  return
}

func.func @projections(%w: tensor<256x128xbf16>, %c: tensor<2x8x96x32xf32>, %x: tensor<2x96x256xf32>, %y: tensor<2x96x256xf32>) {
  // CHECK: attn.transpose %{{.*}} : tensor<256x128xbf16> -> tensor<128x256xbf16>
  %t = attn.transpose %w : tensor<256x128xbf16> -> tensor<128x256xbf16>
  // CHECK: attn.weight_gradient %{{.*}}, %{{.*}} : tensor<2x8x96x32xf32>, tensor<2x96x256xf32> -> tensor<256x256xf32>
  %w1 = attn.weight_gradient %c, %x : tensor<2x8x96x32xf32>, tensor<2x96x256xf32> -> tensor<256x256xf32>
  // CHECK: attn.weight_gradient %{{.*}}, %{{.*}} {output}
  %w2 = attn.weight_gradient %c, %x {output} : tensor<2x8x96x32xf32>, tensor<2x96x256xf32> -> tensor<256x256xf32>
  // CHECK: attn.token_sum %{{.*}} : tensor<2x96x256xf32> -> tensor<256xf32>
  %b = attn.token_sum %y : tensor<2x96x256xf32> -> tensor<256xf32>
  // CHECK: attn.token_sum %{{.*}} : tensor<2x8x96x32xf32> -> tensor<256xf32>
  %b1 = attn.token_sum %c : tensor<2x8x96x32xf32> -> tensor<256xf32>
  return
}

func.func @tokens(%q: tensor<2x8x96x32xf32>, %k: tensor<2x2x96x32xf32>) {
  // CHECK: attn.rope_gradient %{{.*}} aligned(%{{.*}} : tensor<2x2x96x32xf32>) {base = 1.000000e+04 : f64} : tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
  %r = attn.rope_gradient %q aligned(%k : tensor<2x2x96x32xf32>) {base = 1.000000e+04 : f64} : tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
  return
}

func.func @norm(%q: tensor<2x8x96x32xbf16>, %c: tensor<2x8x96x32xf32>) {
  // CHECK: attn.qk_norm_gradient %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64, l2} : tensor<2x8x96x32xbf16>, tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
  %x = attn.qk_norm_gradient %q, %c {epsilon = 1.000000e-05 : f64, l2} : tensor<2x8x96x32xbf16>, tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
  return
}

func.func @lepe(%c: tensor<1x2x196x32xf32>, %v: tensor<1x2x196x32xf32>, %w: tensor<2x32x3x3xf32>) {
  // CHECK: attn.lepe_gradient %{{.*}}, %{{.*}}, %{{.*}} {grid = array<i64: 14, 14>}
  %v1, %w1, %b1 = attn.lepe_gradient %c, %v, %w {grid = array<i64: 14, 14>}
      : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<2x32x3x3xf32> -> tensor<1x2x196x32xf32>, tensor<2x32x3x3xf32>, tensor<2x32xf32>
  return
}
