// The interpreters on the command line: a kernel alone, a host function, a function of attn ops, and what is refused.

// RUN: rm -rf %t && mkdir %t
// RUN: %python -c "import numpy as n; n.save('%t/x.npy', n.arange(6, dtype=n.float32).reshape(3, 2) + 0.1)"
// RUN: attune-eval %s --function copy --grid 3 %t/x.npy %t/y.npy=3x2
// RUN: attune-eval %s --function plan %t/x.npy %t/z.npy=3x2 --seed 5
// RUN: %python -c "import numpy as n; x, y, z = (n.load(f'%t/{a}.npy') for a in 'xyz'); \
// RUN:   h = x.astype(n.float16); print(y.dtype, (y == h).all(), (z == h).all())" | FileCheck %s --check-prefix=TILE
// TILE: float64 True True

// RUN: %python -c "import numpy as n; n.save('%t/q.npy', n.ones((1, 1, 2, 1), n.float32)); \
// RUN:   n.save('%t/v.npy', n.array([[[[1], [2]]]], n.float32))"
// RUN: attune-eval %s --function mean %t/q.npy %t/q.npy %t/v.npy -o %t/o.npy --faithful
// RUN: %python -c "import numpy as n; o = n.load('%t/o.npy'); print(o.dtype, o.ravel())" | FileCheck %s --check-prefix=ATTN
// ATTN: float32 [1.5 1.5]

// RUN: not attune-eval %s --function none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: expected a function to run, but got none
// RUN: not attune-eval %s --function plan %t/x.npy 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: expected 2 arguments, but got 1
// RUN: not attune-eval %s --function plan %t/missing.npy %t/z.npy=3x2 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: missing.npy: error: expected
// RUN: not attune-eval %s --function plan %t/x.npy new:-3x2 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: expected an argument of type memref<?x2xf16>, but got 'new:-3x2'
// RUN: not attune-eval %s --function plan 7 new:3x2 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: expected
// RUN: not attune-eval %s --function copy --grid 4 %t/x.npy new:3x2 2>&1 | FileCheck %s --check-prefix=BOUNDS
// BOUNDS: attune-eval.mlir:[[@LINE+6]]:8: error: 'memref.load' op expected an index of dimension 0 from 0 and below 3, but got 3

tile.kernel @copy(%x: memref<?x2xf16>, %y: memref<?x2xf16>) grid(query_block) {
  %p = tile.program_id query_block
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.load %x[%p, %c0] : memref<?x2xf16>
  %b = memref.load %x[%p, %c1] : memref<?x2xf16>
  memref.store %a, %y[%p, %c0] : memref<?x2xf16>
  memref.store %b, %y[%p, %c1] : memref<?x2xf16>
  tile.return
}

func.func @plan(%x: memref<?x2xf16>, %y: memref<?x2xf16>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x2xf16>
  tile.launch @copy grid(%n) (%x, %y) : memref<?x2xf16>, memref<?x2xf16>
  return
}

func.func @mean(%q: tensor<1x1x?x1xbf16>, %k: tensor<1x1x?x1xbf16>, %v: tensor<1x1x?x1xbf16>) -> tensor<1x1x?x1xbf16> {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x?x1xbf16>, tensor<1x1x?x1xbf16>, tensor<1x1x?x1xbf16> -> tensor<1x1x?x1xbf16>
  return %o : tensor<1x1x?x1xbf16>
}
