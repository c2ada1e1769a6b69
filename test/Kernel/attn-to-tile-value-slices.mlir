// Chunks with slices of values alone: a program has 32 of 48 values of a head, of the state before the sequence and after it, and all features. Regions first,
// then the kernel.
//
// RUN: attn-opt %s -attn-to-tile=print-regions -o /dev/null 2>&1 | FileCheck %s --check-prefix=REGION
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

#slices = #tile.schedule<target = gpu, query_tile = 16, key_tile = 16, piece = 2048, operand = f32, warps = 8, stages = 1, warp_columns = 8, feature_tile = 32, value_tile = 32>

// REGION-LABEL: region @erasing_chunked grid(batch, head, value tile 32)
// REGION:       load {{.*}}[batch, head, {{.*}}value : 32]
// REGION:       stage query step 16
// REGION-DAG:     load {{.*}}[batch, head, key : rows, 0 : 24]
// REGION-DAG:     load {{.*}}[batch, head, key : rows, value : 32]
// REGION:         output {{.*}} to {{.*}}[batch, head, query : rows, value : 32]
// REGION:       output {{.*}} to {{.*}}[batch, head, {{.*}}value : 32]

// CHECK-LABEL: tile.kernel @erasing_chunked(
// CHECK-SAME:    grid(batch, head)
// CHECK-DAG:   [[C2:%[a-z0-9_]+]] = arith.constant 2 : index
// CHECK-DAG:   [[C32:%[a-z0-9_]+]] = arith.constant 32 : index
// CHECK:       [[PROGRAM:%[a-z0-9_]+]] = tile.program_id{{ +}}head
// CHECK:       [[HEAD:%[a-z0-9_]+]] = arith.divui [[PROGRAM]], [[C2]]
// CHECK:       [[COLUMN:%[a-z0-9_]+]] = arith.muli %{{.*}}, [[C32]]
// CHECK:       tile.load %{{.*}}[%{{.*}}, [[HEAD]], %{{.*}}, [[COLUMN]]] {{.*}} -> tensor<24x32xf32>
// CHECK:       tile.loop #tile.affine<transition = matrix>
// CHECK-DAG:     tile.load {{.*}} -> tensor<16x24xf32>
// CHECK-DAG:     tile.load %{{.*}}[%{{.*}}, [[HEAD]], %{{.*}}, [[COLUMN]]] {{.*}} -> tensor<16x32xf32>
// CHECK:         tile.store %{{.*}}, %{{.*}}[%{{.*}}, [[HEAD]], %{{.*}}, [[COLUMN]]] : tensor<16x32xf32>
// CHECK:       tile.store %{{.*}}, %{{.*}}[%{{.*}}, [[HEAD]], %{{.*}}, [[COLUMN]]]{{.*}} : tensor<24x32xf32>
func.func @erasing(%q: tensor<1x2x70x24xf32>, %k: tensor<1x2x70x24xf32>, %v: tensor<1x2x70x48xf32>, %beta: tensor<1x2x70xf32>, %s0: tensor<1x2x24x48xf32>)
    -> (tensor<1x2x70x48xf32>, tensor<1x2x24x48xf32>) attributes {tile.schedule = #slices} {
  %a = attn.map %q {feature_map = #attn.feature_map<identity, scale = 1.0>} : tensor<1x2x70x24xf32> -> tensor<1x2x70x24xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<identity, scale = 1.0>, keys} : tensor<1x2x70x24xf32> -> tensor<1x2x70x24xf32>
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v initial(%s0 : tensor<1x2x24x48xf32>) erase(%beta : tensor<1x2x70xf32>)
      : tensor<1x2x70x24xf32>, tensor<1x2x70x24xf32>, tensor<1x2x70x48xf32>
      -> tensor<1x2x70x48xf32>, tensor<1x2x70xf32>, tensor<1x2x24x48xf32>, tensor<1x2x24xf32>
  %o = attn.normalize %num {guard = #attn.denominator<none>} : tensor<1x2x70x48xf32> -> tensor<1x2x70x48xf32>
  return %o, %s : tensor<1x2x70x48xf32>, tensor<1x2x24x48xf32>
}
