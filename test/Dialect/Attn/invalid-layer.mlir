// What stands around a mechanism: every check of its verifiers, with its number.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// A40: projections.
func.func @f(%x: tensor<2x12x24xf32>, %w: tensor<24x31xf32>) {
  // expected-error @below {{expected weight of 24x32, but got 24x31}}
  %r = attn.project %x, %w : tensor<2x12x24xf32>, tensor<24x31xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x12x24xf32>, %w: tensor<20x32xf32>) {
  // expected-error @below {{expected weight of 24x32, but got 20x32}}
  %r = attn.project %x, %w : tensor<2x12x24xf32>, tensor<20x32xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x12x24xf32>, %w: tensor<24x32xf32>, %b: tensor<24xf32>) {
  // expected-error @below {{expected bias of 32, but got 24}}
  %r = attn.project %x, %w bias(%b : tensor<24xf32>) : tensor<2x12x24xf32>, tensor<24x32xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x12x24xf32>, %w: tensor<24x32xf32>) {
  // expected-error @below {{expected result of 2x4x12x8, but got 2x4x10x8}}
  %r = attn.project %x, %w : tensor<2x12x24xf32>, tensor<24x32xf32> -> tensor<2x4x10x8xf32>
  return
}

// -----

// A41: projections of the output.
func.func @f(%o: tensor<2x4x12x8xf32>, %w: tensor<31x24xf32>) {
  // expected-error @below {{expected weight of 32x24, but got 31x24}}
  %r = attn.project_output %o, %w : tensor<2x4x12x8xf32>, tensor<31x24xf32> -> tensor<2x12x24xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %w: tensor<32x24xf32>, %b: tensor<32xf32>) {
  // expected-error @below {{expected bias of 24, but got 32}}
  %r = attn.project_output %o, %w bias(%b : tensor<32xf32>) : tensor<2x4x12x8xf32>, tensor<32x24xf32> -> tensor<2x12x24xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %w: tensor<32x24xf32>) {
  // expected-error @below {{expected result of 2x12x24, but got 2x10x24}}
  %r = attn.project_output %o, %w : tensor<2x4x12x8xf32>, tensor<32x24xf32> -> tensor<2x10x24xf32>
  return
}

// -----

// A42: RoPE.
func.func @f(%x: tensor<2x4x12x7xf32>) {
  // expected-error @below {{expected an even width, but got 7}}
  %r = attn.rope %x {base = 1.0e4 : f64} : tensor<2x4x12x7xf32> -> tensor<2x4x12x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x12x8xf32>) {
  // expected-error @below {{expected a finite base above 0, but got}}
  %r = attn.rope %x {base = 0.0 : f64} : tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x12x8xf32>, %k: tensor<3x4x12x8xf32>) {
  // expected-error @below {{expected what tokens are aligned to for 2 batch entries, but got 3}}
  %r = attn.rope %x aligned(%k : tensor<3x4x12x8xf32>) {base = 1.0 : f64} : tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x12x8xf32>) {
  // expected-error @below {{failed to verify that all of {source, result} have same shape}}
  %r = attn.rope %x {base = 1.0 : f64} : tensor<2x4x12x8xf32> -> tensor<2x4x10x8xf32>
  return
}

// -----

// A43: the norm.
func.func @f(%x: tensor<2x4x12x8xf32>) {
  // expected-error @below {{expected a finite epsilon above 0, but got}}
  %r = attn.qk_norm %x {epsilon = 0.0 : f64} : tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x12x8xf32>) {
  // expected-error @below {{failed to verify that all of {source, result} have same shape}}
  %r = attn.qk_norm %x {epsilon = 1.0 : f64} : tensor<2x4x12x8xf32> -> tensor<2x4x12x9xf32>
  return
}

// -----

// A44, A3: compression.
func.func @f(%x: tensor<2x4x12x8xf32>, %e: tensor<1x3x11xf32>) {
  // expected-error @below {{expected weight of 1x3x12, but got 1x3x11}}
  %r = attn.compress %x, %e : tensor<2x4x12x8xf32>, tensor<1x3x11xf32> -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x12x8xf32>, %e: tensor<3x3x12xf32>) {
  // expected-error @below {{expected a number of heads of the weight that divides 4, but got 3}}
  %r = attn.compress %x, %e : tensor<2x4x12x8xf32>, tensor<3x3x12xf32> -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x12x8xf32>, %e: tensor<3x12xf32>) {
  // expected-error @below {{expected weight of rank 3, but got 'tensor<3x12xf32>'}}
  %r = attn.compress %x, %e : tensor<2x4x12x8xf32>, tensor<3x12xf32> -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x12x8xf32>, %e: tensor<1x3x12xf32>) {
  // expected-error @below {{expected result of 2x4x3x8, but got 2x4x5x8}}
  %r = attn.compress %x, %e : tensor<2x4x12x8xf32>, tensor<1x3x12xf32> -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x12x8xf32>, %e: tensor<1x3x12xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %r = attn.compress %x, %e lengths(%l : tensor<3xi32>) : tensor<2x4x12x8xf32>, tensor<1x3x12xf32> -> tensor<2x4x3x8xf32>
  return
}

// -----

// A45, A20, A3: LePE.
func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x2x10x8xf32>, %w: tensor<4x8x3xf32>) {
  // expected-error @below {{expected value of 2x2x12x8, but got 2x2x10x8}}
  %r = attn.lepe %o, %v, %w : tensor<2x4x12x8xf32>, tensor<2x2x10x8xf32>, tensor<4x8x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x3x12x8xf32>, %w: tensor<4x8x3xf32>) {
  // expected-error @below {{expected a number of key-value heads that divides 4, but got 3}}
  %r = attn.lepe %o, %v, %w : tensor<2x4x12x8xf32>, tensor<2x3x12x8xf32>, tensor<4x8x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x2x12x8xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @below {{expected weight of 4x8x3, but got 4x8x3x3}}
  %r = attn.lepe %o, %v, %w : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<4x8x3x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x2x12x8xf32>, %w: tensor<4x8x3xf32>) {
  // expected-error @below {{expected weight of 4x8x3x3, but got 4x8x3}}
  %r = attn.lepe %o, %v, %w {grid = array<i64: 3, 4>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<4x8x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x2x12x8xf32>, %w: tensor<4x8x3xf32>) {
  // expected-error @below {{expected weight of 4x8x3x3, but got 4x8x3}}
  %r = attn.lepe %o, %v, %w {window = #attn.window<3x2 of 3x4>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<4x8x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x2x12x8xf32>, %w: tensor<2x8x3xf32>) {
  // expected-error @below {{expected weight of 4x8x3, but got 2x8x3}}
  %r = attn.lepe %o, %v, %w : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x8x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x2x12x8xf32>, %w: tensor<4x8x3xf32>, %b: tensor<4x6xf32>) {
  // expected-error @below {{expected bias of 4x8, but got 4x6}}
  %r = attn.lepe %o, %v, %w bias(%b : tensor<4x6xf32>) : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<4x8x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x2x12x8xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @below {{expected a grid of 12 tokens, but got 3x5}}
  %r = attn.lepe %o, %v, %w {grid = array<i64: 3, 5>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<4x8x3x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x2x12x8xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @below {{expected a grid of two sizes of at least 1}}
  %r = attn.lepe %o, %v, %w {grid = array<i64: 12>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<4x8x3x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x2x12x8xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @below {{expected a grid of two sizes of at least 1}}
  %r = attn.lepe %o, %v, %w {grid = array<i64: -3, -4>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<4x8x3x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x2x12x8xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @below {{expected a grid or a window, but got both}}
  %r = attn.lepe %o, %v, %w {grid = array<i64: 3, 4>, window = #attn.window<4>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<4x8x3x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x2x12x8xf32>, %w: tensor<4x8x3xf32>) {
  // expected-error @below {{expected a window whose length divides 12, but got 5}}
  %r = attn.lepe %o, %v, %w {window = #attn.window<5>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<4x8x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%o: tensor<2x4x12x8xf32>, %v: tensor<2x2x12x8xf32>, %w: tensor<4x8x3xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %r = attn.lepe %o, %v, %w lengths(%l : tensor<3xi32>) : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<4x8x3xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

// A46: heads.
func.func @f(%x: tensor<2x4x12x8xf32>) {
  // expected-error @below {{expected 2 heads from 3 on within 4 heads}}
  %r = attn.take_heads %x {first = 3 : i64} : tensor<2x4x12x8xf32> -> tensor<2x2x12x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x12x8xf32>) {
  // expected-error @below {{expected 2 heads from -1 on within 4 heads}}
  %r = attn.take_heads %x {first = -1 : i64} : tensor<2x4x12x8xf32> -> tensor<2x2x12x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x12x8xf32>) {
  // expected-error @below {{expected result of 2x2x12x8, but got 2x2x12x7}}
  %r = attn.take_heads %x {first = 0 : i64} : tensor<2x4x12x8xf32> -> tensor<2x2x12x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x12x8xf32>) {
  // expected-error @below {{expected heads of one element type, but got 'f16' and 'f32'}}
  %r = attn.take_heads %x {first = 0 : i64} : tensor<2x4x12x8xf32> -> tensor<2x2x12x8xf16>
  return
}

// -----

// A47: parts.
func.func @f() {
  // expected-error @below {{expected at least one part}}
  %r = "attn.concat_heads"() : () -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x2x12x8xf32>) {
  // expected-error @below {{expected parts of 4 heads together, but got 2}}
  %r = attn.concat_heads %a : tensor<2x2x12x8xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x2x12x8xf32>, %b: tensor<2x2x10x8xf32>) {
  // expected-error @below {{expected part of 2x2x12x8, but got 2x2x10x8}}
  %r = attn.concat_heads %a, %b : tensor<2x2x12x8xf32>, tensor<2x2x10x8xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x2x12x8xf32>, %b: tensor<2x2x12x8xbf16>) {
  // expected-error @below {{expected heads of one element type, but got 'bf16' and 'f32'}}
  %r = attn.concat_heads %a, %b : tensor<2x2x12x8xf32>, tensor<2x2x12x8xbf16> -> tensor<2x4x12x8xf32>
  return
}
