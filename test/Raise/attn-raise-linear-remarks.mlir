// RUN: attn-opt %s -split-input-file -attn-raise --remarks-filter=attn-raise 2>&1 | FileCheck %s

// A feature map that attn has not.
// CHECK: remark: [Missed] linear | {{.*}}Function=exponentials | Remark="not raised: expected elu + 1 or relu as the feature map of queries and keys, but got another function"
#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, v) -> (b, i)>
func.func @exponentials(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %zq = arith.constant dense<0.0> : tensor<2x4x8xf32>
  %zk = arith.constant dense<0.0> : tensor<2x8x4xf32>
  %a = math.exp %q : tensor<2x4x8xf32>
  %b = math.exp %kt : tensor<2x8x4xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %s = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %w = tensor.cast %s : tensor<2x4x4xf32> to tensor<2x4x4xf32>
  %d.e = tensor.empty() : tensor<2x4xf32>
  %d.z = linalg.fill ins(%zero : f32) outs(%d.e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = linalg.reduce ins(%w : tensor<2x4x4xf32>) outs(%d.z : tensor<2x4xf32>) dimensions = [2]
    (%x: f32, %y: f32) {
      %r = arith.addf %x, %y : f32
      linalg.yield %r : f32
    }
  %o.e = tensor.empty() : tensor<2x4x6xf32>
  %o.z = linalg.fill ins(%zero : f32) outs(%o.e : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %n = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x6xf32>) outs(%o.z : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %o = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%n, %d : tensor<2x4x6xf32>, tensor<2x4xf32>) outs(%o.e : tensor<2x4x6xf32>) {
  ^bb0(%x: f32, %sum: f32, %y: f32):
    %r = arith.divf %x, %sum : f32
    linalg.yield %r : f32
  } -> tensor<2x4x6xf32>
  return %o : tensor<2x4x6xf32>
}

// -----

// A query and the one before it: no causal order, no blocks.
// CHECK: remark: [Missed] linear | {{.*}}Function=sliding | Remark="not raised: expected a mask that is causal order, windows or a number of keys, but got another pattern; causal order is key <= query + keys - queries"
#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, v) -> (b, i)>
func.func @sliding(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %zq = arith.constant dense<0.0> : tensor<2x4x8xf32>
  %zk = arith.constant dense<0.0> : tensor<2x8x4xf32>
  %a = arith.maximumf %q, %zq : tensor<2x4x8xf32>
  %b = arith.maximumf %kt, %zk : tensor<2x8x4xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %s = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %two = arith.constant 2 : index
    %last = arith.addi %i, %two : index
    %hidden = arith.cmpi slt, %j, %i : index
    %r = arith.select %hidden, %zero, %x : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4xf32>
  %d.e = tensor.empty() : tensor<2x4xf32>
  %d.z = linalg.fill ins(%zero : f32) outs(%d.e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = linalg.reduce ins(%w : tensor<2x4x4xf32>) outs(%d.z : tensor<2x4xf32>) dimensions = [2]
    (%x: f32, %y: f32) {
      %r = arith.addf %x, %y : f32
      linalg.yield %r : f32
    }
  %o.e = tensor.empty() : tensor<2x4x6xf32>
  %o.z = linalg.fill ins(%zero : f32) outs(%o.e : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %n = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x6xf32>) outs(%o.z : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %o = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%n, %d : tensor<2x4x6xf32>, tensor<2x4xf32>) outs(%o.e : tensor<2x4x6xf32>) {
  ^bb0(%x: f32, %sum: f32, %y: f32):
    %r = arith.divf %x, %sum : f32
    linalg.yield %r : f32
  } -> tensor<2x4x6xf32>
  return %o : tensor<2x4x6xf32>
}

// -----

// Causal linear attention over more keys than queries has a state before its first query.
// CHECK: remark: [Missed] linear | {{.*}}Function=fewer_queries | Remark="not raised: expected as many queries as keys with causal linear attention, but got other numbers"
#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, v) -> (b, i)>
func.func @fewer_queries(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x6xf32>, %v: tensor<2x6x6xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %zq = arith.constant dense<0.0> : tensor<2x4x8xf32>
  %zk = arith.constant dense<0.0> : tensor<2x8x6xf32>
  %a = arith.maximumf %q, %zq : tensor<2x4x8xf32>
  %b = arith.maximumf %kt, %zk : tensor<2x8x6xf32>
  %e = tensor.empty() : tensor<2x4x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %s = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x6xf32>) outs(%z : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x6xf32>) outs(%e : tensor<2x4x6xf32>) {
  ^bb0(%x: f32, %y: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %two = arith.constant 2 : index
    %last = arith.addi %i, %two : index
    %hidden = arith.cmpi sgt, %j, %last : index
    %r = arith.select %hidden, %zero, %x : f32
    linalg.yield %r : f32
  } -> tensor<2x4x6xf32>
  %d.e = tensor.empty() : tensor<2x4xf32>
  %d.z = linalg.fill ins(%zero : f32) outs(%d.e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = linalg.reduce ins(%w : tensor<2x4x6xf32>) outs(%d.z : tensor<2x4xf32>) dimensions = [2]
    (%x: f32, %y: f32) {
      %r = arith.addf %x, %y : f32
      linalg.yield %r : f32
    }
  %o.e = tensor.empty() : tensor<2x4x6xf32>
  %o.z = linalg.fill ins(%zero : f32) outs(%o.e : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %n = linalg.batch_matmul ins(%w, %v : tensor<2x4x6xf32>, tensor<2x6x6xf32>) outs(%o.z : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %o = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%n, %d : tensor<2x4x6xf32>, tensor<2x4xf32>) outs(%o.e : tensor<2x4x6xf32>) {
  ^bb0(%x: f32, %sum: f32, %y: f32):
    %r = arith.divf %x, %sum : f32
    linalg.yield %r : f32
  } -> tensor<2x4x6xf32>
  return %o : tensor<2x4x6xf32>
}

// -----

// The weights are a result too.
// CHECK: remark: [Missed] linear | {{.*}}Function=returned | Remark="not raised: expected weights that only the output reads, but got another use of them"
#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, v) -> (b, i)>
func.func @returned(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x6xf32>) -> (tensor<2x4x6xf32>, tensor<2x4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %zq = arith.constant dense<0.0> : tensor<2x4x8xf32>
  %zk = arith.constant dense<0.0> : tensor<2x8x4xf32>
  %a = arith.maximumf %q, %zq : tensor<2x4x8xf32>
  %b = arith.maximumf %kt, %zk : tensor<2x8x4xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %s = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %w = tensor.cast %s : tensor<2x4x4xf32> to tensor<2x4x4xf32>
  %d.e = tensor.empty() : tensor<2x4xf32>
  %d.z = linalg.fill ins(%zero : f32) outs(%d.e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = linalg.reduce ins(%w : tensor<2x4x4xf32>) outs(%d.z : tensor<2x4xf32>) dimensions = [2]
    (%x: f32, %y: f32) {
      %r = arith.addf %x, %y : f32
      linalg.yield %r : f32
    }
  %o.e = tensor.empty() : tensor<2x4x6xf32>
  %o.z = linalg.fill ins(%zero : f32) outs(%o.e : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %n = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x6xf32>) outs(%o.z : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %o = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%n, %d : tensor<2x4x6xf32>, tensor<2x4xf32>) outs(%o.e : tensor<2x4x6xf32>) {
  ^bb0(%x: f32, %sum: f32, %y: f32):
    %r = arith.divf %x, %sum : f32
    linalg.yield %r : f32
  } -> tensor<2x4x6xf32>
  return %o, %w : tensor<2x4x6xf32>, tensor<2x4x4xf32>
}
