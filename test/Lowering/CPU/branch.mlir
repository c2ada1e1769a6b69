// RUN: attn-opt %s -cpu-lower-kernels=isas=avx512 -cpu-lower-plans=isas=avx512 | FileCheck %s
// RUN: attn-opt %s -loop-invariant-code-motion | FileCheck %s --check-prefix=STAYS

// Of 40 numbers the last 8 are a part of a vector. What is not a number counts as above 0.
// CHECK-LABEL: llvm.func @branch__avx512
// Two tiles, the one that is read and the one that is carried, which has one place: 64 x 48 numbers each; two rows for what does
// not exist, and the largest numbers.
// CHECK-SAME:    attune.scratch_bytes = 25152 : i64
// CHECK:         arith.cmpf ugt
// CHECK:         arith.cmpf ugt
// CHECK:         arith.andi
// CHECK:         arith.ori
// CHECK:         vector.reduction <or>
// CHECK:         %[[ANY:.*]] = arith.extui
// CHECK:         scf.for %{{.*}} = %[[ANY]] to
// CHECK:         arith.addf
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[ANY]]
// CHECK:         arith.mulf

// Neither way depends on its own loop; both stay where they are.
// STAYS-LABEL: tile.kernel @branch
// STAYS:         %[[ANY:.*]] = tile.any
// STAYS:         tile.loop #tile.sum %{{.*}} = %[[ANY]] to
// STAYS:           math.exp2
// STAYS:         tile.loop #tile.sum %{{.*}} = %{{.*}} to %[[ANY]]
// STAYS:           math.absf
tile.kernel @branch(%x: memref<?x40xf32>, %y: memref<64x40xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x40xf32>
  %n = memref.dim %x, %c0 : memref<?x40xf32>
  %sum = tile.loop #tile.sum %i = %c0 to %n step 64 carries(%s = %zero) : (tensor<64x40xf32>) {
    %t = tile.load %x[%i, %c0] : memref<?x40xf32> -> tensor<64x40xf32>
    %most = tile.reduce max %t axis 0 : tensor<64x40xf32> -> tensor<40xf32>
    %any = tile.any %most : tensor<40xf32>
    %usual = tile.loop #tile.sum %once = %any to %c1 step 1 carries(%u = %s) : (tensor<64x40xf32>) {
      %e = math.exp2 %t : tensor<64x40xf32>
      %next = arith.addf %u, %e : tensor<64x40xf32>
      tile.yield %next : tensor<64x40xf32>
    }
    %always = tile.loop #tile.sum %once = %c0 to %any step 1 carries(%u = %usual) : (tensor<64x40xf32>) {
      %a = math.absf %t : tensor<64x40xf32>
      %next = arith.mulf %u, %a : tensor<64x40xf32>
      tile.yield %next : tensor<64x40xf32>
    }
    tile.yield %always : tensor<64x40xf32>
  }
  tile.store %sum, %y[%c0, %c0] : tensor<64x40xf32>, memref<64x40xf32>
  tile.return
}
