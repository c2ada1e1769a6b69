// A file in the attn dialect runs like a spec: inputs by their names, optional results beside the output; the compiled
// code and the interpreter agree.
// RUN: rm -rf %t && mkdir -p %t/in
// RUN: %python -c "import numpy as np; r = np.random.default_rng(3); \
// RUN:   [np.save('%t/in/' + n + '.npy', r.standard_normal(s).astype('f4')) for n, s in \
// RUN:    dict(q=(2, 4, 33, 24), k=(2, 2, 33, 24), v=(2, 2, 33, 7)).items()]; \
// RUN:   np.save('%t/in/key_lengths.npy', np.array([33, 12], 'i4'))"
// RUN: attnc run %s --in %t/in --out %t/cpu
// RUN: attnc run %s --in %t/in --out %t/reference --reference
// RUN: %python -c "import numpy as np; load = lambda d, n: np.load('%t/' + d + '/' + n + '.npy').astype(float); \
// RUN:   check = lambda a, b: np.isfinite(a).all() and np.linalg.norm(a - b) <= 2e-5 * np.linalg.norm(b); \
// RUN:   names = ['o', 'final_state', 'final_sum']; \
// RUN:   print({n: (load('cpu', n).shape, bool(check(load('cpu', n), load('reference', n)))) for n in names})" | FileCheck %s
// CHECK: {'o': ((2, 4, 33, 7), True), 'final_state': ((2, 2, 24, 7), True), 'final_sum': ((2, 2, 24), True)}

// An input of another shape is an error that names it, with status 2; the arguments may stand in any order.
// RUN: %python -c "import numpy as np; np.save('%t/in/v.npy', np.zeros((2, 2, 34, 7), 'f4'))"
// RUN: sh -c 'attnc run %s --in %t/in --out %t/cpu; test $? -eq 2' 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: {{.*}}: expected size {{3[34]}} (keys of argument '{{.}}'){{.*}}, but got {{3[34]}}
func.func @from_mlir(%l: tensor<?xi32>, %q: tensor<?x4x?x24xf32>, %v: tensor<?x2x?x7xf32>, %k: tensor<?x2x?x24xf32>)
    -> (tensor<?x4x?x7xf32>, tensor<?x2x24x7xf32>, tensor<?x2x24xf32>) {
  %o, %s, %z = attn.kernel %q, %k, %v lengths(%l : tensor<?xi32>) {causal,
      denominator = #attn.denominator<bias = 1.0e-6, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<?x4x?x24xf32>, tensor<?x2x?x24xf32>, tensor<?x2x?x7xf32>
      -> tensor<?x4x?x7xf32>, final tensor<?x2x24x7xf32>, tensor<?x2x24xf32>
  return %o, %s, %z : tensor<?x4x?x7xf32>, tensor<?x2x24x7xf32>, tensor<?x2x24xf32>
}
