// RUN: attn-opt %s -split-input-file -attn-raise --remarks-filter=attn-raise -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=KEPT --input-file=%t

// KEPT-NOT: attn.softmax

// Softmax over the queries.
// CHECK: attn-raise-remarks.mlir:[[#]]:{{[0-9]+}}: remark: [Missed] softmax | {{.*}}Function=wrong_axis | Remark="not raised: expected softmax over the dimension of the keys, over which the values are summed, but got it over another dimension"
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @wrong_axis(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %oe = tensor.empty() : tensor<2x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %w = linalg.softmax dimension(1) ins(%s : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x8xf32>) outs(%oz : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o : tensor<2x4x8xf32>
}

// -----

// A bias that is known when the program runs.
// CHECK: attn-raise-remarks.mlir:[[#]]:{{[0-9]+}}: remark: [Missed] softmax | {{.*}}Function=bias | Remark="not raised: expected a mask that is known when the program is compiled, but got one of values that are not; attn.softmax has causal order, windows and key lengths"
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @bias(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x8xf32>, %bias: tensor<2x4x4xf32>) -> tensor<2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %oe = tensor.empty() : tensor<2x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %a = arith.addf %s, %bias : tensor<2x4x4xf32>
  %w = linalg.softmax dimension(2) ins(%a : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x8xf32>) outs(%oz : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o : tensor<2x4x8xf32>
}

// -----

// A constant bias by distance.
// CHECK: attn-raise-remarks.mlir:[[#]]:{{[0-9]+}}: remark: [Missed] softmax | {{.*}}Function=slope | Remark="not raised: expected a mask of 0 and -10000 or less, but got 0.5 at query 0, key 1; attn.softmax adds no biases"
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @slope(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %oe = tensor.empty() : tensor<2x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %slope = arith.constant dense<[[0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 0.5], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %same = linalg.broadcast ins(%slope : tensor<4x4xf32>) outs(%e : tensor<2x4x4xf32>) dimensions = [0]
  %a = arith.addf %s, %same : tensor<2x4x4xf32>
  %w = linalg.softmax dimension(2) ins(%a : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x8xf32>) outs(%oz : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o : tensor<2x4x8xf32>
}

// -----

// A constant mask that is no triangle, no blocks and no number of keys.
// CHECK: attn-raise-remarks.mlir:[[#]]:{{[0-9]+}}: remark: [Missed] softmax | {{.*}}Function=checkered | Remark="not raised: expected a mask that is causal order, windows or a number of keys, but got another pattern; causal order is key <= query + keys - queries"
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @checkered(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %oe = tensor.empty() : tensor<2x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %board = arith.constant dense<[[true, false, true, false], [false, true, false, true], [true, false, true, false], [false, true, false, true]]> : tensor<4x4xi1>
  %low = arith.constant -1.0e+09 : f32
  %a = linalg.generic {indexing_maps = [#id, affine_map<(b, i, j) -> (i, j)>, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %board : tensor<2x4x4xf32>, tensor<4x4xi1>) outs(%e : tensor<2x4x4xf32>) {
  ^bb0(%x: f32, %sees: i1, %y: f32):
    %r = arith.select %sees, %x, %low : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4xf32>
  %w = linalg.softmax dimension(2) ins(%a : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x8xf32>) outs(%oz : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o : tensor<2x4x8xf32>
}

// -----

// A triangle without its diagonal: the first query sees nothing.
// CHECK: attn-raise-remarks.mlir:[[#]]:{{[0-9]+}}: remark: [Missed] softmax | {{.*}}Function=strict | Remark="not raised: expected every query to see a key, but got none for query 0, whose row is 0 in attn and something else here"
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @strict(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %oe = tensor.empty() : tensor<2x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %low = arith.constant -1.0e+09 : f32
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %sees = arith.cmpi slt, %j, %i : index
    %r = arith.select %sees, %x, %low : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4xf32>
  %w = linalg.softmax dimension(2) ins(%a : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x8xf32>) outs(%oz : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o : tensor<2x4x8xf32>
}

// -----

// The weights are a result too.
// CHECK: attn-raise-remarks.mlir:[[#]]:{{[0-9]+}}: remark: [Missed] softmax | {{.*}}Function=returned | Remark="not raised: expected weights that only the output reads, but got another use of them"
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @returned(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %oe = tensor.empty() : tensor<2x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x8xf32>) outs(%oz : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o, %w : tensor<2x4x8xf32>, tensor<2x4x4xf32>
}

// -----

// Logits capped by tanh.
// CHECK: attn-raise-remarks.mlir:[[#]]:{{[0-9]+}}: remark: [Missed] softmax | {{.*}}Function=capped | Remark="not raised: expected logits as they are, but got them capped by tanh"
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @capped(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %oe = tensor.empty() : tensor<2x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %a = math.tanh %s : tensor<2x4x4xf32>
  %w = linalg.softmax dimension(2) ins(%a : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x8xf32>) outs(%oz : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o : tensor<2x4x8xf32>
}

// -----

// A scale that is known when the program runs.
// CHECK: attn-raise-remarks.mlir:[[#]]:{{[0-9]+}}: remark: [Missed] softmax | {{.*}}Function=learned_scale | Remark="not raised: expected a constant scale of the logits, but got one that is known only when the program runs"
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @learned_scale(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x8xf32>, %t: tensor<2x4x4xf32>) -> tensor<2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %oe = tensor.empty() : tensor<2x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %a = arith.mulf %s, %t : tensor<2x4x4xf32>
  %w = linalg.softmax dimension(2) ins(%a : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x8xf32>) outs(%oz : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o : tensor<2x4x8xf32>
}

// -----

// Exponentials that nothing divides.
// CHECK: attn-raise-remarks.mlir:[[#]]:{{[0-9]+}}: remark: [Missed] softmax | {{.*}}Function=not_normalised | Remark="not raised: expected weights divided by their sum, but got exponentials without a divisor"
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @not_normalised(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %oe = tensor.empty() : tensor<2x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %w = math.exp %s : tensor<2x4x4xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x8xf32>) outs(%oz : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o : tensor<2x4x8xf32>
}

// -----

// Small products weigh most.
// CHECK: attn-raise-remarks.mlir:[[#]]:{{[0-9]+}}: remark: [Missed] softmax | {{.*}}Function=negative | Remark="not raised: expected a scale > 0, but got -1"
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @negative(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %oe = tensor.empty() : tensor<2x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %a = arith.negf %s : tensor<2x4x4xf32>
  %w = linalg.softmax dimension(2) ins(%a : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x8xf32>) outs(%oz : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o : tensor<2x4x8xf32>
}

// -----

// Numbers that attn does not have.
// CHECK: attn-raise-remarks.mlir:[[#]]:{{[0-9]+}}: remark: [Missed] softmax | {{.*}}Function=doubles | Remark="not raised: expected queries of f32, f16 or bf16, but got tensor<2x4x8xf64>"
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @doubles(%q: tensor<2x4x8xf64>, %kt: tensor<2x8x4xf64>, %v: tensor<2x4x8xf64>) -> tensor<2x4x8xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x4x4xf64>
  %oe = tensor.empty() : tensor<2x4x8xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<2x4x4xf64>) -> tensor<2x4x4xf64>
  %oz = linalg.fill ins(%zero : f64) outs(%oe : tensor<2x4x8xf64>) -> tensor<2x4x8xf64>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf64>, tensor<2x8x4xf64>) outs(%z : tensor<2x4x4xf64>) -> tensor<2x4x4xf64>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x4x4xf64>) outs(%e : tensor<2x4x4xf64>) -> tensor<2x4x4xf64>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf64>, tensor<2x4x8xf64>) outs(%oz : tensor<2x4x8xf64>) -> tensor<2x4x8xf64>
  return %o : tensor<2x4x8xf64>
}
