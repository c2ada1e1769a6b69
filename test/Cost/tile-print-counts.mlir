// RUN: attn-opt %s -attn-to-tile -canonicalize -cse -tile-print-counts="batch=1 queries=100" -o %t | FileCheck %s
// RUN: not attn-opt %S/Inputs/uncounted.mlir -tile-print-counts -split-input-file 2>&1 | FileCheck %S/Inputs/uncounted.mlir --check-prefix=UNCOUNTED

// All of it with 2 heads, keys of 8 and values of 16 numbers of f32, and 100 tokens.

// Causal softmax in tiles of 64 × 64. The first block of queries visits one tile of 64 keys, with the mask; the second one visits it
// without, and one of 36 keys with the mask: 3 tiles and 164 keys a head.
//   macs          64 · 64 · (8 + 16) a tile                                 = 98,304;  · 3 tiles · 2 heads
//   exponentials  64 · 64 weights and 64 factors a tile                     =  4,160;  · 3 · 2
//   elementwise   a tile: maximum, difference and sum of the scores 3 · 4,096, of the rows 4 · 64, the accumulator 64 · 16 = 13,568;
//                 with the mask 4,096 more, and 2 · 64 for rows without keys = 17,792;
//                 a block: the query 64 · 8, the inverse 4 · 64, the output 64 · 16 = 1,792;
//                 a head: 13,568 + 2 · 17,792 + 2 · 1,792                   = 52,736;  · 2
//   loaded        4 bytes of 100 · 8 for q, 164 · (8 + 16) for k and v      = 18,944;  · 2
//   stored        4 · 100 · 16                                              =  6,400;  · 2
// CHECK: causal_softmax: macs_f32 589824 exponentials 24960 elementwise 105472 bytes_loaded 37888 bytes_stored 12800{{$}}
!q = tensor<?x2x?x8xf32>
!v = tensor<?x2x?x16xf32>
func.func @causal(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !v {
  %o = attn.softmax %q, %k, %v {causal, scale = 0.25 : f64} : !q, !q, !v -> !v
  return %o : !v
}

// Chunks of 32 tokens, elu + 1: 4 chunks a head.
//   macs          the tokens that go through S [8, 16] one after another, each added to it and a product with it, 2 · 32 · 8 · 16;
//                 φ(k) through a state of one row, z [1, 8], 2 · 32 · 8     = 8,704;   · 4 chunks · 2 heads
//   exponentials  φ(q) and φ(k): 2 · 32 · 8                                 = 512;     · 4 · 2
//   elementwise   the maps 2 · 4 · 256, the mask of φ(k) 256, φ(q) times the sums up to each token 2 · 256, the inverse 4 · 32,
//                 the output 512, z from its row 8, and whether more than 65,536 tokens came before the chunk 3
//                                                                           = 3,467;   · 4 · 2
//   loaded        4 · 100 · (8 + 8 + 16)                                    = 12,800;  · 2
// CHECK: chunks_chunked: macs_f32 69632 exponentials 4096 elementwise 27736 bytes_loaded 25600 bytes_stored 12800{{$}}
#chunk = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 64, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<elu1>
!num = tensor<?x2x?x16xf32>
!den = tensor<?x2x?xf32>
!s = tensor<?x2x8x16xf32>
!z = tensor<?x2x8xf32>
func.func @chunks(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !v
    attributes {tile.schedule = #chunk} {
  %a = attn.map %q {feature_map = #map} : !q -> !q
  %b = attn.map %k {feature_map = #map} : !q -> !q
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v : !q, !q, !v -> !num, !den, !s, !z
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !v
  return %o : !v
}

// States S [8, 16] and z [8] of pieces of 64 keys: two pieces, the second one of 36 keys, of 2 tiles each.
//   state         macs 8 · 16 · 32 a tile, · 4 tiles · 2 heads; exponentials 256 a tile; elementwise the map 4 · 256, mask and sum 2 · 256, z 8;
//                 loaded 4 · 100 · (8 + 16) a head, stored 4 · (128 + 8) a piece
//   merge         2 pieces of 128 + 8 numbers a head added, and loaded; 136 stored
//   readout       4 blocks of 32 queries a head: macs 32 · 8 · 16; elementwise the map 4 · 256, φ(q) z 2 · 256, the inverse 4 · 32, the output 512;
//                 loaded 4 · 100 · 8 a head, and 4 · 136 a block
// CHECK: pieces_state: macs_f32 32768 exponentials 2048 elementwise 12352 bytes_loaded 19200 bytes_stored 2176{{$}}
// CHECK: pieces_merge: elementwise 544 bytes_loaded 2176 bytes_stored 1088{{$}}
// CHECK: pieces_readout: macs_f32 32768 exponentials 2048 elementwise 17408 bytes_loaded 10752 bytes_stored 12800{{$}}
func.func @pieces(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !v
    attributes {tile.schedule = #chunk} {
  %a = attn.map %q {feature_map = #map} : !q -> !q
  %b = attn.map %k {feature_map = #map} : !q -> !q
  %s, %z = attn.state %b, %v : !q, !v -> !s, !z
  %num, %den = attn.readout %a, %s, %z : !q, !s, !z -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !v
  return %o : !v
}
