// Polynomial attention and sketches of it: every check of their verifiers, with its number.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// A1 to A4, A20: what all mechanisms check.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x9xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected key of 2x2x12x8, but got 2x2x12x9}}
  %o = attn.polynomial %q, %k, %v {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x9xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected output of 2x4x12x6, but got 2x4x12x8}}
  %o = attn.polynomial %q, %k, %v {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %o = attn.polynomial %q, %k, %v lengths(%l : tensor<3xi32>) {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a finite scale above 0, but got}}
  %o = attn.polynomial %q, %k, %v {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 0.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a window whose length divides 12, but got 5}}
  %o = attn.polynomial %q, %k, %v {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, window = #attn.window<5>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A28: the degree.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected an even degree of at least 2, but got 3}}
  %o = attn.polynomial %q, %k, %v {degree = 3 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected an even degree of at least 2, but got 0}}
  %o = attn.polynomial %q, %k, %v {degree = 0 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected an even degree of at least 2, but got -2}}
  %o = attn.polynomial %q, %k, %v {degree = -2 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A1 to A4, A9.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x11x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected value of 2x2x12x6, but got 2x2x11x6}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x11x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected a finite scale above 0, but got}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = -1.0 : f64, size = 16 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x10x8xf32>, %v: tensor<2x2x10x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected as many queries as keys with causal, but got 12 and 10}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x10x8xf32>, tensor<2x2x10x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A29: degree and size.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected a degree of 4, 8, 16, ..., but got 2}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {degree = 2 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected a degree of 4, 8, 16, ..., but got 6}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {degree = 6 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected a degree of 4, 8, 16, ..., but got 5}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {degree = 5 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected a size that is a power of two, but got 12}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 12 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A30: signs and indices.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected 10 signs of 4 leaves and 3 nodes, but got 4}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {degree = 8 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected 4 indices of 2 leaves and 1 nodes, but got 3}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected signs of a leaf of 4x8, but got 4x16}}
  %o = attn.polysketch %q, %k, %v signs(%s, %t, %t, %t : tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected signs of a node of 4x16, but got 4x8}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %s : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x8xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>, %j: tensor<2x16xi32>) {
  // expected-error @below {{expected indices of 4x16, but got 2x16}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %j, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<2x16xi32>, tensor<4x16xi32>)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x5xf32>, %k: tensor<2x2x12x5xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x5xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected signs of a leaf of 4x8, but got 4x5}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<2x4x12x5xf32>, tensor<2x2x12x5xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A31: exact blocks.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected causal with local_exact}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64, local_exact = 4 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected a local_exact that divides 12, but got 5}}
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64, local_exact = 5 : i64} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// Sketches of tokens: A4, A29, A30.
func.func @f(%x: tensor<2x2x12x8xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected a finite scale above 0, but got}}
  %r = attn.sketch %x signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>) {scale = 0.0 : f64, size = 16 : i64} : tensor<2x2x12x8xf32> -> tensor<2x4x12x16xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2x12x8xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected 1, 4, 10, 22, ... signs (of 1, 2, 4, 8, ... leaves), but got 2}}
  %r = attn.sketch %x signs(%s, %s : tensor<4x8xf32>, tensor<4x8xf32>)
      indices(%i, %i : tensor<4x16xi32>, tensor<4x16xi32>) {scale = 1.0 : f64, size = 16 : i64} : tensor<2x2x12x8xf32> -> tensor<2x4x12x16xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2x12x8xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected 1, 4, 10, 22, ... signs (of 1, 2, 4, 8, ... leaves), but got 7}}
  %r = attn.sketch %x signs(%s, %s, %s, %t, %t, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>) {scale = 1.0 : f64, size = 16 : i64} : tensor<2x2x12x8xf32> -> tensor<2x4x12x16xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2x12x8xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected 4 indices of 2 leaves and 1 nodes, but got 1}}
  %r = attn.sketch %x signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i : tensor<4x16xi32>) {scale = 1.0 : f64, size = 16 : i64} : tensor<2x2x12x8xf32> -> tensor<2x4x12x16xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2x12x8xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>, %u: tensor<8xf32>) {
  // expected-error @below {{expected signs of rank 2, but got 'tensor<8xf32>'}}
  %r = attn.sketch %x signs(%u : tensor<8xf32>)
      indices(%i : tensor<4x16xi32>) {scale = 1.0 : f64, size = 16 : i64} : tensor<2x2x12x8xf32> -> tensor<2x4x12x16xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2x12x8xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected a size that is a power of two, but got 12}}
  %r = attn.sketch %x signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>) {scale = 1.0 : f64, size = 12 : i64} : tensor<2x2x12x8xf32> -> tensor<2x4x12x16xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x12x8xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected a number of key-value heads that divides 4, but got 3}}
  %r = attn.sketch %x signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>) {scale = 1.0 : f64, size = 16 : i64} : tensor<2x3x12x8xf32> -> tensor<2x4x12x16xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2x12x8xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) {
  // expected-error @below {{expected result of 2x4x12x16, but got 2x2x12x16}}
  %r = attn.sketch %x signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>) {scale = 1.0 : f64, size = 16 : i64} : tensor<2x2x12x8xf32> -> tensor<2x2x12x16xf32>
  return
}

// -----

// A32, A4: powers.
func.func @f(%w: tensor<2x4x12x12xf32>) {
  // expected-error @below {{expected a degree of at least 1, but got 0}}
  %r = attn.power %w {degree = 0 : i64, scale = 1.0 : f64} : tensor<2x4x12x12xf32>
  return
}

// -----

func.func @f(%w: tensor<2x4x12x12xf32>) {
  // expected-error @below {{expected a finite scale above 0, but got}}
  %r = attn.power %w {degree = 2 : i64, scale = 0.0 : f64} : tensor<2x4x12x12xf32>
  return
}

// -----

// A33: diagonal blocks.
func.func @f(%w: tensor<2x4x12x12xf32>) {
  // expected-error @below {{expected a block of at least 1, but got 0}}
  %r = attn.diagonal_blocks %w, %w {block = 0 : i64} : tensor<2x4x12x12xf32>
  return
}
