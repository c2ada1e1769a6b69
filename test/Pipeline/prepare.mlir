// A file of kernels with a prepare function: parameters are read and checked, the prepared tensors are filled once, and
// every plan reads them. o = q · (w² · sign), where w² goes through the prepare function's workspace.
// RUN: rm -rf %t && mkdir -p %t/in
// RUN: %python -c "import numpy as np; r = np.random.default_rng(7); save = lambda n, a: np.save('%t/in/' + n + '.npy', a); \
// RUN:   [save(n, r.standard_normal(s).astype('f4')) for n, s in \
// RUN:    {'q': (3, 2, 37, 8), 'k': (3, 2, 21, 8), 'w': (2, 8), 'part0.e': (2, 21)}.items()]; \
// RUN:   save('part0.sign', r.choice([-1.0, 1.0], (2, 8)).astype('f4')); save('part0.index', r.integers(0, 4, 3).astype('i4'))"
// RUN: attnc run %s --in %t/in --out %t/out
// RUN: %python -c "import numpy as np; x = {n: np.load('%t/in/' + n + '.npy').astype(float) for n in ['q', 'w', 'part0.sign']}; \
// RUN:   o = np.load('%t/out/o.npy'); want = x['q'] * (x['w'] ** 2 * x['part0.sign'])[None, :, None, :]; \
// RUN:   print(o.shape, bool(np.linalg.norm(o - want) <= 1e-6 * np.linalg.norm(want)))" | FileCheck %s
// CHECK: (3, 2, 37, 8) True

// Keys that a parameter bound must be those of the run; values must be what the table says.
// RUN: rm -rf %t/bad && cp -r %t/in %t/bad
// RUN: %python -c "import numpy as np; np.save('%t/bad/part0.e.npy', np.zeros((2, 22), 'f4'))"
// RUN: sh -c 'attnc run %s --in %t/bad --out %t/out; test $? -eq 2' 2>&1 | FileCheck %s --check-prefix=KEYS
// KEYS: error: scaled_workspace: argument 'k': expected size 22 (keys of parameter 'part0.e') in dimension 2, but got 21; prepare again with parameters of that size
// RUN: %python -c "import numpy as np; np.save('%t/bad/part0.index.npy', np.array([0, 4, 1], 'i4'))"
// RUN: sh -c 'attnc run %s --in %t/bad --out %t/out; test $? -eq 2' 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: error: scaled_prepare: argument 'part0.index': expected indices in 0 ... 3, but got 4 at [1]
// RUN: %python -c "import numpy as np; np.save('%t/bad/part0.sign.npy', np.zeros((2, 8), 'f4'))"
// RUN: sh -c 'attnc run %s --in %t/bad --out %t/out; test $? -eq 2' 2>&1 | FileCheck %s --check-prefix=SIGN
// SIGN: error: scaled_prepare: argument 'part0.sign': expected -1 or 1 in every element, but got 0 at [0, 0]

// The header tells of the parameters and of nothing else that the library keeps; its example compiles.
// RUN: attnc compile %s -o %t/lib/ && FileCheck %s --check-prefix=HEADER --input-file %t/lib/scaled.h
// HEADER:     * scaled by parameters
// HEADER:     * part0.e           parameter         f32    [2, N]
// HEADER-NEXT: *     compression of the keys
// HEADER:     * part0.index       parameter         i32    [3]
// HEADER-NEXT: *     each in 0 ... 3
// HEADER-NOT: factor
// HEADER:     const DLTensor *part0_sign; /* f32 [2, 8] */
// HEADER-NOT: factor

// A stage before kernels is gone, and so is a definition to interpret.
// RUN: not attnc compile %s --emit graph 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: error: expected --emit tile or a later stage for a file of kernels, but got graph
// RUN: not attnc run %s --in %t/in --out %t/out --reference 2>&1 | FileCheck %s --check-prefix=REFERENCE
// REFERENCE: error: expected a spec or ops of the attn dialect with --reference, but got kernels

// What the host functions must say of their arguments.
// RUN: sed 's/attributes {attune.prepare}//' %s > %t/none.mlir
// RUN: not attnc compile %t/none.mlir -o %t/lib/ 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: expected a prepare function of (w, part0.e, part0.sign, part0.index, factor), but got none
// RUN: sed 's/attune.dims = ".k"/attune.dims = ".."/' %s > %t/dims.mlir
// RUN: not attnc compile %t/dims.mlir -o %t/lib/ 2>&1 | FileCheck %s --check-prefix=DIMS
// DIMS: error: argument 3 of @scaled: expected b, q or k as the letter of each size that is known only at run
// RUN: sed 's/attune.role = "prepared"/attune.role = "ready"/' %s > %t/role.mlir
// RUN: not attnc compile %t/role.mlir -o %t/lib/ 2>&1 | FileCheck %s --check-prefix=ROLE
// ROLE: error: argument 7 of @scaled: expected a name, a tensor type, a role and a letter for each dimension

!tokens = memref<?x2x?x8xf32, strided<[?, ?, ?, 1]>>
!rows = memref<2x8xf32>
!weights = memref<2x?xf32>
!indices = memref<3xi32>

tile.kernel @scaled_run(%q: !tokens, %factor: !rows, %o: !tokens) grid(batch, head, query_block) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %b = tile.program_id batch
  %h = tile.program_id head
  %p = tile.program_id query_block
  %row = arith.muli %p, %c16 : index
  %n = memref.dim %q, %c2 : !tokens
  %x = tile.load %q[%b, %h, %row, %c0] rows(%n) : !tokens -> tensor<16x8xf32>
  %f = tile.load %factor[%h, %c0] : !rows -> tensor<1x8xf32>
  %sum = tile.reduce add %f axis 0 : tensor<1x8xf32> -> tensor<8xf32>
  %g = tile.expand %sum axis 0 : tensor<8xf32> -> tensor<16x8xf32>
  %y = arith.mulf %x, %g : tensor<16x8xf32>
  tile.store %y, %o[%b, %h, %row, %c0] rows(%n) : tensor<16x8xf32>, !tokens
  tile.return
}

tile.kernel @scaled_square(%w: !rows, %square: !rows) grid(head) {
  %c0 = arith.constant 0 : index
  %h = tile.program_id head
  %x = tile.load %w[%h, %c0] : !rows -> tensor<1x8xf32>
  %y = arith.mulf %x, %x : tensor<1x8xf32>
  tile.store %y, %square[%h, %c0] : tensor<1x8xf32>, !rows
  tile.return
}

tile.kernel @scaled_sign(%square: !rows, %sign: !rows, %factor: !rows) grid(head) {
  %c0 = arith.constant 0 : index
  %h = tile.program_id head
  %x = tile.load %square[%h, %c0] : !rows -> tensor<1x8xf32>
  %s = tile.load %sign[%h, %c0] : !rows -> tensor<1x8xf32>
  %y = arith.mulf %x, %s : tensor<1x8xf32>
  tile.store %y, %factor[%h, %c0] : tensor<1x8xf32>, !rows
  tile.return
}

func.func @scaled(
    %q: !tokens {attune.name = "q", attune.role = "input", attune.dims = "b.q.", attune.tensor = tensor<?x2x?x8xf32>},
    %k: !tokens {attune.name = "k", attune.role = "input", attune.dims = "b.k.", attune.tensor = tensor<?x2x?x8xf32>},
    %w: !rows {attune.name = "w", attune.role = "parameter", attune.dims = "..", attune.tensor = tensor<2x8xf32>},
    %e: !weights {attune.name = "part0.e", attune.role = "parameter", attune.dims = ".k", attune.tensor = tensor<2x?xf32>},
    %sign: !rows {attune.name = "part0.sign", attune.role = "parameter", attune.dims = "..", attune.signs,
                  attune.tensor = tensor<2x8xf32>},
    %index: !indices {attune.name = "part0.index", attune.role = "parameter", attune.dims = ".",
                      attune.index_bound = 4 : i64, attune.tensor = tensor<3xi32>},
    %o: !tokens {attune.name = "o", attune.role = "output", attune.dims = "b.q.", attune.tensor = tensor<?x2x?x8xf32>},
    %factor: !rows {attune.name = "factor", attune.role = "prepared", attune.dims = "..",
                    attune.tensor = tensor<2x8xf32>})
    attributes {attn.plan = #attn.plan<form = online, from = 0>, attune.summary = "scaled by parameters"} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %b = memref.dim %q, %c0 : !tokens
  %n = memref.dim %q, %c2 : !tokens
  %blocks = arith.ceildivui %n, %c16 : index
  tile.launch @scaled_run grid(%b, %c2, %blocks) (%q, %factor, %o) : !tokens, !rows, !tokens
  return
}

func.func @scaled__prepare(
    %w: !rows {attune.name = "w"}, %e: !weights {attune.name = "part0.e"}, %sign: !rows {attune.name = "part0.sign"},
    %index: !indices {attune.name = "part0.index"}, %factor: !rows {attune.name = "factor"})
    attributes {attune.prepare} {
  %c2 = arith.constant 2 : index
  %square = tile.workspace() : !rows
  tile.launch @scaled_square grid(%c2) (%w, %square) : !rows, !rows
  tile.launch @scaled_sign grid(%c2) (%square, %sign, %factor) : !rows, !rows, !rows
  return
}
