// RUN: attn-opt %s -cpu-expand-math | FileCheck %s

// CHECK-LABEL: func.func @wide
// CHECK-NOT:     math.exp2
// CHECK:         llvm.intr.roundeven
// CHECK-COUNT-5: llvm.intr.fma
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
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
