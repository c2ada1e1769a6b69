// The kernels of the two families, as lib/Kernel writes them: read them beside the ops' documentation.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

!q = memref<?x4x?x64xbf16, strided<[?, ?, ?, 1]>>
!kv = memref<?x2x?x64xbf16, strided<[?, ?, ?, 1]>>
!lens = memref<?xi32>

// Exact softmax, CPU operands (f32), causal with key lengths and grouped queries (head h reads KV head h / 2).
// The logits are scaled by scale·log2 e, so that exp2 serves.
// CHECK-LABEL: tile.kernel @softmax
tile.kernel @softmax(%Q: !q, %K: !kv, %V: !kv, %O: !q, %lengths: !lens) grid(batch, head, query_block)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %lowest = arith.constant dense<0xFF800000> : tensor<64xf32>
  %scale = arith.constant dense<0.18033688> : tensor<64x64xf32>
  %b = tile.program_id batch
  %h = tile.program_id head
  %p = tile.program_id query_block
  %g = arith.divui %h, %c2 : index
  %i = arith.muli %p, %c64 : index
  %n = memref.dim %Q, %c2 : !q
  %N = memref.dim %K, %c2 : !kv
  %length32 = memref.load %lengths[%b] : !lens
  %length = arith.index_cast %length32 : i32 to index
  %offset = arith.subi %N, %n : index
  // Keys that any query of this block sees, and keys that every one sees.
  %i64 = arith.addi %i, %c64 : index
  %seen = arith.addi %i64, %offset : index
  %last = arith.minsi %seen, %length : index
  %diagonal = arith.addi %i, %offset : index
  %every = arith.minsi %diagonal, %length : index
  %blocks = arith.floordivsi %every, %c64 : index
  %full0 = arith.muli %blocks, %c64 : index
  %full = arith.maxsi %full0, %c0 : index

  %qs = tile.load %Q[%b, %h, %i, %c0] : !q -> tensor<64x64xbf16>
  %qf = arith.extf %qs : tensor<64x64xbf16> to tensor<64x64xf32>
  %q = arith.mulf %qf, %scale : tensor<64x64xf32>

  // CHECK: tile.loop #tile.rescaled_sum<exp2, row>
  %inner:3 = tile.loop #tile.rescaled_sum<exp2, row> %j = %c0 to %full step 64 carries(%m = %lowest, %l = %zeros, %acc = %zero) : (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) {
    %ks = tile.load %K[%b, %g, %j, %c0] : !kv -> tensor<64x64xbf16>
    %k = arith.extf %ks : tensor<64x64xbf16> to tensor<64x64xf32>
    %s = tile.dot %q, %k, %zero {transpose_b} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %ms = tile.reduce max %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %m1 = arith.maximumf %m, %ms : tensor<64xf32>
    %dm = arith.subf %m, %m1 : tensor<64xf32>
    %alpha = math.exp2 %dm : tensor<64xf32>
    %me = tile.expand %m1 axis 1 : tensor<64xf32> -> tensor<64x64xf32>
    %sm = arith.subf %s, %me : tensor<64x64xf32>
    %w = math.exp2 %sm : tensor<64x64xf32>
    %ws = tile.reduce add %w axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %la = arith.mulf %l, %alpha : tensor<64xf32>
    %l1 = arith.addf %la, %ws : tensor<64xf32>
    %ae = tile.expand %alpha axis 1 : tensor<64xf32> -> tensor<64x64xf32>
    %aa = arith.mulf %acc, %ae : tensor<64x64xf32>
    %vs = tile.load %V[%b, %g, %j, %c0] : !kv -> tensor<64x64xbf16>
    %v = arith.extf %vs : tensor<64x64xbf16> to tensor<64x64xf32>
    %acc1 = tile.dot %w, %v, %aa : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.yield %m1, %l1, %acc1 : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
  }
  // The blocks at the diagonal and at the end, masked. A row that has seen nothing has m = -inf: the guard %safe
  // keeps -inf − -inf away.
  %edge:3 = tile.loop #tile.rescaled_sum<exp2, row> %j = %full to %last step 64 carries(%m = %inner#0, %l = %inner#1, %acc = %inner#2) : (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) {
    %ks = tile.load %K[%b, %g, %j, %c0] rows(%length) : !kv -> tensor<64x64xbf16>
    %k = arith.extf %ks : tensor<64x64xbf16> to tensor<64x64xf32>
    %s0 = tile.dot %q, %k, %zero {transpose_b} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %left = arith.subi %length, %j : index
    %d = arith.subi %diagonal, %j : index
    %s = tile.mask %s0 fill 0xFF800000 cols(%left) diagonal(%d) : tensor<64x64xf32>
    %ms = tile.reduce max %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %m1 = arith.maximumf %m, %ms : tensor<64xf32>
    %none = arith.cmpf oeq, %m1, %lowest : tensor<64xf32>
    %safe = arith.select %none, %zeros, %m1 : tensor<64xi1>, tensor<64xf32>
    %dm = arith.subf %m, %safe : tensor<64xf32>
    %alpha = math.exp2 %dm : tensor<64xf32>
    %me = tile.expand %safe axis 1 : tensor<64xf32> -> tensor<64x64xf32>
    %sm = arith.subf %s, %me : tensor<64x64xf32>
    %w = math.exp2 %sm : tensor<64x64xf32>
    %ws = tile.reduce add %w axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %la = arith.mulf %l, %alpha : tensor<64xf32>
    %l1 = arith.addf %la, %ws : tensor<64xf32>
    %ae = tile.expand %alpha axis 1 : tensor<64xf32> -> tensor<64x64xf32>
    %aa = arith.mulf %acc, %ae : tensor<64x64xf32>
    %vs = tile.load %V[%b, %g, %j, %c0] rows(%length) : !kv -> tensor<64x64xbf16>
    %v = arith.extf %vs : tensor<64x64xbf16> to tensor<64x64xf32>
    %acc1 = tile.dot %w, %v, %aa : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.yield %m1, %l1, %acc1 : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
  }
  // A row that sees no key is 0.
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %empty = arith.cmpf oeq, %edge#1, %zeros : tensor<64xf32>
  %inverse0 = arith.divf %one, %edge#1 : tensor<64xf32>
  %inverse = arith.select %empty, %zeros, %inverse0 : tensor<64xi1>, tensor<64xf32>
  %ie = tile.expand %inverse axis 1 : tensor<64xf32> -> tensor<64x64xf32>
  %of = arith.mulf %edge#2, %ie : tensor<64x64xf32>
  %o = arith.truncf %of : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %o, %O[%b, %h, %i, %c0] : tensor<64x64xbf16>, !q
  tile.return
}

!f = memref<?x4x?x64xf32, strided<[?, ?, ?, 1]>>

// Chunked causal linear attention with elu(x) + 1, n = N. The incoming state and the part inside the chunk stay
// separate sums (R_t = lt(A Bᵀ) V + A S), and the normaliser has sums of its own.
// CHECK-LABEL: tile.kernel @chunked
tile.kernel @chunked(%Q: !f, %K: !f, %V: !f, %O: !f) grid(batch, head)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %ones = arith.constant dense<1.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %b = tile.program_id batch
  %h = tile.program_id head
  %n = memref.dim %Q, %c2 : !f
  // CHECK: tile.loop #tile.sum
  %state:2 = tile.loop #tile.sum %j = %c0 to %n step 64 carries(%S = %zero, %z = %zeros) : (tensor<64x64xf32>, tensor<64xf32>) {
    %qs = tile.load %Q[%b, %h, %j, %c0] : !f -> tensor<64x64xf32>
    %ks = tile.load %K[%b, %h, %j, %c0] : !f -> tensor<64x64xf32>
    %v = tile.load %V[%b, %h, %j, %c0] : !f -> tensor<64x64xf32>
    // elu(x) + 1 = max(x, 0) + exp(min(x, 0)), exp by exp2: right to the last bits for very negative x as well.
    %log2e = arith.constant dense<1.44269502> : tensor<64x64xf32>
    %qneg = arith.minimumf %qs, %zero : tensor<64x64xf32>
    %qpos = arith.maximumf %qs, %zero : tensor<64x64xf32>
    %ql = arith.mulf %qneg, %log2e : tensor<64x64xf32>
    %qe = math.exp2 %ql : tensor<64x64xf32>
    %a = arith.addf %qe, %qpos : tensor<64x64xf32>
    %kneg = arith.minimumf %ks, %zero : tensor<64x64xf32>
    %kpos = arith.maximumf %ks, %zero : tensor<64x64xf32>
    %kl = arith.mulf %kneg, %log2e : tensor<64x64xf32>
    %ke = math.exp2 %kl : tensor<64x64xf32>
    %b0 = arith.addf %ke, %kpos : tensor<64x64xf32>
    // φ(0) ≠ 0: keys past the end are cleared after the map.
    %left = arith.subi %n, %j : index
    %bk = tile.mask %b0 fill 0.0 rows(%left) : tensor<64x64xf32>
    %w0 = tile.dot %a, %bk, %zero {transpose_b} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %w = tile.mask %w0 fill 0.0 diagonal(%c0) : tensor<64x64xf32>
    %local = tile.dot %w, %v, %zero : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %past = tile.dot %a, %S, %zero : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %num = arith.addf %local, %past : tensor<64x64xf32>
    %ze = tile.expand %z axis 0 : tensor<64xf32> -> tensor<64x64xf32>
    %az = arith.mulf %a, %ze : tensor<64x64xf32>
    %dpast = tile.reduce add %az axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %dlocal = tile.reduce add %w axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %den0 = arith.addf %dlocal, %dpast : tensor<64xf32>
    %bias = arith.constant dense<1.0e-6> : tensor<64xf32>
    %den = arith.addf %den0, %bias : tensor<64xf32>
    %empty = arith.cmpf oeq, %den, %zeros : tensor<64xf32>
    %inverse0 = arith.divf %one, %den : tensor<64xf32>
    %inverse = arith.select %empty, %zeros, %inverse0 : tensor<64xi1>, tensor<64xf32>
    %ie = tile.expand %inverse axis 1 : tensor<64xf32> -> tensor<64x64xf32>
    %o = arith.mulf %num, %ie : tensor<64x64xf32>
    tile.store %o, %O[%b, %h, %j, %c0] : tensor<64x64xf32>, !f
    %S1 = tile.dot %bk, %v, %S {transpose_a} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %zs = tile.reduce add %bk axis 0 : tensor<64x64xf32> -> tensor<64xf32>
    %z1 = arith.addf %z, %zs : tensor<64xf32>
    tile.yield %S1, %z1 : tensor<64x64xf32>, tensor<64xf32>
  }
  tile.return
}

// The host part: one launch a kernel, grids from the sizes of the arguments.
// CHECK-LABEL: func.func @plan0
func.func @plan0(%Q: !f, %K: !f, %V: !f, %O: !f) {
  %c0 = arith.constant 0 : index
  %heads = arith.constant 4 : index
  %batch = memref.dim %Q, %c0 : !f
  // CHECK: tile.launch @chunked grid
  tile.launch @chunked grid(%batch, %heads) (%Q, %K, %V, %O) : !f, !f, !f, !f
  return
}
