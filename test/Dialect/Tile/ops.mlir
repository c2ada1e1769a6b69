// Every op and attribute with the example of its description, which examples.test compares word for word.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @memory
// CHECK-SAME: grid(batch, head, query_block)
tile.kernel @memory(%keys: memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>, %out: memref<?x4x?x64xf32, strided<[?, ?, ?, 1]>>,
                    %length: index) grid(batch, head, query_block) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[B:.*]] = tile.program_id batch
  %b = tile.program_id batch
  %h = tile.program_id head
  %i = tile.program_id query_block
  %g = arith.constant 1 : index
  %j = arith.constant 64 : index
  // CHECK: tile.load %{{.*}}[%[[B]], %{{.*}}, %{{.*}}, %{{.*}}] rows(%{{.*}}) : memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>> -> tensor<64x64xf32>
  %k = tile.load %keys[%b, %g, %j, %c0] rows(%length) : memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>> -> tensor<64x64xf32>
  %o = arith.negf %k : tensor<64x64xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%[[B]], %{{.*}}, %{{.*}}, %{{.*}}] : tensor<64x64xf32>, memref<?x4x?x64xf32, strided<[?, ?, ?, 1]>>
  tile.store %o, %out[%b, %h, %i, %c0] : tensor<64x64xf32>, memref<?x4x?x64xf32, strided<[?, ?, ?, 1]>>
  // CHECK: tile.store %{{.*}}] rows(%{{.*}}) :
  tile.store %o, %out[%b, %h, %i, %c0] rows(%length) : tensor<64x64xf32>, memref<?x4x?x64xf32, strided<[?, ?, ?, 1]>>
  // CHECK: tile.return
  tile.return
}

// CHECK-LABEL: tile.kernel @constants
tile.kernel @constants(%out: memref<4x6xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  // CHECK: arith.constant #tile.exact<1.4426950408889634> : tensor<4x6xf32>
  %t = arith.constant #tile.exact<1.4426950408889634> : tensor<4x6xf32>
  tile.store %t, %out[%c0, %c0] : tensor<4x6xf32>, memref<4x6xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @windows
tile.kernel @windows(%keys: memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>, %out: memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>,
                     %origin: index, %lower: index, %first: index, %length: index) grid(batch, head) {
  %c0 = arith.constant 0 : index
  %b = tile.program_id batch
  %g = tile.program_id head
  // CHECK: tile.load %{{.*}}] from(%{{.*}}) rows(%{{.*}}) fold(%{{.*}}) columns 7 stride 56 : memref<
  %w = tile.load %keys[%b, %g, %origin, %c0] from(%lower) rows(%length) fold(%first) columns 7 stride 56
      : memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>> -> tensor<49x64xf32>
  // CHECK: tile.load %{{.*}}] from(%{{.*}}) : memref<
  %r = tile.load %keys[%b, %g, %first, %c0] from(%lower) : memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>> -> tensor<49x64xf32>
  %s = arith.addf %w, %r : tensor<49x64xf32>
  // CHECK: tile.store %{{.*}}] fold(%{{.*}}) columns 7 stride 7 : tensor<
  tile.store %s, %out[%b, %g, %origin, %c0] fold(%first) columns 7 stride 7 : tensor<49x64xf32>, memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>
  // CHECK: tile.store %{{.*}}] from(%{{.*}}) rows(%{{.*}}) fold(%{{.*}}) columns 1 stride 56 : tensor<
  tile.store %s, %out[%b, %g, %origin, %c0] from(%lower) rows(%length) fold(%first) columns 1 stride 56
      : tensor<49x64xf32>, memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>
  tile.return
}

// CHECK-LABEL: tile.kernel @numbers
tile.kernel @numbers(%X: memref<64x4xf32>, %out: memref<64x4xf32>, %row: memref<64xf32>, %ints: memref<64xi32>, %i: index) grid(batch) {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<64x4xf32> -> tensor<64x4xf32>
  // CHECK: tile.iota %{{.*}} : tensor<64xf32>
  %places = tile.iota %i : tensor<64xf32>
  // CHECK: tile.iota %{{.*}} : tensor<64xi32>
  %integers = tile.iota %i : tensor<64xi32>
  // CHECK: tile.permute_columns %{{.*}} [1, 0, 3, 2] : tensor<64x4xf32>
  %pairs = tile.permute_columns %x [1, 0, 3, 2] : tensor<64x4xf32>
  tile.store %places, %row[%c0] : tensor<64xf32>, memref<64xf32>
  tile.store %integers, %ints[%c0] : tensor<64xi32>, memref<64xi32>
  tile.store %pairs, %out[%c0, %c0] : tensor<64x4xf32>, memref<64x4xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @elementwise
tile.kernel @elementwise(%in: memref<64x32xf32>, %out: memref<64x32xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %angles = tile.load %in[%c0, %c0] : memref<64x32xf32> -> tensor<64x32xf32>
  // CHECK: tile.sine %{{.*}} : tensor<64x32xf32>
  %sines = tile.sine %angles : tensor<64x32xf32>
  // CHECK: tile.cosine %{{.*}} : tensor<64x32xf32>
  %cosines = tile.cosine %angles : tensor<64x32xf32>
  %sum = arith.addf %sines, %cosines : tensor<64x32xf32>
  tile.store %sum, %out[%c0, %c0] : tensor<64x32xf32>, memref<64x32xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @arithmetic
// CHECK-SAME: attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>}
tile.kernel @arithmetic(%Q: memref<64x80xf32>, %K: memref<32x80xf32>, %out: memref<64x32xf32>, %left: index, %d: index)
    grid(value_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %q = tile.load %Q[%c0, %c0] : memref<64x80xf32> -> tensor<64x80xf32>
  %k = tile.load %K[%c0, %c0] : memref<32x80xf32> -> tensor<32x80xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {transpose_b} : tensor<64x80xf32>, tensor<32x80xf32> -> tensor<64x32xf32>
  %s = tile.dot %q, %k, %zero {transpose_b} : tensor<64x80xf32>, tensor<32x80xf32> -> tensor<64x32xf32>
  // CHECK: tile.reduce max %{{.*}} axis 1 : tensor<64x32xf32> -> tensor<64xf32>
  %m = tile.reduce max %s axis 1 : tensor<64x32xf32> -> tensor<64xf32>
  // CHECK: tile.expand %{{.*}} axis 1 : tensor<64xf32> -> tensor<64x32xf32>
  %r = tile.expand %m axis 1 : tensor<64xf32> -> tensor<64x32xf32>
  // CHECK: tile.mask %{{.*}} fill 0xFF800000 cols(%{{.*}}) diagonal(%{{.*}}) : tensor<64x32xf32>
  %v = tile.mask %s fill 0xFF800000 cols(%left) diagonal(%d) : tensor<64x32xf32>
  // CHECK: tile.mask %{{.*}} fill 0.000000e+00 rows(%{{.*}}) : tensor<64xf32>
  %n = tile.mask %m fill 0.0 rows(%left) : tensor<64xf32>
  %t = arith.addf %r, %v : tensor<64x32xf32>
  tile.store %t, %out[%c0, %c0] : tensor<64x32xf32>, memref<64x32xf32>
  // CHECK: tile.store %{{.*}} : tensor<64xf32>, memref<64x32xf32>
  tile.store %n, %out[%c0, %c0] : tensor<64xf32>, memref<64x32xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @sequence
tile.kernel @sequence(%keys: memref<?x?x64xf32>, %out: memref<64x64xf32>, %sums: memref<?x64xf32>, %n: index) grid(batch, key_piece) {
  %c0 = arith.constant 0 : index
  %b = tile.program_id batch
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: %[[SUM:.*]] = tile.loop #tile.sum %[[J:.*]] = %{{.*}} to %{{.*}} step 64 carries(%[[ACC:.*]] = %{{.*}}) : (tensor<64x64xf32>) {
  %sum = tile.loop #tile.sum %j = %c0 to %n step 64 carries(%acc = %zero) : (tensor<64x64xf32>) {
    // CHECK: tile.load %{{.*}}[%{{.*}}, %[[J]], %{{.*}}]
    %k = tile.load %keys[%b, %j, %c0] : memref<?x?x64xf32> -> tensor<64x64xf32>
    // CHECK: tile.dot %{{.*}}, %{{.*}}, %[[ACC]] {transpose_a}
    %next = tile.dot %k, %k, %acc {transpose_a} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    // CHECK: tile.yield %{{.*}} : tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  // CHECK: tile.store %[[SUM]]
  tile.store %sum, %out[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  // From the last step down.
  // CHECK: tile.loop #tile.sum %[[J:.*]] = %{{.*}} to %{{.*}} step 64 reverse carries(%[[ACC:.*]] = %{{.*}}) : (tensor<64x64xf32>) {
  %later = tile.loop #tile.sum %j = %c0 to %n step 64 reverse carries(%acc = %zero) : (tensor<64x64xf32>) {
    // CHECK: tile.store %[[ACC]], %{{.*}}[%[[J]], %{{.*}}]
    tile.store %acc, %sums[%j, %c0] : tensor<64x64xf32>, memref<?x64xf32>
    %k = tile.load %keys[%b, %j, %c0] : memref<?x?x64xf32> -> tensor<64x64xf32>
    %next = tile.dot %k, %k, %acc {transpose_a} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  // CHECK: tile.loop #tile.sum %{{.*}} = %{{.*}} to %{{.*}} step 1 reverse attributes {note = 1 : i64} {
  tile.loop #tile.sum %j = %c0 to %n step 1 reverse attributes {note = 1} {
    tile.yield
  }
  // A loop may carry nothing.
  // CHECK: tile.loop #tile.sum %{{.*}} = %{{.*}} to %{{.*}} step 1 {
  tile.loop #tile.sum %j = %c0 to %n step 1 {
    // CHECK: tile.yield{{$}}
    tile.yield
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @online
tile.kernel @online(%out: memref<64xf32>, %n: index) grid(query_block) {
  %c0 = arith.constant 0 : index
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %acc0 = arith.constant dense<0.0> : tensor<64x32xf32>
  // CHECK: tile.loop #tile.rescaled_sum<exp2, row> %{{.*}} carries(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>)
  %r:3 = tile.loop #tile.rescaled_sum<exp2, row> %j = %c0 to %n step 64 carries(%m = %m0, %l = %l0, %acc = %acc0) : (tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>) {
    tile.yield %m, %l, %acc : tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>
  }
  tile.loop #tile.sum %j = %c0 to %n step 64 carries(%m = %m0, %l = %l0) : (tensor<64xf32>, tensor<64xf32>) {
    tile.yield %m, %l : tensor<64xf32>, tensor<64xf32>
  }
  tile.store %r#1, %out[%c0] : tensor<64xf32>, memref<64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @copy
tile.kernel @copy(%in: memref<?x64xf32>, %out: memref<?x64xf32>) grid(query_block) {
  %p = tile.program_id query_block
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %i = arith.muli %p, %c64 : index
  %t = tile.load %in[%i, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  tile.store %t, %out[%i, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// The kinds of arguments, and memories of every element type.
// CHECK-LABEL: tile.kernel @arguments
// CHECK-SAME: i64, %{{.*}}: f32, %{{.*}}: memref<?xi32>, %{{.*}}: memref<?xf16>, %{{.*}}: memref<?xbf16>
tile.kernel @arguments(%a: index, %b: i64, %c: f32, %d: memref<?xi32>, %e: memref<?xf16>, %f: memref<?xbf16>) grid(head) {
  tile.return
}

// CHECK-LABEL: func.func @plan
func.func @plan(%in: memref<?x64xf32>, %out: memref<?x64xf32>, %blocks: index, %batch: index, %pieces: index,
                %given: memref<?x4x?xf32, strided<[?, ?, 1]>>, %own: memref<?x4x?xf32>,
                %q: memref<?x8x?x64xf32, strided<[?, ?, ?, 1]>>) {
  // CHECK: tile.group_heads %{{.*}} : memref<?x8x?x64xf32, strided<[?, ?, ?, 1]>> to memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>
  %rows = tile.group_heads %q : memref<?x8x?x64xf32, strided<[?, ?, ?, 1]>> to memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>
  // CHECK: tile.either %{{.*}}, %{{.*}} : memref<?x4x?xf32, strided<[?, ?, 1]>>, memref<?x4x?xf32>
  %sums = tile.either %given, %own : memref<?x4x?xf32, strided<[?, ?, 1]>>, memref<?x4x?xf32>
  // CHECK: tile.launch @copy grid(%{{.*}}) (%{{.*}}, %{{.*}}) : memref<?x64xf32>, memref<?x64xf32>
  tile.launch @copy grid(%blocks) (%in, %out) : memref<?x64xf32>, memref<?x64xf32>
  // CHECK: tile.workspace(%{{.*}}, %{{.*}}) : memref<?x4x?x64x64xf32>
  %w = tile.workspace(%batch, %pieces) : memref<?x4x?x64x64xf32>
  // CHECK: tile.workspace() : memref<2x2xf32>
  %s = tile.workspace() : memref<2x2xf32>
  return
}

// CHECK-LABEL: func.func @precision
func.func @precision(%s: tensor<64x32xf32>, %k: tensor<32x80xf32>, %q: tensor<64x80xf32>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision tf32 : tensor<64x32xf32>, tensor<32x80xf32> -> tensor<64x80xf32>
  %n = tile.dot %s, %k, %q precision tf32 : tensor<64x32xf32>, tensor<32x80xf32> -> tensor<64x80xf32>
  return
}

// CHECK-LABEL: func.func @layouts
func.func @layouts(%w: tensor<64x64xf16, #tile.fragment<role = c, inner = 16, warps = [4, 1]>>,
                   %o: tensor<64x64xf32, #tile.fragment<role = c, inner = 16, warps = [4, 2]>>,
                   %m: tensor<64xf32, #tile.slice<axis = 1, warps = [4, 1]>>,
                   %k: tensor<64x64xf16, #tile.shared<rows = 64, columns = 64>>) {
  // CHECK: tile.convert_layout %{{.*}} : tensor<64x64xf16, #tile.fragment<role = c, inner = 16, warps = [4, 1]>> -> tensor<64x64xf16, #tile.fragment<role = a, inner = 16, warps = [4, 1]>>
  %a = tile.convert_layout %w : tensor<64x64xf16, #tile.fragment<role = c, inner = 16, warps = [4, 1]>>
      -> tensor<64x64xf16, #tile.fragment<role = a, inner = 16, warps = [4, 1]>>
  return
}

// CHECK-LABEL: func.func private @panels
// CHECK-SAME: tensor<64x128xf16, #tile.shared<rows = 64, columns = 128, panel = 64>>, tensor<64x64xf16, #tile.shared<rows = 64, columns = 64>>
func.func private @panels(tensor<64x128xf16, #tile.shared<rows = 64, columns = 128, panel = 64>>,
                          tensor<64x64xf16, #tile.shared<rows = 64, columns = 64, panel = 0>>)

// CHECK-LABEL: tile.kernel @arrive
tile.kernel @arrive(%counters: memref<?x4x2xi32>, %b: index, %pieces: index) grid(head, key_piece) {
  %h = tile.program_id head
  %c0 = arith.constant 0 : index
  // CHECK: %[[LAST:.*]] = tile.arrive %{{.*}}[%{{.*}}, %{{.*}}] of %{{.*}} : memref<?x4x2xi32>
  %last = tile.arrive %counters[%b, %h] of %pieces : memref<?x4x2xi32>
  // CHECK: tile.loop #tile.sum %{{.*}} = %{{.*}} to %[[LAST]] step 1
  tile.loop #tile.sum %once = %c0 to %last step 1 {
    tile.yield
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @any
tile.kernel @any(%memory: memref<256xf32>) grid(head) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %excess = tile.load %memory[%c0] : memref<256xf32> -> tensor<256xf32>
  // CHECK: %[[FAR:.*]] = tile.any %{{.*}} : tensor<256xf32>
  %far = tile.any %excess : tensor<256xf32>
  // CHECK: tile.loop #tile.sum %{{.*}} = %[[FAR]] to %{{.*}} step 1
  tile.loop #tile.sum %once = %far to %c1 step 1 {
    tile.yield
  }
  tile.return
}

// CHECK-LABEL: func.func @scan
func.func @scan(%a: tensor<16x64xf32>, %b: tensor<16x64xf32>, %v: tensor<16x32xf32>, %state: tensor<64x32xf32>, %acc: tensor<16x32xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = tile.scan %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x64xf32>, tensor<16x32xf32>, tensor<64x32xf32>
  %out, %next = tile.scan %a, %b, %v, %state, %acc : tensor<16x64xf32>, tensor<16x32xf32>, tensor<64x32xf32>
  return
}

// CHECK-LABEL: func.func @scan_decays_once
func.func @scan_decays_once(%a: tensor<16x64xf32>, %b: tensor<16x64xf32>, %v: tensor<16x32xf32>, %state: tensor<64x32xf32>, %acc: tensor<16x32xf32>, %g: tensor<64xf32>) {
  // CHECK: tile.scan {{.*}} decay %{{.*}} : tensor<16x64xf32>, tensor<16x32xf32>, tensor<64x32xf32> decay tensor<64xf32>
  %out, %next = tile.scan %a, %b, %v, %state, %acc decay %g
              : tensor<16x64xf32>, tensor<16x32xf32>, tensor<64x32xf32> decay tensor<64xf32>
  return
}

// CHECK-LABEL: func.func @scan_up
func.func @scan_up(%a: tensor<16x64xf32>, %b: tensor<16x64xf32>, %v: tensor<16x32xf32>, %state: tensor<64x32xf32>, %acc: tensor<16x32xf32>, %g: tensor<16x32xf32>) {
  // CHECK: tile.scan {{.*}} decay %{{.*}} {decay_columns, exclusive, reverse} : tensor<16x64xf32>, tensor<16x32xf32>, tensor<64x32xf32> decay tensor<16x32xf32>
  %out, %next = tile.scan %a, %b, %v, %state, %acc decay %g {decay_columns, exclusive, reverse}
              : tensor<16x64xf32>, tensor<16x32xf32>, tensor<64x32xf32> decay tensor<16x32xf32>
  return
}

// CHECK-LABEL: func.func @scan_erases
func.func @scan_erases(%a: tensor<1x64xf32>, %b: tensor<1x64xf32>, %x: tensor<1x64xf32>, %v: tensor<1x32xf32>, %state: tensor<64x32xf32>, %acc: tensor<1x32xf32>,
                       %g: tensor<1x64xf32>) {
  // CHECK: tile.scan {{.*}} decay %{{.*}} erase %{{.*}} : tensor<1x64xf32>, tensor<1x32xf32>, tensor<64x32xf32> decay tensor<1x64xf32> erase tensor<1x64xf32> -> tensor<1x32xf32>
  %out, %next, %u = tile.scan %a, %b, %v, %state, %acc decay %g erase %x
                  : tensor<1x64xf32>, tensor<1x32xf32>, tensor<64x32xf32> decay tensor<1x64xf32> erase tensor<1x64xf32> -> tensor<1x32xf32>
  // CHECK: tile.scan {{.*}} erase %{{.*}} : tensor<1x64xf32>, tensor<1x32xf32>, tensor<64x32xf32> erase tensor<1x64xf32> -> tensor<1x32xf32>
  %alone, %last, %added = tile.scan %a, %b, %u, %next, %out erase %x : tensor<1x64xf32>, tensor<1x32xf32>, tensor<64x32xf32> erase tensor<1x64xf32> -> tensor<1x32xf32>
  return
}

// CHECK-LABEL: tile.kernel @in_order
// CHECK: tile.loop #tile.sequential %{{.*}} carries
tile.kernel @in_order(%n: index) grid(batch) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %r = tile.loop #tile.sequential %j = %c0 to %n step 8 carries(%x = %one) : (tensor<8xf32>) {
    %next = math.exp2 %x : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @scalar_unit
// CHECK: tile.loop #tile.rescaled_sum<power 2, scalar>
tile.kernel @scalar_unit(%n: index) grid(batch) {
  %c0 = arith.constant 0 : index
  %unit = arith.constant dense<1.0> : tensor<1xf32>
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %r:2 = tile.loop #tile.rescaled_sum<power 2, scalar> %j = %c0 to %n step 8 carries(%u = %unit, %x = %zero) : (tensor<1xf32>, tensor<8x4xf32>) {
    tile.yield %u, %x : tensor<1xf32>, tensor<8x4xf32>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @affine
// CHECK: tile.loop #tile.affine<transition = vector> %{{.*}} reverse carries
// CHECK: tile.loop #tile.affine<transition = matrix>
tile.kernel @affine(%n: index) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %v:2 = tile.loop #tile.affine<transition = vector> %j = %c0 to %n step 8 reverse carries(%s = %zero, %z = %zeros) : (tensor<8x4xf32>, tensor<8xf32>) {
    tile.yield %s, %z : tensor<8x4xf32>, tensor<8xf32>
  }
  %m = tile.loop #tile.affine<transition = matrix> %j = %c0 to %n step 8 carries(%s = %zero) : (tensor<8x4xf32>) {
    tile.yield %s : tensor<8x4xf32>
  }
  tile.return
}
