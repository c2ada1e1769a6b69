// RUN: attn-opt %s -split-input-file -cpu-lower-kernels=isas=avx512 -cpu-lower-plans=isas=avx512 | FileCheck %s
// RUN: attn-opt %s -split-input-file -cpu-lower-kernels=isas=avx2 -cpu-lower-plans=isas=avx2 | FileCheck %s --check-prefix=AVX2

// A kernel becomes one function of five arguments; elementwise ops, loads and stores share one nest.
// AVX2-LABEL:  llvm.func @twice__avx2
// AVX2:          arith.addf {{.*}} : vector<8xf32>
// CHECK-LABEL: llvm.func @twice__avx512
// CHECK-SAME:    (%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr)
// CHECK-SAME:    attune.scratch_bytes = 384 : i64
// CHECK-SAME:    target_features
// Rows past the end read the row of zeros.
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK:           arith.select {{.*}} : !llvm.ptr
// CHECK:           llvm.load {{.*}} -> vector<16xf32>
// CHECK:           arith.addf {{.*}} : vector<16xf32>
// CHECK:           llvm.store {{.*}} : vector<16xf32>
// The last 8 of 40 columns are masked.
// CHECK:           llvm.intr.masked.load
// CHECK:           llvm.intr.masked.store
// CHECK-NOT:     scf.for
// CHECK:         llvm.return

// A plan reads its kernels from the table of an instruction set.
// CHECK-LABEL: llvm.func @plan__plan(
// CHECK-SAME:    %[[KERNELS:[a-z0-9]+]]: !llvm.ptr) attributes {passthrough = ["attune-shared"]
// CHECK:         %[[KERNEL:.*]] = llvm.load %[[KERNELS]] {{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.call @attune_rt_launch(%{{.*}}, %[[KERNEL]],
// CHECK-LABEL: llvm.func @plan__avx512(
// CHECK:         %[[TABLE:.*]] = llvm.mlir.addressof @plan__avx512_kernels
// CHECK:         llvm.call @plan__plan(%{{.*}}, %{{.*}}, %[[TABLE]])
// CHECK-LABEL: llvm.mlir.global internal constant @plan__avx512_kernels
// CHECK:         llvm.mlir.addressof @twice__avx512
// CHECK-LABEL: llvm.func @plan__workspace
// CHECK:         llvm.return %{{.*}} : i64
tile.kernel @twice(%x: memref<?x40xf32>, %y: memref<?x40xf32>) grid(query_block) {
  %p = tile.program_id query_block
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %i = arith.muli %p, %c64 : index
  %t = tile.load %x[%i, %c0] : memref<?x40xf32> -> tensor<64x40xf32>
  %u = arith.addf %t, %t : tensor<64x40xf32>
  tile.store %u, %y[%i, %c0] : tensor<64x40xf32>, memref<?x40xf32>
  tile.return
}
func.func @plan(%x: memref<?x40xf32>, %y: memref<?x40xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %x, %c0 : memref<?x40xf32>
  %blocks = arith.ceildivui %rows, %c64 : index
  tile.launch @twice grid(%blocks) (%x, %y) : memref<?x40xf32>, memref<?x40xf32>
  return
}

// -----

// A carried sum is updated in place: the dot's accumulator and its result are one buffer, and nothing is copied. The keys
// are read where they are, with the stride of the memory, if all 64 rows exist; else they are copied and zeros appended.
// CHECK-LABEL: llvm.func @state__avx512
// CHECK:         scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           %[[K:.*]]:2 = scf.if %{{.*}} -> (!llvm.ptr, i64)
// CHECK:             llvm.store {{.*}} : vector<16xf32>
// CHECK:             scf.yield
// CHECK:           } else {
// CHECK-NEXT:        scf.yield
// CHECK:           llvm.call @[[DOT:dot_64x64x64_s1_64_v64_c64_add_f64x4__avx512]](%[[S:[0-9]+]], %[[S]], %[[K]]#0, %[[K]]#0,
// CHECK-NEXT:    }
// CHECK:         scf.for
// CHECK:           llvm.intr.masked.store
// CHECK:       llvm.func internal @[[DOT]]
// CHECK:         llvm.intr.fma({{.*}}) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
// The products are added to the accumulator at the end.
// CHECK:         arith.addf {{.*}} : vector<16xf32>
tile.kernel @state(%K: memref<?x64xf32>, %S: memref<?x63xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %K, %c0 : memref<?x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.loop #tile.sum %j = %c0 to %n step 64 carries(%acc = %zero) : (tensor<64x64xf32>) {
    %k = tile.load %K[%j, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
    %next = tile.dot %k, %k, %acc {transpose_a} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  tile.store %s, %S[%c0, %c0] : tensor<64x64xf32>, memref<?x63xf32>
  tile.return
}

// -----

// The accumulator's factor goes into the dot; weights below the diagonal are neither computed nor summed above it.
// CHECK-LABEL: llvm.func @chunk__avx512
// CHECK:         llvm.call @dot_64x64x64_{{.*}}_n_below0__avx512
// CHECK:         llvm.call @dot_64x64x64_{{.*}}_add_rows_n_sums0__avx512
// CHECK-NOT:     arith.mulf
// CHECK:         llvm.return
tile.kernel @chunk(%K: memref<?x64xf32>, %m: memref<?xf32>, %S: memref<?x64xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %K, %c0 : memref<?x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %factor = tile.load %m[%c0] : memref<?xf32> -> tensor<64xf32>
  %s = tile.loop #tile.sum %j = %c0 to %n step 64 carries(%acc = %zero) : (tensor<64x64xf32>) {
    %k = tile.load %K[%j, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
    %w0 = tile.dot %k, %k, %zero : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %w = tile.mask %w0 fill 0.0 diagonal(%c0) : tensor<64x64xf32>
    %factors = tile.expand %factor axis 1 : tensor<64xf32> -> tensor<64x64xf32>
    %scaled = arith.mulf %acc, %factors : tensor<64x64xf32>
    %next = tile.dot %w, %k, %scaled : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  tile.store %s, %S[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// -----

// A loop without dots fetches the rows of its next step where it loads. With dots, one of them fetches that tile, a line in every
// two steps of its sums, as there is room for all 256 lines so: the first block of the result those of the first eight rows, which need not follow
// each other, the next one those of the next eight. Of windows the one to the right is fetched; its tokens are seven and seven in rows 56 apart, and each step
// finds its place by additions from that of the step before. Of a memory in blocks of 64 columns the next block's rows are.
// CHECK-LABEL: llvm.func @stream__avx512
// CHECK:         scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i64
// CHECK:           llvm.intr.prefetch
// CHECK-LABEL: llvm.func @blocks__avx512
// CHECK-NOT:     llvm.intr.prefetch
// CHECK:         llvm.call @dot_64x64x64_{{.*}}_add_f64x4__avx512(
// CHECK-LABEL: llvm.func internal @dot_64x64x64
// CHECK:         %[[MINE:.*]] = arith.cmpi ult, %[[OWN:.*]], %c8_i64
// CHECK:         %[[BEYOND:.*]] = arith.subi %arg9, %c256_i64
// CHECK:         %[[LINES:.*]] = arith.muli %[[OWN]], %c2048_i64
// CHECK:         %[[ROWS:.*]] = arith.muli %[[OWN]], %c8_i64
// CHECK:         %[[JUMPS:.*]] = arith.muli %[[ROWS]], %[[BEYOND]]
// CHECK:         %[[START:.*]] = arith.addi %[[LINES]], %[[JUMPS]]
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr %arg8[%[[START]]]
// CHECK:         %[[BASE:.*]] = arith.select %[[MINE]], %[[PLACE]], %arg0
// CHECK:         %[[JUMP:.*]] = arith.select %[[MINE]], %[[BEYOND]], %c0_i64
// CHECK:         scf.for %[[K:.*]] = %{{.*}} to %c64_i64{{.*}} step %{{.*}} iter_args
// CHECK:           %[[SLOW:.*]] = arith.divui %[[K]], %c2_i64
// CHECK:           %[[QUARTER:.*]] = arith.muli %[[SLOW]], %c1073741824_i64
// CHECK:           %[[ROW:.*]] = arith.shrui %[[QUARTER]], %c32_i64
// CHECK:           %[[LINE:.*]] = arith.muli %[[SLOW]], %c64_i64
// CHECK:           %[[FAR:.*]] = arith.muli %[[ROW]], %[[JUMP]]
// CHECK:           %[[BYTES:.*]] = arith.addi %[[LINE]], %[[FAR]]
// CHECK:           %[[FETCHED:.*]] = llvm.getelementptr %[[BASE]][%[[BYTES]]]
// CHECK:           "llvm.intr.prefetch"(%[[FETCHED]])
// CHECK-LABEL: llvm.func @windows__avx512
// CHECK-NOT:     llvm.intr.prefetch
// CHECK:         llvm.call @dot_64x64x49_{{.*}}_f49x4w7_56__avx512(
// CHECK-LABEL: llvm.func internal @dot_64x64x49
// CHECK:         %[[JUMP:.*]] = arith.muli %[[ROW:.*]], %c49_i64
// CHECK:         %[[FAR:.*]] = arith.addi %[[ROW]], %[[JUMP]]
// CHECK:         scf.for %{{.*}} iter_args
// CHECK-NOT:       arith.divui
// CHECK:           "llvm.intr.prefetch"
// CHECK:           %[[LAST:.*]] = arith.cmpi eq, %[[LEFT:.*]], %c1_i64
// CHECK:           arith.select %[[LAST]], %c7_i64{{.*}}, %{{.*}}
// CHECK:           %[[STEP:.*]] = arith.select %[[LAST]], %[[FAR]], %[[ROW]]
// CHECK:           arith.addi %{{.*}}, %[[STEP]]
// CHECK-LABEL: llvm.func @packed__avx512
// CHECK:           %[[BLOCK:.*]] = arith.divui %{{.*}}, %c64_i64
// CHECK:           %[[HERE:.*]] = arith.muli %[[BLOCK]], %c4096_i64
// CHECK:           %[[NEXT:.*]] = llvm.getelementptr %{{.*}}[%c4096_i64{{.*}}]
// CHECK:           llvm.call @dot_64x64x64_s64_1_v64_c64_add_f64x4__avx512({{.*}}, %[[NEXT]], %c256_i64
// From the last rows down those before are fetched, and what a way of a branch stores in the next step of the loop around it.
// CHECK-LABEL: llvm.func @backwards__avx512
// CHECK:           %[[BEFORE:.*]] = llvm.getelementptr %{{.*}}[%c-4096_i64{{.*}}]
// CHECK:           llvm.call @dot_64x64x64_{{.*}}_add_f64x4__avx512({{.*}}, %[[BEFORE]], %c256_i64
// CHECK-LABEL: llvm.func @branching__avx512
// CHECK:           %[[NEXT:.*]] = llvm.getelementptr %{{.*}}[%c4096_i64{{.*}}]
// CHECK:           llvm.call @dot_64x64x64_{{.*}}_add_f64x4__avx512({{.*}}, %[[NEXT]], %c256_i64
tile.kernel @stream(%K: memref<?x64xf32>, %S: memref<?x64xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %K, %c0 : memref<?x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.loop #tile.sum %j = %c0 to %n step 64 carries(%acc = %zero) : (tensor<64x64xf32>) {
    %k = tile.load %K[%j, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
    %next = arith.addf %k, %acc : tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  tile.store %s, %S[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}
tile.kernel @blocks(%K: memref<?x64xf32>, %S: memref<?x64xf32>) grid(query_block) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %K, %c0 : memref<?x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.loop #tile.sum %j = %c0 to %n step 64 carries(%acc = %zero) : (tensor<64x64xf32>) {
    %k = tile.load %K[%j, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
    %next = tile.dot %k, %k, %acc : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  tile.store %s, %S[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}
tile.kernel @windows(%K: memref<?x64xf32>, %S: memref<?x64xf32>) grid(query_block) {
  %c0 = arith.constant 0 : index
  %c49 = arith.constant 49 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.loop #tile.sum %j = %c0 to %c49 step 49 carries(%acc = %zero) : (tensor<64x64xf32>) {
    %k = tile.load %K[%c0, %c0] rows(%c49) fold(%j) columns 7 stride 56 : memref<?x64xf32> -> tensor<49x64xf32>
    %next = tile.dot %k, %k, %acc {transpose_a} : tensor<49x64xf32>, tensor<49x64xf32> -> tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  tile.store %s, %S[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}
tile.kernel @packed(%E: memref<?x64x64xf32>, %S: memref<64x64xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %blocks = memref.dim %E, %c0 : memref<?x64x64xf32>
  %n = arith.muli %blocks, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.loop #tile.sum %j = %c0 to %n step 64 carries(%acc = %zero) : (tensor<64x64xf32>) {
    %block = arith.divui %j, %c64 : index
    %e = tile.load %E[%block, %c0, %c0] : memref<?x64x64xf32> -> tensor<64x64xf32>
    %next = tile.dot %e, %e, %acc : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  tile.store %s, %S[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}
tile.kernel @backwards(%K: memref<?x64xf32>, %S: memref<?x64xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %K, %c0 : memref<?x64xf32>
  %last = arith.subi %n, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.loop #tile.sum %j = %c0 to %n step 64 carries(%acc = %zero) : (tensor<64x64xf32>) {
    %row = arith.subi %last, %j : index
    %k = tile.load %K[%row, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
    %next = tile.dot %k, %k, %acc : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  tile.store %s, %S[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}
tile.kernel @branching(%K: memref<?x64xf32>, %S: memref<?x64xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %K, %c0 : memref<?x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.loop #tile.sum %j = %c0 to %n step 64 carries(%acc = %zero) : (tensor<64x64xf32>) {
    %most = tile.reduce max %acc axis 0 : tensor<64x64xf32> -> tensor<64xf32>
    %any = tile.any %most : tensor<64xf32>
    %usual = tile.loop #tile.sum %once = %any to %c1 step 1 carries(%u = %acc) : (tensor<64x64xf32>) {
      %next = tile.dot %acc, %acc, %u : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      tile.store %next, %S[%j, %c0] : tensor<64x64xf32>, memref<?x64xf32>
      tile.yield %next : tensor<64x64xf32>
    }
    tile.yield %usual : tensor<64x64xf32>
  }
  tile.return
}

// -----

// A dot whose rows are scaled and stored writes to memory: to that with all rows at once, of another row by row to it or, past
// its end, to a row that nobody reads. What the kernel reads again goes through the scratch.
// CHECK-LABEL: llvm.func @stores__avx512
// CHECK:         llvm.call @dot_64x64x64_{{.*}}_store_scaled__avx512(
// CHECK-NOT:     scf.for
// CHECK:         llvm.call @dot_64x64x64_{{.*}}_storebelow_scaled__avx512(
// CHECK-NOT:     scf.for
// CHECK:         llvm.call @dot_64x64x64_{{.*}}_c64__avx512(
// CHECK:         scf.for
// CHECK-LABEL: llvm.func internal @dot_64x64x64_{{.*}}_store_scaled__avx512
// CHECK:         %[[SUMS:.*]]:24 = scf.for
// CHECK:         %[[START:.*]] = llvm.getelementptr %arg0
// CHECK:         %[[FACTOR:.*]] = vector.broadcast
// CHECK:         %[[SCALED:.*]] = arith.mulf %[[SUMS]]#0, %[[FACTOR]]
// CHECK:         llvm.store %[[SCALED]], %[[START]]
// CHECK-LABEL: llvm.func internal @dot_64x64x64_{{.*}}_storebelow_scaled__avx512
// CHECK:         %[[EXISTS:.*]] = arith.cmpi slt, %{{.*}}, %arg9
// CHECK:         arith.select %[[EXISTS]], %{{.*}}, %arg10
tile.kernel @stores(%X: memref<64x64xf32>, %S: memref<64xf32>, %A: memref<64x64xf32>, %B: memref<?x64xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %X[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
  %y = arith.addf %x, %x : tensor<64x64xf32>
  %s = tile.load %S[%c0] : memref<64xf32> -> tensor<64xf32>
  %rows = tile.expand %s axis 1 : tensor<64xf32> -> tensor<64x64xf32>
  %a0 = tile.dot %y, %y, %zero : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %a = arith.mulf %a0, %rows : tensor<64x64xf32>
  tile.store %a, %A[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  %b0 = tile.dot %y, %y, %zero : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %b = arith.mulf %rows, %b0 : tensor<64x64xf32>
  tile.store %b, %B[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  %x0 = tile.dot %y, %y, %zero : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %x1 = arith.mulf %x0, %rows : tensor<64x64xf32>
  tile.store %x1, %X[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

// -----

// What is added to the scaled rows, and made of memory alone, is computed just before the dot, which adds it as it stores.
// CHECK-LABEL: llvm.func @stores_sum__avx512
// CHECK:         scf.for
// CHECK:           math.exp2
// CHECK:         scf.for
// CHECK-NOT:       math.exp2
// CHECK:           arith.addf
// CHECK:         llvm.call @dot_64x64x64_{{.*}}_storebelow_scaled_sum__avx512(
// CHECK-NOT:     scf.for
// CHECK:         llvm.return
// CHECK-LABEL: llvm.func internal @dot_64x64x64_{{.*}}_storebelow_scaled_sum__avx512
// CHECK:         %[[SUMS:.*]]:24 = scf.for
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr %arg12
// CHECK:         %[[ADDEND:.*]] = llvm.load %[[PLACE]]
// CHECK:         %[[SUM:.*]] = llvm.intr.fma(%[[SUMS]]#0, %{{.*}}, %[[ADDEND]])
// CHECK:         llvm.store %[[SUM]],
tile.kernel @stores_sum(%X: memref<64x64xf32>, %S: memref<64xf32>, %V: memref<?x64xf32>, %B: memref<?x64xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %X[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
  %y = math.exp2 %x : tensor<64x64xf32>
  %s = tile.load %S[%c0] : memref<64xf32> -> tensor<64xf32>
  %rows = tile.expand %s axis 1 : tensor<64xf32> -> tensor<64x64xf32>
  %v0 = tile.load %V[%c0, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  %v1 = tile.load %V[%c1, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  %v = arith.addf %v0, %v1 : tensor<64x64xf32>
  %b0 = tile.dot %y, %y, %zero : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %b1 = arith.mulf %rows, %b0 : tensor<64x64xf32>
  %b = arith.addf %b1, %v : tensor<64x64xf32>
  tile.store %b, %B[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// -----

// A sum that lies in memory is added to there: neither what is loaded nor the result has a place in the scratch. It is not where the sum is read
// again, is stored elsewhere, or where something else is stored between the load and the dot.
// CHECK-LABEL: llvm.func @sums__avx512
// CHECK:         llvm.call @dot_64x64x64_{{.*}}_storebelow_there__avx512(
// CHECK-NOT:     _there__
// CHECK:         llvm.return
// CHECK-LABEL: llvm.func internal @dot_64x64x64_{{.*}}_storebelow_there__avx512
// CHECK:         %[[SUMS:.*]]:24 = scf.for
// CHECK:         %[[EXISTS:.*]] = arith.cmpi slt, %{{.*}}, %arg9
// CHECK:         %[[PLACE:.*]] = arith.select %[[EXISTS]], %{{.*}}, %arg10
// CHECK:         %[[BEFORE:.*]] = llvm.load %[[PLACE]] {
// CHECK:         %[[SUM:.*]] = arith.addf %[[BEFORE]], %[[SUMS]]#0
// CHECK:         llvm.store %[[SUM]], %[[PLACE]]
tile.kernel @sums(%X: memref<64x64xf32>, %S: memref<?x64xf32>, %T: memref<?x64xf32>, %U: memref<?x64xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = tile.load %X[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
  %y = arith.addf %x, %x : tensor<64x64xf32>
  %s = tile.load %S[%c0, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  %more = tile.dot %y, %y, %s : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %more, %S[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  %t = tile.load %T[%c0, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  %elsewhere = tile.dot %y, %y, %t : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %elsewhere, %T[%c64, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  %u = tile.load %U[%c0, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  tile.store %y, %U[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  %over = tile.dot %y, %y, %u : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %over, %U[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  %v = tile.load %U[%c64, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  %again = tile.dot %y, %y, %v : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %again, %U[%c64, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.store %again, %T[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// -----

// As it ends a block a dot adds a number of each row, multiplies with a tile that is there for others, and stores. A tile that only the product reads
// is multiplied in a nest.
// CHECK-LABEL: llvm.func @ends__avx512
// CHECK:         llvm.call @dot_64x64x64_{{.*}}_add_eachrows_storebelow_times__avx512(
// CHECK-NOT:     _times__
// CHECK:         arith.mulf
// CHECK:         llvm.return
// CHECK-LABEL: llvm.func internal @dot_64x64x64_{{.*}}_add_eachrows_storebelow_times__avx512
// CHECK:         %[[SUMS:.*]]:24 = scf.for
// CHECK:           scf.yield
// CHECK:         %[[NUMBER:.*]] = llvm.load %{{.*}} -> f32
// CHECK:         %[[EACH:.*]] = vector.broadcast %[[NUMBER]] : f32 to vector<16xf32>
// CHECK:         %[[SUM:.*]] = arith.addf %[[EACH]], %[[SUMS]]#0
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr %arg12
// CHECK:         %[[FACTOR:.*]] = llvm.load %[[PLACE]]
// CHECK:         %[[PRODUCT:.*]] = arith.mulf %[[SUM]], %[[FACTOR]]
// CHECK:         llvm.store %[[PRODUCT]],
tile.kernel @ends(%X: memref<64x64xf32>, %S: memref<64xf32>, %A: memref<?x64xf32>, %B: memref<?x64xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %X[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
  %y = arith.addf %x, %x : tensor<64x64xf32>
  %s = tile.load %S[%c0] : memref<64xf32> -> tensor<64xf32>
  %rows = tile.expand %s axis 1 : tensor<64xf32> -> tensor<64x64xf32>
  %a0 = tile.dot %y, %y, %rows : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %a = arith.mulf %y, %a0 : tensor<64x64xf32>
  tile.store %a, %A[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  %w = math.exp2 %y : tensor<64x64xf32>
  %b0 = tile.dot %y, %y, %zero : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %b = arith.mulf %b0, %w : tensor<64x64xf32>
  tile.store %b, %B[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// -----

// In its last step a loop fetches the next block of queries, too, and the lines that the kernel will store to; what lies in one
// place for all blocks it does not. In the other steps these fetches have a place that is in the cache already, and no distance
// from row to row.
// CHECK-LABEL: llvm.func @around__avx512
// CHECK:         scf.for %[[J:.*]] = %{{.*}} to %[[END:c128_i64.*]] step
// CHECK:           %[[NEXT:.*]] = arith.addi %[[J]], %c64_i64
// CHECK:           %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[END]]
// CHECK:           %[[QUERY:.*]] = arith.select %[[MORE]], %[[IDLE:.*]], %{{.*}} : !llvm.ptr
// CHECK:           %[[QUERY_ROW:.*]] = arith.select %[[MORE]], %c0_i64{{.*}}, %{{.*}} : i64
// CHECK:           %[[OUTPUT:.*]] = arith.select %{{.*}}, %[[IDLE]], %{{.*}} : !llvm.ptr
// CHECK:           llvm.call @dot_64x64x64_{{.*}}_add_f64x4_f64x4_f64x4__avx512({{.*}}, %[[QUERY]], %[[QUERY_ROW]], %{{.*}}, %[[OUTPUT]],
tile.kernel @around(%Q: memref<?x64xf32>, %K: memref<?x64xf32>, %O: memref<?x64xf32>, %M: memref<?x64xf32>) grid(query_block) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %m = tile.load %M[%c0, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %block = tile.program_id query_block
  %i = arith.muli %block, %c128 : index
  %q = tile.load %Q[%i, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  %s = tile.loop #tile.sum %j = %c0 to %c128 step 64 carries(%acc = %m) : (tensor<64x64xf32>) {
    %k = tile.load %K[%j, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
    %next = tile.dot %q, %k, %acc : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  tile.store %s, %O[%i, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// -----

// The function that tells a workspace is asked for any sizes: its sums and products end at the largest number. The plan runs for
// those that the runtime let pass.
// CHECK-LABEL: llvm.func @sizes__plan(
// CHECK-NOT:     with.overflow
// CHECK-NOT:     sadd.sat
// CHECK-LABEL: llvm.func @sizes__workspace
// CHECK:         "llvm.intr.smul.with.overflow"
// CHECK:         arith.select
// CHECK:         llvm.intr.sadd.sat
// CHECK-NOT:     arith.muli
// CHECK-NOT:     arith.addi
// CHECK:         llvm.return
func.func @sizes(%x: memref<?x40xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %rows = memref.dim %x, %c0 : memref<?x40xf32>
  %thrice = arith.muli %rows, %c3 : index
  %more = arith.addi %thrice, %rows : index
  %w = tile.workspace(%more, %rows) : memref<?x7x?xf32>
  return
}
