// RUN: attn-opt %s -split-input-file -attn-raise -cse -canonicalize | FileCheck %s

// What torch-mlir prints (linalg-on-tensors) of matmul, division by a constant, softmax over the last dimension, matmul: a
// maximum with its place, a subtraction, an exponential, a sum and a division, each an op of its own.

// CHECK-LABEL: func.func @torch_softmax
// CHECK-SAME:    %[[Q:.*]]: tensor<2x3x8x16xf32>, %[[K:.*]]: tensor<2x3x12x16xf32>, %[[V:.*]]: tensor<2x3x12x4xf32>
// CHECK-NEXT:    %[[O:.*]] = attn.softmax %[[Q]], %[[K]], %[[V]] {scale = 2.500000e-01 : f64} : {{.*}} -> tensor<2x3x8x4xf32>
// CHECK-NEXT:    return %[[O]]
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#swap4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#row4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
func.func @torch_softmax(%q: tensor<2x3x8x16xf32>, %k: tensor<2x3x12x16xf32>, %v: tensor<2x3x12x4xf32>) -> tensor<2x3x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %four = arith.constant 4.0 : f64
  %kt.e = tensor.empty() : tensor<2x3x16x12xf32>
  %kt = linalg.generic {indexing_maps = [#id4, #swap4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<2x3x12x16xf32>) outs(%kt.e : tensor<2x3x16x12xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<2x3x16x12xf32>
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x3x8x16xf32> into tensor<6x8x16xf32>
  %k3 = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x3x16x12xf32> into tensor<6x16x12xf32>
  %s.e = tensor.empty() : tensor<6x8x12xf32>
  %s.z = linalg.fill ins(%zero : f32) outs(%s.e : tensor<6x8x12xf32>) -> tensor<6x8x12xf32>
  %s3 = linalg.batch_matmul ins(%q3, %k3 : tensor<6x8x16xf32>, tensor<6x16x12xf32>) outs(%s.z : tensor<6x8x12xf32>) -> tensor<6x8x12xf32>
  %s4 = tensor.expand_shape %s3 [[0, 1], [2], [3]] output_shape [2, 3, 8, 12] : tensor<6x8x12xf32> into tensor<2x3x8x12xf32>
  %e = tensor.empty() : tensor<2x3x8x12xf32>
  %s = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s4 : tensor<2x3x8x12xf32>) outs(%e : tensor<2x3x8x12xf32>) {
  ^bb0(%x: f32, %y: f32):
    %c = arith.truncf %four : f64 to f32
    %r = arith.divf %x, %c : f32
    linalg.yield %r : f32
  } -> tensor<2x3x8x12xf32>
  %m.i = tensor.empty() : tensor<2x3x8x1xi64>
  %m.iz = linalg.fill ins(%none : i64) outs(%m.i : tensor<2x3x8x1xi64>) -> tensor<2x3x8x1xi64>
  %m.e = tensor.empty() : tensor<2x3x8x1xf32>
  %m.z = linalg.fill ins(%low : f32) outs(%m.e : tensor<2x3x8x1xf32>) -> tensor<2x3x8x1xf32>
  %m:2 = linalg.generic {indexing_maps = [#id4, #row4, #row4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x3x8x12xf32>) outs(%m.z, %m.iz : tensor<2x3x8x1xf32>, tensor<2x3x8x1xi64>) {
  ^bb0(%x: f32, %y: f32, %place: i64):
    %at = linalg.index 3 : index
    %here = arith.index_cast %at : index to i64
    %max = arith.maximumf %x, %y : f32
    %more = arith.cmpf ogt, %x, %y : f32
    %which = arith.select %more, %here, %place : i64
    linalg.yield %max, %which : f32, i64
  } -> (tensor<2x3x8x1xf32>, tensor<2x3x8x1xi64>)
  %d = linalg.generic {indexing_maps = [#id4, #row4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m#0 : tensor<2x3x8x12xf32>, tensor<2x3x8x1xf32>) outs(%e : tensor<2x3x8x12xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %r = arith.subf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<2x3x8x12xf32>
  %x = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%d : tensor<2x3x8x12xf32>) outs(%e : tensor<2x3x8x12xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<2x3x8x12xf32>
  %l.z = linalg.fill ins(%zero : f32) outs(%m.e : tensor<2x3x8x1xf32>) -> tensor<2x3x8x1xf32>
  %l = linalg.generic {indexing_maps = [#id4, #row4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x : tensor<2x3x8x12xf32>) outs(%l.z : tensor<2x3x8x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<2x3x8x1xf32>
  %w = linalg.generic {indexing_maps = [#id4, #row4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %l : tensor<2x3x8x12xf32>, tensor<2x3x8x1xf32>) outs(%e : tensor<2x3x8x12xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<2x3x8x12xf32>
  %w3 = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<2x3x8x12xf32> into tensor<6x8x12xf32>
  %v3 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x3x12x4xf32> into tensor<6x12x4xf32>
  %o.e = tensor.empty() : tensor<6x8x4xf32>
  %o.z = linalg.fill ins(%zero : f32) outs(%o.e : tensor<6x8x4xf32>) -> tensor<6x8x4xf32>
  %o3 = linalg.batch_matmul ins(%w3, %v3 : tensor<6x8x12xf32>, tensor<6x12x4xf32>) outs(%o.z : tensor<6x8x4xf32>) -> tensor<6x8x4xf32>
  %o = tensor.expand_shape %o3 [[0, 1], [2], [3]] output_shape [2, 3, 8, 4] : tensor<6x8x4xf32> into tensor<2x3x8x4xf32>
  return %o : tensor<2x3x8x4xf32>
}

// -----

// What torch-mlir prints with decomposition off and IREE of a softmax op: linalg.softmax between two batched products, the
// scale multiplied into the queries. One head a batch, of unknown batch.

// CHECK-LABEL: func.func @softmax_op
// CHECK:         attn.softmax {{.*}} {scale = 1.250000e-01 : f64} : tensor<?x1x8x64xf32>, tensor<?x1x8x64xf32>, tensor<?x1x8x32xf32> -> tensor<?x1x8x32xf32>
// CHECK-NOT:     linalg.softmax
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#in0 = affine_map<(b, i, j, d) -> (b, i, d)>
#in1 = affine_map<(b, i, j, d) -> (b, j, d)>
#out = affine_map<(b, i, j, d) -> (b, i, j)>
func.func @softmax_op(%q: tensor<?x8x64xf32>, %k: tensor<?x8x64xf32>, %v: tensor<?x8x32xf32>) -> tensor<?x8x32xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %b = tensor.dim %q, %c0 : tensor<?x8x64xf32>
  %q.e = tensor.empty(%b) : tensor<?x8x64xf32>
  %q.s = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q : tensor<?x8x64xf32>) outs(%q.e : tensor<?x8x64xf32>) {
  ^bb0(%x: f32, %y: f32):
    %r = arith.mulf %x, %scale : f32
    linalg.yield %r : f32
  } -> tensor<?x8x64xf32>
  %s.e = tensor.empty(%b) : tensor<?x8x8xf32>
  %s.z = linalg.fill ins(%zero : f32) outs(%s.e : tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
  %s = linalg.contract indexing_maps = [#in0, #in1, #out] ins(%q.s, %k : tensor<?x8x64xf32>, tensor<?x8x64xf32>)
      outs(%s.z : tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<?x8x8xf32>) outs(%s.e : tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
  %o.e = tensor.empty(%b) : tensor<?x8x32xf32>
  %o.z = linalg.fill ins(%zero : f32) outs(%o.e : tensor<?x8x32xf32>) -> tensor<?x8x32xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<?x8x8xf32>, tensor<?x8x32xf32>) outs(%o.z : tensor<?x8x32xf32>) -> tensor<?x8x32xf32>
  return %o : tensor<?x8x32xf32>
}

// -----

// What IREE prints of JAX's dot_product_attention (StableHLO to linalg): tokens before heads, dot_general as a generic, the
// mask a comparison of two iotas and a selection of the lowest f32, division after the exponentials.

// CHECK-LABEL: func.func @jax_causal
// CHECK:         attn.softmax {{.*}} {causal, scale = 5.000000e-01 : f64} : tensor<2x3x8x4xf32>, tensor<2x3x8x4xf32>, tensor<2x3x8x4xf32> -> tensor<2x3x8x4xf32>
// CHECK-NOT:     math.exp
#qk0 = affine_map<(b, h, i, j, d) -> (b, i, h, d)>
#qk1 = affine_map<(b, h, i, j, d) -> (b, j, h, d)>
#qk2 = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#ov0 = affine_map<(b, i, h, d, j) -> (b, h, i, j)>
#ov1 = affine_map<(b, i, h, d, j) -> (b, j, h, d)>
#ov2 = affine_map<(b, i, h, d, j) -> (b, i, h, d)>
#id2 = affine_map<(i, j) -> (i, j)>
#id4 = affine_map<(b, h, i, j) -> (b, h, i, j)>
#ij = affine_map<(b, h, i, j) -> (i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>
func.func @jax_causal(%q: tensor<2x8x3x4xf32>, %k: tensor<2x8x3x4xf32>, %v: tensor<2x8x3x4xf32>) -> tensor<2x8x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant dense<5.0e-01> : tensor<2x3x8x8xf32>
  %lowest = arith.constant dense<-3.40282347E+38> : tensor<2x3x8x8xf32>
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x3x8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32>
  %s = linalg.generic {indexing_maps = [#qk0, #qk1, #qk2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) outs(%z : tensor<2x3x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<2x3x8x8xf32>
  %scaled = arith.mulf %s, %half : tensor<2x3x8x8xf32>
  %i.e = tensor.empty() : tensor<8x8xi32>
  %i = linalg.generic {indexing_maps = [#id2], iterator_types = ["parallel", "parallel"]} outs(%i.e : tensor<8x8xi32>) {
  ^bb0(%a: i32):
    %at = linalg.index 0 : index
    %r = arith.index_cast %at : index to i32
    linalg.yield %r : i32
  } -> tensor<8x8xi32>
  %j = linalg.generic {indexing_maps = [#id2], iterator_types = ["parallel", "parallel"]} outs(%i.e : tensor<8x8xi32>) {
  ^bb0(%a: i32):
    %at = linalg.index 1 : index
    %r = arith.index_cast %at : index to i32
    linalg.yield %r : i32
  } -> tensor<8x8xi32>
  %b.e = tensor.empty() : tensor<8x8xi1>
  %sees = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%i, %j : tensor<8x8xi32>, tensor<8x8xi32>) outs(%b.e : tensor<8x8xi1>) {
  ^bb0(%a: i32, %b: i32, %c: i1):
    %r = arith.cmpi sge, %a, %b : i32
    linalg.yield %r : i1
  } -> tensor<8x8xi1>
  %masked = linalg.generic {indexing_maps = [#ij, #id4, #id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sees, %scaled, %lowest : tensor<8x8xi1>, tensor<2x3x8x8xf32>, tensor<2x3x8x8xf32>) outs(%e : tensor<2x3x8x8xf32>) {
  ^bb0(%a: i1, %b: f32, %c: f32, %d: f32):
    %r = arith.select %a, %b, %c : f32
    linalg.yield %r : f32
  } -> tensor<2x3x8x8xf32>
  %m.e = tensor.empty() : tensor<2x3x8xf32>
  %m.z = linalg.fill ins(%low : f32) outs(%m.e : tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %m = linalg.reduce { arith.maximumf } ins(%masked : tensor<2x3x8x8xf32>) outs(%m.z : tensor<2x3x8xf32>) dimensions = [3]
  %x = linalg.generic {indexing_maps = [#id4, #row, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%masked, %m : tensor<2x3x8x8xf32>, tensor<2x3x8xf32>) outs(%e : tensor<2x3x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<2x3x8x8xf32>
  %l.z = linalg.fill ins(%zero : f32) outs(%m.e : tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %l = linalg.reduce { arith.addf } ins(%x : tensor<2x3x8x8xf32>) outs(%l.z : tensor<2x3x8xf32>) dimensions = [3]
  %l4 = linalg.broadcast ins(%l : tensor<2x3x8xf32>) outs(%e : tensor<2x3x8x8xf32>) dimensions = [3]
  %w = arith.divf %x, %l4 : tensor<2x3x8x8xf32>
  %o.e = tensor.empty() : tensor<2x8x3x4xf32>
  %o.z = linalg.fill ins(%zero : f32) outs(%o.e : tensor<2x8x3x4xf32>) -> tensor<2x8x3x4xf32>
  %o = linalg.generic {indexing_maps = [#ov0, #ov1, #ov2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %v : tensor<2x3x8x8xf32>, tensor<2x8x3x4xf32>) outs(%o.z : tensor<2x8x3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<2x8x3x4xf32>
  return %o : tensor<2x8x3x4xf32>
}
