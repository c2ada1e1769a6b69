// RUN: attn-opt %s -split-input-file -verify-diagnostics -tile-split-reduction=pieces=2

// Streams that cannot be split.

tile.kernel @nested(%n: index, %o: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %all = tile.loop #tile.sum %i = %c0 to %n step 1 carries(%s = %zero) : (tensor<4xf32>) {
    // expected-error @below {{expected a loop that is split to stand in the kernel's own block, but got one inside tile.loop}}
    %next = tile.loop #tile.sum %j = %c0 to %n step 1 carries(%t = %s) : (tensor<4xf32>) attributes {tile.split} {
      tile.yield %t : tensor<4xf32>
    }
    tile.yield %next : tensor<4xf32>
  }
  tile.store %all, %o[%c0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

// -----

tile.kernel @nothing(%n: index) grid(batch) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a loop that is split to carry tiles, but got none}}
  tile.loop #tile.sum %i = %c0 to %n step 1 attributes {tile.split} {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @not_cleared(%n: index, %o: memref<?x3x4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a loop before what is split that stores the state of no entries in #tile.sum, slice by slice, and a length of pieces and a kernel that merges them}}
  tile.loop #tile.sum %i = %c0 to %n step 1 attributes {tile.split = 2 : i64, tile.merged_by = "merge", tile.in_memory = #tile.sum} {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @cleared_by_a_step(%n: index, %o: memref<?x3x4xf32>) grid(batch) {
  %b = tile.program_id batch
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  tile.loop #tile.sum %f = %c0 to %c3 step 1 {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    tile.store %zero, %o[%b, %f, %c0] : tensor<4xf32>, memref<?x3x4xf32>
    tile.yield
  }
  // expected-error @below {{expected a loop before what is split that stores the state of no entries in #tile.sum}}
  tile.loop #tile.sum %i = %c0 to %n step 1 attributes {tile.split = 2 : i64, tile.merged_by = "merge", tile.in_memory = #tile.sum} {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @carries(%n: index, %o: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %a = tile.loop #tile.sum %i = %c0 to %n step 1 carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split} {
    tile.yield %s : tensor<4xf32>
  }
  // expected-error @below {{expected segments of one stream to have one carry, but got #tile.maximum behind #tile.sum}}
  %b = tile.loop #tile.maximum %i = %c0 to %n step 1 carries(%s = %a) : (tensor<4xf32>) attributes {tile.split} {
    tile.yield %s : tensor<4xf32>
  }
  tile.store %b, %o[%c0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

// -----

tile.kernel @apart(%n: index, %o: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %a = tile.loop #tile.sum %i = %c0 to %n step 1 carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split} {
    tile.yield %s : tensor<4xf32>
  }
  // expected-error @below {{expected to begin with what the segment before leaves, and nobody else to read that}}
  %b = tile.loop #tile.sum %i = %c0 to %n step 1 carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split} {
    tile.yield %s : tensor<4xf32>
  }
  %both = arith.addf %a, %b : tensor<4xf32>
  tile.store %both, %o[%c0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

// -----

tile.kernel @read_twice(%n: index, %o: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %a = tile.loop #tile.sum %i = %c0 to %n step 1 carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split} {
    tile.yield %s : tensor<4xf32>
  }
  // expected-error @below {{and nobody else to read that}}
  %b = tile.loop #tile.sum %i = %c0 to %n step 1 carries(%s = %a) : (tensor<4xf32>) attributes {tile.split} {
    tile.yield %s : tensor<4xf32>
  }
  %both = arith.addf %a, %b : tensor<4xf32>
  tile.store %both, %o[%c0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

// -----

// A piece would need the state that it begins with: a scan.
tile.kernel @scan(%n: index, %o: memref<?xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  // expected-error @below {{expected nothing to be written before the last step of what is split}}
  %all = tile.loop #tile.sum %i = %c0 to %n step 1 carries(%s = %zero) : (tensor<1xf32>) attributes {tile.split} {
    tile.store %s, %o[%i] : tensor<1xf32>, memref<?xf32>
    tile.yield %s : tensor<1xf32>
  }
  tile.return
}

// -----

// Others' steps read it, whoever runs them, and when.
tile.kernel @reads(%n: index, %o: memref<?xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  // expected-error @below {{expected nothing to be written before the last step of what is split, but what a step stores of its own entries}}
  %all = tile.loop #tile.sum %i = %c0 to %n step 1 carries(%s = %zero) : (tensor<1xf32>) attributes {tile.split} {
    %x = tile.load %o[%i] : memref<?xf32> -> tensor<1xf32>
    %y = arith.addf %x, %x : tensor<1xf32>
    tile.store %y, %o[%i] : tensor<1xf32>, memref<?xf32>
    %t = arith.addf %s, %x : tensor<1xf32>
    tile.yield %t : tensor<1xf32>
  }
  tile.return
}

// -----

// Every piece would write it.
tile.kernel @before(%n: index, %o: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected nothing to be written before the last step of what is split}}
  tile.store %zero, %o[%c0] : tensor<4xf32>, memref<4xf32>
  %all = tile.loop #tile.sum %i = %c0 to %n step 1 carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split} {
    tile.yield %s : tensor<4xf32>
  }
  tile.return
}

// -----

tile.kernel @twice(%n: index, %counters: memref<?x2xi32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %b = tile.program_id batch
  %all = tile.loop #tile.sum %i = %c0 to %n step 1 carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split} {
    tile.yield %s : tensor<4xf32>
  }
  // expected-error @below {{expected no order between the programs of a kernel that is split}}
  %last = tile.arrive %counters[%b] of %n : memref<?x2xi32>
  tile.return
}

// -----

// The carry makes no span of such a body.
tile.kernel @curved(%n: index, %o: memref<4x3xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x3xf32>
  // expected-note @below {{the loop says that it carries #tile.affine<transition = vector>}}
  %all = tile.loop #tile.affine<transition = vector> %i = %c0 to %n step 1 carries(%s = %zero) : (tensor<4x3xf32>) attributes {tile.split} {
    // expected-error @below {{expected ops that are linear in the carried tile, but got 'math.exp'}}
    %next = math.exp %s : tensor<4x3xf32>
    tile.yield %next : tensor<4x3xf32>
  }
  tile.store %all, %o[%c0, %c0] : tensor<4x3xf32>, memref<4x3xf32>
  tile.return
}

// -----

// A piece has whole steps.
tile.kernel @steps(%n: index, %o: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected tile.split to be a unit, or the length of a piece, a multiple of the step 16, but got 40}}
  %sum = tile.loop #tile.sum %j = %c0 to %n step 16 carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split = 40 : i64} {
    tile.yield %s : tensor<4xf32>
  }
  tile.store %sum, %o[%c0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

// -----

tile.kernel @no_length(%n: index, %o: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected tile.split to be a unit, or the length of a piece, a multiple of the step 16, but got 0}}
  %sum = tile.loop #tile.sum %j = %c0 to %n step 16 carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split = 0 : i64} {
    tile.yield %s : tensor<4xf32>
  }
  tile.store %sum, %o[%c0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

// -----

// Pieces with a length are counted from the first entry of one loop.
tile.kernel @two_segments(%n: index, %o: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected one loop from 0 on, forwards, where pieces have a length}}
  %full = tile.loop #tile.sum %j = %c0 to %n step 16 carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split = 64 : i64} {
    tile.yield %s : tensor<4xf32>
  }
  %sum = tile.loop #tile.sum %j = %c0 to %n step 16 carries(%s = %full) : (tensor<4xf32>) attributes {tile.split = 64 : i64} {
    tile.yield %s : tensor<4xf32>
  }
  tile.store %sum, %o[%c0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

// -----

tile.kernel @behind_some(%n: index, %o: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c64 = arith.constant 64 : index
  // expected-error @below {{expected one loop from 0 on, forwards, where pieces have a length}}
  %sum = tile.loop #tile.sum %j = %c64 to %n step 16 carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split = 64 : i64} {
    tile.yield %s : tensor<4xf32>
  }
  tile.store %sum, %o[%c0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

// -----

tile.kernel @backwards(%n: index, %o: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected one loop from 0 on, forwards, where pieces have a length}}
  %sum = tile.loop #tile.sum %j = %c0 to %n step 16 reverse carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split = 64 : i64} {
    tile.yield %s : tensor<4xf32>
  }
  tile.store %sum, %o[%c0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

// -----

// How many pieces there are is the host's to say, which reads no memory. A kernel that nobody launches needs no number.
tile.kernel @nobody(%lengths: memref<?xi32>, %o: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %b = tile.program_id batch
  %stored = memref.load %lengths[%b] : memref<?xi32>
  %length = arith.index_cast %stored : i32 to index
  %sum = tile.loop #tile.sum %j = %c0 to %length step 16 carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split = 64 : i64} {
    tile.yield %s : tensor<4xf32>
  }
  tile.store %sum, %o[%c0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

tile.kernel @unbounded(%lengths: memref<?xi32>, %o: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %b = tile.program_id batch
  %stored = memref.load %lengths[%b] : memref<?xi32>
  %length = arith.index_cast %stored : i32 to index
  // expected-error @below {{expected an end that sizes of the kernel's arguments bound, as their number says how many pieces of 64 entries there are}}
  %sum = tile.loop #tile.sum %j = %c0 to %length step 16 carries(%s = %zero) : (tensor<4xf32>) attributes {tile.split = 64 : i64} {
    tile.yield %s : tensor<4xf32>
  }
  tile.store %sum, %o[%c0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

func.func @host(%lengths: memref<?xi32>, %o: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %b = memref.dim %lengths, %c0 : memref<?xi32>
  tile.launch @unbounded grid(%b) (%lengths, %o) : memref<?xi32>, memref<4xf32>
  return
}
