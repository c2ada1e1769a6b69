// RUN: attn-opt %s -threads-to-llvm | FileCheck %s
// RUN: attn-opt %s -threads-to-llvm | FileCheck %s --check-prefix=GONE
// GONE-NOT: {{arith|cf}}.

// One instruction each; of a NaN the first two make a NaN.
// CHECK-LABEL: llvm.func @extremes
// CHECK: llvm.intr.maximum(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK: llvm.intr.minimum
// CHECK: llvm.intr.maxnum
// CHECK-NOT: llvm.fcmp
// CHECK: llvm.return
llvm.func @extremes(%a: f32, %b: f32) -> f32 {
  %larger = arith.maximumf %a, %b : f32
  %smaller = arith.minimumf %larger, %b : f32
  %number = arith.maxnumf %smaller, %a : f32
  llvm.return %number : f32
}

// Division that rounds up has no instruction.
// CHECK-LABEL: llvm.func @blocks
// CHECK: llvm.udiv
// CHECK: llvm.return
llvm.func @blocks(%rows: i64, %tile: i64) -> i64 {
  %blocks = arith.ceildivui %rows, %tile : i64
  llvm.return %blocks : i64
}

// CHECK-LABEL: llvm.func @counting
// CHECK: llvm.cond_br
llvm.func @counting(%end: i32) {
  %c0 = arith.constant 0 : i32
  cf.br ^head(%c0 : i32)
^head(%i: i32):
  %more = arith.cmpi slt, %i, %end : i32
  %c1 = arith.constant 1 : i32
  %next = arith.addi %i, %c1 : i32
  cf.cond_br %more, ^head(%next : i32), ^done
^done:
  llvm.return
}
