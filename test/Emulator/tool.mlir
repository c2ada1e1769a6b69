// The tool on a lowered gpu.module: parameters in the order of the command line, buffers printed, findings as exit status.
// RUN: %stock-mlir-opt %s --pass-pipeline='builtin.module(gpu.module(convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=true},reconcile-unrealized-casts))' -o %t
// RUN: attn-emulate %t --kernel axpy --block 8 --scalar f32:0.5 --buffer x:f32:8:iota --buffer y:f32:8:one --print y | FileCheck %s
// RUN: attn-emulate %t --kernel reverse --block 8 --buffer x:f32:8:iota --buffer y:f32:8:zero --print y --counters | FileCheck %s --check-prefix=REVERSE
// RUN: not attn-emulate %t --kernel axpy --block 8 --scalar f32:0.5 --buffer x:f32:7:iota --buffer y:f32:8:one | FileCheck %s --check-prefix=SHORT
// RUN: not attn-emulate %t --kernel axpy --block 8 --buffer x:f32:7:iota 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not attn-emulate %t --kernel other 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not attn-emulate %t --buffer x:f8:1:zero 2>&1 | FileCheck %s --check-prefix=TYPE

gpu.module @device {
  // CHECK: no findings
  // CHECK-NEXT: y: 1 1.5 2 2.5 3 3.5 4 4.5
  gpu.func @axpy(%a: f32, %x: memref<8xf32>, %y: memref<8xf32>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<8xf32>
    %w = memref.load %y[%i] : memref<8xf32>
    %p = arith.mulf %a, %v : f32
    %s = arith.addf %p, %w : f32
    memref.store %s, %y[%i] : memref<8xf32>
    gpu.return
  }
  // REVERSE: no findings
  // REVERSE: barriers: 1
  // REVERSE: global load bytes: 32
  // REVERSE: y: 7 6 5 4 3 2 1 0
  gpu.func @reverse(%x: memref<8xf32>, %y: memref<8xf32>) workgroup(%tile: memref<8xf32, #gpu.address_space<workgroup>>) kernel {
    %c7 = arith.constant 7 : index
    %i = gpu.thread_id x
    %j = arith.subi %c7, %i : index
    %v = memref.load %x[%i] : memref<8xf32>
    memref.store %v, %tile[%i] : memref<8xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %w = memref.load %tile[%j] : memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %w, %y[%i] : memref<8xf32>
    gpu.return
  }
}
// SHORT: out of bounds: thread 7 reads 4 bytes at 0 bytes beyond the end of 'x' (28 bytes)
// SHORT-NEXT: in kernel 'axpy', block (0, 0, 0), thread 7
// COUNT: error: expected 3 parameters for kernel 'axpy', but got 1
// OTHER: error: expected a kernel of the module, but got 'other'
// TYPE: error: expected an element type (f32, f16, bf16, i32, i64), but got 'f8'
