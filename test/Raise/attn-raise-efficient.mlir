// RUN: attn-opt %s -split-input-file -attn-raise -cse -canonicalize | FileCheck %s
// RUN: %python %S/Inputs/run_both.py %s | FileCheck %s --check-prefix=EQUAL
// EQUAL-COUNT-3: equal: @

// Softmax over the features of q and over the tokens of k: the state first.

// CHECK-LABEL: func.func @state_first
// CHECK:         attn.effatt {{.*}} : tensor<2x1x4x8xf32>, tensor<2x1x5x8xf32>, tensor<2x1x5x6xf32> -> tensor<2x1x4x6xf32>
// CHECK-NOT:     linalg.{{generic|reduce|contract|batch_matmul|softmax}}
func.func @state_first(%q: tensor<2x4x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x6xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %eq = tensor.empty() : tensor<2x4x8xf32>
  %ek = tensor.empty() : tensor<2x5x8xf32>
  %a = linalg.softmax dimension(2) ins(%q : tensor<2x4x8xf32>) outs(%eq : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %b = linalg.softmax dimension(1) ins(%k : tensor<2x5x8xf32>) outs(%ek : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %es = tensor.empty() : tensor<2x8x6xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, f, v, j) -> (b, j, f)>, affine_map<(b, f, v, j) -> (b, j, v)>,
                                        affine_map<(b, f, v, j) -> (b, f, v)>]
      ins(%b, %v : tensor<2x5x8xf32>, tensor<2x5x6xf32>) outs(%zs : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %eo = tensor.empty() : tensor<2x4x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %o = linalg.batch_matmul ins(%a, %s : tensor<2x4x8xf32>, tensor<2x8x6xf32>) outs(%zo : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %o : tensor<2x4x6xf32>
}

// -----

// The weights first, exponentials without a maximum, divided after the products or before.

// CHECK-LABEL: func.func @weights_first
// CHECK:         attn.effatt {{.*}} : tensor<3x1x4x8xf32>, tensor<3x1x5x8xf32>, tensor<3x1x5x6xf32> -> tensor<3x1x4x6xf32>
// CHECK-NOT:     linalg.{{generic|reduce|contract|batch_matmul|softmax}}
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @weights_first(%q: tensor<3x4x8xf32>, %kt: tensor<3x8x5xf32>, %v: tensor<3x5x6xf32>) -> tensor<3x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %x = math.exp %q : tensor<3x4x8xf32>
  %y = math.exp %kt : tensor<3x8x5xf32>
  %ex = tensor.empty() : tensor<3x4xf32>
  %zx = linalg.fill ins(%zero : f32) outs(%ex : tensor<3x4xf32>) -> tensor<3x4xf32>
  %dx = linalg.reduce { arith.addf } ins(%x : tensor<3x4x8xf32>) outs(%zx : tensor<3x4xf32>) dimensions = [2]
  %ey = tensor.empty() : tensor<3x8xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<3x8xf32>) -> tensor<3x8xf32>
  %dy = linalg.reduce { arith.addf } ins(%y : tensor<3x8x5xf32>) outs(%zy : tensor<3x8xf32>) dimensions = [2]
  %en = tensor.empty() : tensor<3x8x5xf32>
  %n = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %dy : tensor<3x8x5xf32>, tensor<3x8xf32>) outs(%en : tensor<3x8x5xf32>) {
  ^bb0(%e: f32, %sum: f32, %out: f32):
    %r = arith.divf %e, %sum : f32
    linalg.yield %r : f32
  } -> tensor<3x8x5xf32>
  %ew = tensor.empty() : tensor<3x4x5xf32>
  %zw = linalg.fill ins(%zero : f32) outs(%ew : tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %w = linalg.batch_matmul ins(%x, %n : tensor<3x4x8xf32>, tensor<3x8x5xf32>) outs(%zw : tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %eo = tensor.empty() : tensor<3x4x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  %p = linalg.batch_matmul ins(%w, %v : tensor<3x4x5xf32>, tensor<3x5x6xf32>) outs(%zo : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  %o = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %dx : tensor<3x4x6xf32>, tensor<3x4xf32>) outs(%eo : tensor<3x4x6xf32>) {
  ^bb0(%e: f32, %sum: f32, %out: f32):
    %r = arith.divf %e, %sum : f32
    linalg.yield %r : f32
  } -> tensor<3x4x6xf32>
  return %o : tensor<3x4x6xf32>
}

// -----

// Keys from the fourth on are put to −10⁹ before the softmax.

// CHECK-LABEL: func.func @four_keys
// CHECK:         %[[LENGTHS:.*]] = arith.constant dense<4> : tensor<2xi32>
// CHECK:         attn.effatt {{.*}} lengths(%[[LENGTHS]] : tensor<2xi32>)
#id = affine_map<(b, j, f) -> (b, j, f)>
func.func @four_keys(%q: tensor<2x4x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x6xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e9 : f32
  %four = arith.constant 4 : index
  %eq = tensor.empty() : tensor<2x4x8xf32>
  %ek = tensor.empty() : tensor<2x5x8xf32>
  %hidden = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k : tensor<2x5x8xf32>) outs(%ek : tensor<2x5x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %j = linalg.index 1 : index
    %exists = arith.cmpi slt, %j, %four : index
    %r = arith.select %exists, %x, %low : f32
    linalg.yield %r : f32
  } -> tensor<2x5x8xf32>
  %a = linalg.softmax dimension(2) ins(%q : tensor<2x4x8xf32>) outs(%eq : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %b = linalg.softmax dimension(1) ins(%hidden : tensor<2x5x8xf32>) outs(%ek : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %es = tensor.empty() : tensor<2x8x6xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, f, v, j) -> (b, j, f)>, affine_map<(b, f, v, j) -> (b, j, v)>,
                                        affine_map<(b, f, v, j) -> (b, f, v)>]
      ins(%b, %v : tensor<2x5x8xf32>, tensor<2x5x6xf32>) outs(%zs : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %eo = tensor.empty() : tensor<2x4x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %o = linalg.batch_matmul ins(%a, %s : tensor<2x4x8xf32>, tensor<2x8x6xf32>) outs(%zo : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %o : tensor<2x4x6xf32>
}
