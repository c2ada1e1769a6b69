// RUN: attn-opt %s -pass-pipeline="builtin.module(func.func(cpu-expand-math))" | FileCheck %s

// What is below the largest integer of x is one instruction, and so is the multiplication by the power of that integer, which
// takes x itself.
// CHECK-LABEL: func.func @wide
// CHECK-SAME:    %[[X:.*]]: vector<16xf32>
// CHECK-NOT:     math.exp2
// CHECK:         %[[DOWN:.*]] = arith.constant 9 : i32
// CHECK:         %[[F:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.reduce.ps.512"(%[[X]], %[[DOWN]],
// CHECK-COUNT-4: llvm.intr.fma(%{{.*}}, %[[F]], %{{.*}})
// CHECK:         %[[P:.*]] = llvm.intr.fma(%{{.*}}, %[[F]], %{{.*}})
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%[[P]], %[[X]],
func.func @wide(%x: vector<16xf32>) -> vector<16xf32> {
  %w = math.exp2 %x : vector<16xf32>
  return %w : vector<16xf32>
}

// CHECK-LABEL: func.func @narrow
// CHECK-NOT:     math.exp2
// CHECK-COUNT-5: llvm.intr.fma
// CHECK:         arith.shli
func.func @narrow(%x: vector<8xf32>) -> vector<8xf32> {
  %w = math.exp2 %x : vector<8xf32>
  return %w : vector<8xf32>
}

// Where an approximation is allowed the polynomial is of degree 3.
// CHECK-LABEL: func.func @approximate
// CHECK-COUNT-3: llvm.intr.fma
// CHECK-NOT:     llvm.intr.fma
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
func.func @approximate(%x: vector<16xf32>) -> vector<16xf32> {
  %w = math.exp2 %x fastmath<afn> : vector<16xf32>
  return %w : vector<16xf32>
}

// CHECK-LABEL: func.func @logarithm
// CHECK-NOT:     math.log2
// CHECK:         arith.divf
func.func @logarithm(%x: vector<16xf32>) -> vector<16xf32> {
  %w = math.log2 %x : vector<16xf32>
  return %w : vector<16xf32>
}
