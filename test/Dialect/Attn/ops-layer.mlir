// What stands around a mechanism; examples.test compares the examples of the descriptions with these lines.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

!x = tensor<2x96x256xf32>
!q = tensor<2x8x96x32xf32>
!kv = tensor<2x2x96x32xf32>

// CHECK-LABEL: func.func @project
func.func @project(%x: !x, %wq: tensor<256x256xf32>, %bq: tensor<256xf32>, %wk: tensor<256x64xf32>) -> (!q, !kv) {
  // CHECK: attn.project %{{.*}}, %{{.*}} bias(%{{.*}} : tensor<256xf32>) : tensor<2x96x256xf32>, tensor<256x256xf32> -> tensor<2x8x96x32xf32>
  %q = attn.project %x, %wq bias(%bq : tensor<256xf32>) : tensor<2x96x256xf32>, tensor<256x256xf32> -> tensor<2x8x96x32xf32>
  // CHECK: attn.project %{{[^ ]*}}, %{{[^ ]*}} : tensor<2x96x256xf32>, tensor<256x64xf32> -> tensor<2x2x96x32xf32>
  %k = attn.project %x, %wk : !x, tensor<256x64xf32> -> !kv
  return %q, %k : !q, !kv
}

// Storage and sizes may differ from those of the result.
// CHECK-LABEL: func.func @project_dynamic
func.func @project_dynamic(%x: tensor<?x?x24xbf16>, %w: tensor<24x30xbf16>) -> tensor<?x5x?x6xf32> {
  // CHECK: attn.project %{{[^ ]*}}, %{{[^ ]*}} : tensor<?x?x24xbf16>, tensor<24x30xbf16> -> tensor<?x5x?x6xf32>
  %q = attn.project %x, %w : tensor<?x?x24xbf16>, tensor<24x30xbf16> -> tensor<?x5x?x6xf32>
  return %q : tensor<?x5x?x6xf32>
}

// CHECK-LABEL: func.func @project_output
func.func @project_output(%o: !q, %wo: tensor<256x256xf32>, %bo: tensor<256xf32>) -> (!x, tensor<2x96x256xf16>) {
  // CHECK: attn.project_output %{{.*}}, %{{.*}} bias(%{{.*}} : tensor<256xf32>) : tensor<2x8x96x32xf32>, tensor<256x256xf32> -> tensor<2x96x256xf32>
  %y = attn.project_output %o, %wo bias(%bo : tensor<256xf32>) : tensor<2x8x96x32xf32>, tensor<256x256xf32> -> tensor<2x96x256xf32>
  // CHECK: attn.project_output %{{[^ ]*}}, %{{[^ ]*}} : tensor<2x8x96x32xf32>, tensor<256x256xf32> -> tensor<2x96x256xf16>
  %z = attn.project_output %o, %wo : !q, tensor<256x256xf32> -> tensor<2x96x256xf16>
  return %y, %z : !x, tensor<2x96x256xf16>
}

// CHECK-LABEL: func.func @places
func.func @places(%q: !q, %k: !kv) -> (!q, !q, !q) {
  // CHECK: attn.rope %{{.*}} aligned(%{{.*}} : tensor<2x2x96x32xf32>) {base = 1.000000e+04 : f64} : tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
  %r = attn.rope %q aligned(%k : tensor<2x2x96x32xf32>) {base = 1.000000e+04 : f64} : tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
  // CHECK: attn.rope %{{[^ ]*}} {base = 5.000000e+02 : f64, half} :
  %h = attn.rope %q {base = 5.0e+02 : f64, half} : !q -> !q
  // CHECK: attn.qk_norm %{{.*}} {epsilon = 1.000000e-05 : f64} : tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
  %n = attn.qk_norm %q {epsilon = 1.000000e-05 : f64} : tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
  return %r, %h, %n : !q, !q, !q
}

!k = tensor<2x4x200x64xf32>
!slots = tensor<2x4x32x64xf32>

// CHECK-LABEL: func.func @compress
func.func @compress(%k: !k, %e: tensor<1x32x200xf32>, %each: tensor<4x32x200xf32>, %l: tensor<2xi32>) -> (!slots, !slots) {
  // CHECK: attn.compress %{{.*}}, %{{.*}} : tensor<2x4x200x64xf32>, tensor<1x32x200xf32> -> tensor<2x4x32x64xf32>
  %c = attn.compress %k, %e : tensor<2x4x200x64xf32>, tensor<1x32x200xf32> -> tensor<2x4x32x64xf32>
  // CHECK: attn.compress %{{.*}}, %{{.*}} lengths(%{{.*}} : tensor<2xi32>) : tensor<2x4x200x64xf32>, tensor<4x32x200xf32> -> tensor<2x4x32x64xf32>
  %d = attn.compress %k, %each lengths(%l : tensor<2xi32>) : !k, tensor<4x32x200xf32> -> !slots
  return %c, %d : !slots, !slots
}

!o = tensor<1x2x196x32xf32>

// CHECK-LABEL: func.func @lepe
func.func @lepe(%o: !o, %v: !o, %w: tensor<2x32x3x3xf32>, %line: tensor<2x32x3xf32>, %b: tensor<2x32xf32>, %l: tensor<1xi32>)
    -> (!o, !o, !o, !o) {
  // CHECK: attn.lepe %{{.*}}, %{{.*}}, %{{.*}} {grid = array<i64: 14, 14>} : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<2x32x3x3xf32> -> tensor<1x2x196x32xf32>
  %r = attn.lepe %o, %v, %w {grid = array<i64: 14, 14>} : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<2x32x3x3xf32> -> tensor<1x2x196x32xf32>
  // CHECK: attn.lepe %{{.*}}, %{{.*}}, %{{.*}} bias(%{{.*}} : tensor<2x32xf32>) lengths(%{{.*}} : tensor<1xi32>) : {{.*}}, tensor<2x32x3xf32> ->
  %s = attn.lepe %o, %v, %line bias(%b : tensor<2x32xf32>) lengths(%l : tensor<1xi32>) : !o, !o, tensor<2x32x3xf32> -> !o
  // CHECK: attn.lepe %{{.*}}, %{{.*}}, %{{.*}} lengths(%{{.*}} : tensor<1xi32>) {window = #attn.window<49>} :
  %t = attn.lepe %o, %v, %line lengths(%l : tensor<1xi32>) {window = #attn.window<49>} : !o, !o, tensor<2x32x3xf32> -> !o
  // CHECK: attn.lepe {{.*}} {window = #attn.window<7x7 of 14x14>} :
  %u = attn.lepe %o, %v, %w {window = #attn.window<7x7 of 14x14>} : !o, !o, tensor<2x32x3x3xf32> -> !o
  return %r, %s, %t, %u : !o, !o, !o, !o
}

// CHECK-LABEL: func.func @heads
func.func @heads(%q: tensor<1x4x196x32xf32>, %a: !o, %b: !o) -> (!o, tensor<1x4x196x32xf32>) {
  // CHECK: attn.take_heads %{{.*}} {first = 2 : i64} : tensor<1x4x196x32xf32> -> tensor<1x2x196x32xf32>
  %q1 = attn.take_heads %q {first = 2 : i64} : tensor<1x4x196x32xf32> -> tensor<1x2x196x32xf32>
  // CHECK: attn.concat_heads %{{.*}}, %{{.*}} : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
  %o = attn.concat_heads %a, %b : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
  return %q1, %o : !o, tensor<1x4x196x32xf32>
}
