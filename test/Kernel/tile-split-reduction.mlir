// RUN: attn-opt %s -tile-split-reduction=pieces=4 -canonicalize -cse | FileCheck %s
// RUN: attn-opt %s -tile-split-reduction -canonicalize -cse | FileCheck %s --check-prefix=SCHEDULE

// Every program becomes four, along a further axis. Each leaves the span of its piece; the last one applies all of them
// to what the loop began with, and does what stands behind the loop.

// CHECK-LABEL: tile.kernel @total(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x?x8xf32>, %[[O:[^:]*]]: memref<?x8xf32>, %[[SPANS:[^:]*]]: memref<?x4x8xf32>, %[[COUNTERS:[^:]*]]: memref<?x2xi32>) grid(batch, key_piece)
// CHECK-DAG:   %[[BATCH:.*]] = tile.program_id batch
// CHECK-DAG:   %[[PIECE:.*]] = tile.program_id key_piece
// CHECK-DAG:   %[[ROWS:.*]] = memref.dim %[[X]], %c1
// CHECK-DAG:   %[[FIRST:.*]] = tile.load %[[O]][%[[BATCH]], %c0]
//   Steps of 16 rows in four pieces of as many: piece · length ≤ step < (piece + 1) · length, and no more than there are.
// CHECK:       %[[STEPS:.*]] = arith.ceildivui %{{.*}}, %c16
// CHECK:       %[[LENGTH:.*]] = arith.ceildivui %[[STEPS]], %c4
// CHECK:       %[[BEGIN:.*]] = arith.muli %[[PIECE]], %[[LENGTH]]
// CHECK:       %[[END:.*]] = arith.addi %[[BEGIN]], %[[LENGTH]]
// CHECK:       %[[SPAN:.*]] = tile.loop #tile.sum %{{.*}} = %[[LOWER:.*]] to %[[UPPER:.*]] step 16 carries(%{{.*}} = %cst) : (tensor<8xf32>) {
// CHECK:       tile.store %[[SPAN]], %[[SPANS]][%[[BATCH]], %[[PIECE]], %c0]
// CHECK:       %[[LAST:.*]] = tile.arrive %[[COUNTERS]][%[[BATCH]]] of %c4 : memref<?x2xi32>
// CHECK-NEXT:  tile.loop #tile.sum %{{.*}} = %c0 to %[[LAST]] step 1 {
// CHECK-NEXT:    %[[SUM:.*]] = tile.loop #tile.sum %[[P:.*]] = %c0 to %c4 step 1 carries(%[[S:.*]] = %[[FIRST]]) : (tensor<8xf32>) {
// CHECK-NEXT:      %[[ONE:.*]] = tile.load %[[SPANS]][%[[BATCH]], %[[P]], %c0] : memref<?x4x8xf32> -> tensor<8xf32>
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addf %[[S]], %[[ONE]] : tensor<8xf32>
// CHECK-NEXT:      tile.yield %[[NEXT]]
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[SUM]], %[[O]][%[[BATCH]], %c0]
// CHECK-NEXT:    tile.yield
// CHECK-NEXT:  }
// CHECK-NEXT:  tile.return
// Without a schedule nothing says how many pieces there are.
// SCHEDULE-LABEL: tile.kernel @total(
// SCHEDULE-NOT:   tile.arrive
// SCHEDULE-NOT:   tile.split
tile.kernel @total(%x: memref<?x?x8xf32>, %o: memref<?x8xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tile.program_id batch
  %first = tile.load %o[%b, %c0] : memref<?x8xf32> -> tensor<8xf32>
  %n = memref.dim %x, %c1 : memref<?x?x8xf32>
  %sum = tile.loop #tile.sum %j = %c0 to %n step 16 carries(%s = %first) : (tensor<8xf32>) attributes {tile.split} {
    %rows = tile.load %x[%b, %j, %c0] rows(%n) : memref<?x?x8xf32> -> tensor<16x8xf32>
    %columns = tile.reduce add %rows axis 0 : tensor<16x8xf32> -> tensor<8xf32>
    %next = arith.addf %s, %columns : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  tile.store %sum, %o[%b, %c0] : tensor<8xf32>, memref<?x8xf32>
  tile.return
}

// A launch brings the memory of spans and counters, and the points of all pieces.
// CHECK-LABEL: func.func @host(
// CHECK-DAG:     %[[B:.*]] = memref.dim
// CHECK-DAG:     %[[SPANS:.*]] = tile.workspace(%[[B]]) : memref<?x4x8xf32>
// CHECK-DAG:     %[[COUNTERS:.*]] = tile.workspace(%[[B]]) : memref<?x2xi32>
// CHECK:         tile.launch @total grid(%[[B]], %c4) (%{{.*}}, %{{.*}}, %[[SPANS]], %[[COUNTERS]])
func.func @host(%x: memref<?x?x8xf32>, %o: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %b = memref.dim %x, %c0 : memref<?x?x8xf32>
  tile.launch @total grid(%b) (%x, %o) : memref<?x?x8xf32>, memref<?x8xf32>
  return
}

// Three axes are as many as there are: pieces follow one another along the last one, each with all points that there were, whose number
// is that of the spans' memory. Two segments are one stream; what a piece has of the first comes before what it has of the second.
// CHECK-LABEL: tile.kernel @segments(
// CHECK-SAME:    %[[SPANS:[^ ]*]]: memref<?x?x?x4x8xf32>, %[[COUNTERS:[^ ]*]]: memref<?x?x?x2xi32>) grid(batch, head, query_block)
// CHECK-DAG:     %[[BATCH:.*]] = tile.program_id batch
// CHECK-DAG:     %[[HEAD:.*]] = tile.program_id head
// CHECK-DAG:     %[[NUMBER:.*]] = tile.program_id query_block
// CHECK:         %[[BLOCKS:.*]] = memref.dim %[[SPANS]], %c2
// CHECK:         %[[PIECE:.*]] = arith.divui %[[NUMBER]], %[[BLOCKS]]
// CHECK:         %[[OTHERS:.*]] = arith.muli %[[PIECE]], %[[BLOCKS]]
// CHECK:         %[[BLOCK:.*]] = arith.subi %[[NUMBER]], %[[OTHERS]]
// CHECK:         %[[FULL:.*]] = tile.loop #tile.maximum
// CHECK:         %[[REST:.*]] = tile.loop #tile.maximum
// CHECK:         %[[SPAN:.*]] = arith.maximumf %[[FULL]], %[[REST]] : tensor<8xf32>
// CHECK:         tile.store %[[SPAN]], %[[SPANS]][%[[BATCH]], %[[HEAD]], %[[BLOCK]], %[[PIECE]], %c0]
// CHECK:         tile.arrive %[[COUNTERS]][%[[BATCH]], %[[HEAD]], %[[BLOCK]]] of %c4
// CHECK:           tile.store %{{.*}}, %{{.*}}[%[[BLOCK]], %c0]
//   As many pieces as the schedule has parts.
// SCHEDULE-LABEL: tile.kernel @segments(
// SCHEDULE:       tile.arrive %{{.*}} of %c3
tile.kernel @segments(%x: memref<?x8xf32>, %o: memref<?x8xf32>, %full: index) grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 1, key_tile = 1, piece = 2048, operand = f32, warps = 1, stages = 1, parts = 3>} {
  %c0 = arith.constant 0 : index
  %least = arith.constant dense<0xFF800000> : tensor<8xf32>
  %i = tile.program_id query_block
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %some = tile.loop #tile.maximum %j = %c0 to %full step 2 carries(%s = %least) : (tensor<8xf32>) attributes {tile.split} {
    %row = tile.load %x[%j, %c0] : memref<?x8xf32> -> tensor<8xf32>
    %next = arith.maximumf %s, %row : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  %all = tile.loop #tile.maximum %j = %full to %n step 1 carries(%s = %some) : (tensor<8xf32>) attributes {tile.split} {
    %row = tile.load %x[%j, %c0] : memref<?x8xf32> -> tensor<8xf32>
    %next = arith.maximumf %s, %row : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  tile.store %all, %o[%i, %c0] : tensor<8xf32>, memref<?x8xf32>
  tile.return
}

// Numbers of steps count from the last one down where the loop does.
// CHECK-LABEL: tile.kernel @reverse(
// CHECK:         %[[STEPS:.*]] = arith.ceildivui %{{.*}}, %c16
// CHECK:         %[[TO:.*]] = arith.subi %[[STEPS]], %{{.*}}
// CHECK:         %[[FROM:.*]] = arith.subi %[[STEPS]], %{{.*}}
// CHECK:         tile.loop #tile.sum %{{.*}} = %{{.*}} to %{{.*}} step 16 reverse carries(
tile.kernel @reverse(%x: memref<?x8xf32>, %o: memref<8xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %sum = tile.loop #tile.sum %j = %c0 to %n step 16 reverse carries(%s = %zero) : (tensor<8xf32>) attributes {tile.split} {
    %rows = tile.load %x[%j, %c0] rows(%n) : memref<?x8xf32> -> tensor<16x8xf32>
    %columns = tile.reduce add %rows axis 0 : tensor<16x8xf32> -> tensor<8xf32>
    %next = arith.addf %s, %columns : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  tile.store %sum, %o[%c0] : tensor<8xf32>, memref<8xf32>
  tile.return
}

// A span that is more than a state: two memories for one carried tile, and A S + B in the last point.
// CHECK-LABEL: tile.kernel @decay(
// CHECK-SAME:    %[[A:[^ ]*]]: memref<?x4x4x1xf32>, %[[B:[^ ]*]]: memref<?x4x4x3xf32>, %{{[^ ]*}}: memref<?x2xi32>) grid(batch, key_piece)
// CHECK:         %[[SPAN:.*]]:2 = tile.loop #tile.affine<transition = vector>
// CHECK:         tile.store %[[SPAN]]#0, %[[A]]
// CHECK:         tile.store %[[SPAN]]#1, %[[B]]
// CHECK:         tile.arrive
// CHECK:           %{{.*}} = tile.loop #tile.affine<transition = vector> %{{.*}} = %c0 to %c4 step 1 carries(%[[S:.*]] = %{{.*}}) : (tensor<4x3xf32>)
// CHECK-DAG:         %[[X:.*]] = tile.load %[[A]]
// CHECK-DAG:         %[[Y:.*]] = tile.load %[[B]]
// CHECK:             %[[KEPT:.*]] = arith.mulf %{{.*}}, %[[S]] : tensor<4x3xf32>
// CHECK:             arith.addf %[[KEPT]], %[[Y]] : tensor<4x3xf32>
tile.kernel @decay(%d: memref<?x4xf32>, %k: memref<?x4xf32>, %o: memref<4x3xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %d, %c0 : memref<?x4xf32>
  %s0 = tile.load %o[%c0, %c0] : memref<4x3xf32> -> tensor<4x3xf32>
  %all = tile.loop #tile.affine<transition = vector> %t = %c0 to %n step 1 carries(%s = %s0) : (tensor<4x3xf32>) attributes {tile.split} {
    %f = tile.load %d[%t, %c0] : memref<?x4xf32> -> tensor<4xf32>
    %a = tile.load %k[%t, %c0] : memref<?x4xf32> -> tensor<4xf32>
    %factors = tile.expand %f axis 1 : tensor<4xf32> -> tensor<4x3xf32>
    %kept = arith.mulf %s, %factors : tensor<4x3xf32>
    %new = tile.expand %a axis 1 : tensor<4xf32> -> tensor<4x3xf32>
    %next = arith.addf %kept, %new : tensor<4x3xf32>
    tile.yield %next : tensor<4x3xf32>
  }
  tile.store %all, %o[%c0, %c0] : tensor<4x3xf32>, memref<4x3xf32>
  tile.return
}

// Pieces of 64 rows, however many are asked for. What a point has of them ends where its length does, and no point has more than the
// memory's rows.
// CHECK-LABEL: tile.kernel @pieces(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x?x8xf32>, %[[LENGTHS:[^:]*]]: memref<?xi32>, %[[O:[^:]*]]: memref<?x8xf32>,
// CHECK-SAME:    %[[SPANS:[^:]*]]: memref<?x?x8xf32>, %[[COUNTERS:[^:]*]]: memref<?x2xi32>) grid(batch, key_piece) {
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[PIECE:.*]] = tile.program_id key_piece
// CHECK-NEXT:    %[[ROWS:.*]] = memref.dim %[[X]], %c1
// CHECK-NEXT:    %[[STORED:.*]] = memref.load %[[LENGTHS]][%[[BATCH]]]
// CHECK-NEXT:    %[[LENGTH:.*]] = arith.index_cast %[[STORED]] : i32 to index
// CHECK-NEXT:    %[[LEAST:.*]] = arith.maxsi %[[LENGTH]], %c0
// CHECK-NEXT:    %[[END:.*]] = arith.minsi %[[LEAST]], %[[ROWS]]
//   64 · piece ≤ row < min(64 · piece + 64, end)
// CHECK-NEXT:    %[[LOWER:.*]] = arith.muli %[[PIECE]], %c64
// CHECK-NEXT:    %[[NEXT_PIECE:.*]] = arith.addi %[[LOWER]], %c64
// CHECK-NEXT:    %[[UPPER:.*]] = arith.minsi %[[NEXT_PIECE]], %[[END]]
// CHECK-NEXT:    %[[SPAN:.*]] = tile.loop #tile.sum %[[J:.*]] = %[[LOWER]] to %[[UPPER]] step 16 carries(%[[S:.*]] = %[[ZERO]]) : (tensor<8xf32>) {
// CHECK-NEXT:      %[[TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[J]], %c0] rows(%[[END]])
// CHECK-NEXT:      %[[COLUMNS:.*]] = tile.reduce add %[[TILE]] axis 0
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addf %[[S]], %[[COLUMNS]]
// CHECK-NEXT:      tile.yield %[[NEXT]]
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[SPAN]], %[[SPANS]][%[[BATCH]], %[[PIECE]], %c0]
//   The memory of spans says how many pieces the host has made.
// CHECK-NEXT:    %[[PIECES:.*]] = memref.dim %[[SPANS]], %c1
// CHECK-NEXT:    %[[LAST:.*]] = tile.arrive %[[COUNTERS]][%[[BATCH]]] of %[[PIECES]] : memref<?x2xi32>
// CHECK-NEXT:    tile.loop #tile.sum %{{.*}} = %c0 to %[[LAST]] step 1 {
// CHECK-NEXT:      %[[SUM:.*]] = tile.loop #tile.sum %[[P:.*]] = %c0 to %[[PIECES]] step 1 carries(%[[T:.*]] = %[[ZERO]]) : (tensor<8xf32>) {
// CHECK-NEXT:        %[[ONE:.*]] = tile.load %[[SPANS]][%[[BATCH]], %[[P]], %c0] : memref<?x?x8xf32> -> tensor<8xf32>
// CHECK-NEXT:        %[[ADDED:.*]] = arith.addf %[[T]], %[[ONE]]
// CHECK-NEXT:        tile.yield %[[ADDED]]
// CHECK-NEXT:      }
// CHECK-NEXT:      tile.store %[[SUM]], %[[O]][%[[BATCH]], %c0]
// CHECK-NEXT:      tile.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.return
//   Neither a schedule nor the option has to say how many pieces there are.
// SCHEDULE-LABEL: tile.kernel @pieces(
// SCHEDULE-SAME:  grid(batch, key_piece)
// SCHEDULE:       tile.arrive %{{.*}} of %dim
tile.kernel @pieces(%x: memref<?x?x8xf32>, %lengths: memref<?xi32>, %o: memref<?x8xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %b = tile.program_id batch
  %rows = memref.dim %x, %c1 : memref<?x?x8xf32>
  %stored = memref.load %lengths[%b] : memref<?xi32>
  %length = arith.index_cast %stored : i32 to index
  %least = arith.maxsi %length, %c0 : index
  %end = arith.minsi %least, %rows : index
  %sum = tile.loop #tile.sum %j = %c0 to %end step 16 carries(%s = %zero) : (tensor<8xf32>) attributes {tile.split = 64 : i64} {
    %tile = tile.load %x[%b, %j, %c0] rows(%end) : memref<?x?x8xf32> -> tensor<16x8xf32>
    %columns = tile.reduce add %tile axis 0 : tensor<16x8xf32> -> tensor<8xf32>
    %next = arith.addf %s, %columns : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  tile.store %sum, %o[%b, %c0] : tensor<8xf32>, memref<?x8xf32>
  tile.return
}

// The host does not read lengths: there are pieces for all rows of the memory, and one if there are none, since some point has to store.
// CHECK-LABEL: func.func @pieces_host(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x?x8xf32>, %[[LENGTHS:[^:]*]]: memref<?xi32>, %[[O:[^:]*]]: memref<?x8xf32>)
// CHECK:         %[[B:.*]] = memref.dim %[[X]], %c0
// CHECK-NEXT:    %[[ROWS:.*]] = memref.dim %[[X]], %c1
// CHECK-NEXT:    %[[WHOLE:.*]] = arith.ceildivui %[[ROWS]], %c64
// CHECK-NEXT:    %[[PIECES:.*]] = arith.maxsi %[[WHOLE]], %c1
// CHECK-NEXT:    %[[SPANS:.*]] = tile.workspace(%[[B]], %[[PIECES]]) : memref<?x?x8xf32>
// CHECK-NEXT:    %[[COUNTERS:.*]] = tile.workspace(%[[B]]) : memref<?x2xi32>
// CHECK-NEXT:    tile.launch @pieces grid(%[[B]], %[[PIECES]]) (%[[X]], %[[LENGTHS]], %[[O]], %[[SPANS]], %[[COUNTERS]]) :
// CHECK-NEXT:    return
func.func @pieces_host(%x: memref<?x?x8xf32>, %lengths: memref<?xi32>, %o: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %b = memref.dim %x, %c0 : memref<?x?x8xf32>
  tile.launch @pieces grid(%b) (%x, %lengths, %o) : memref<?x?x8xf32>, memref<?xi32>, memref<?x8xf32>
  return
}

// A kernel of its own applies the spans: nothing waits, and either has only the arguments that it reads.
// CHECK-LABEL: tile.kernel @spans(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x?x8xf32>, %[[LENGTHS:[^:]*]]: memref<?xi32>, %[[SPANS:[^:]*]]: memref<?x?x8xf32>) grid(batch, key_piece) {
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[PIECE:.*]] = tile.program_id key_piece
// CHECK-NEXT:    %[[ROWS:.*]] = memref.dim %[[X]], %c1
// CHECK-NEXT:    %[[STORED:.*]] = memref.load %[[LENGTHS]][%[[BATCH]]]
// CHECK-NEXT:    %[[LENGTH:.*]] = arith.index_cast %[[STORED]] : i32 to index
// CHECK-NEXT:    %[[LEAST:.*]] = arith.maxsi %[[LENGTH]], %c0
// CHECK-NEXT:    %[[END:.*]] = arith.minsi %[[LEAST]], %[[ROWS]]
// CHECK-NEXT:    %[[LOWER:.*]] = arith.muli %[[PIECE]], %c64
// CHECK-NEXT:    %[[NEXT_PIECE:.*]] = arith.addi %[[LOWER]], %c64
// CHECK-NEXT:    %[[UPPER:.*]] = arith.minsi %[[NEXT_PIECE]], %[[END]]
// CHECK-NEXT:    %[[SPAN:.*]] = tile.loop #tile.sum %[[J:.*]] = %[[LOWER]] to %[[UPPER]] step 16 carries(%[[S:.*]] = %[[ZERO]]) : (tensor<8xf32>) {
// CHECK-NEXT:      %[[TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[J]], %c0] rows(%[[END]])
// CHECK-NEXT:      %[[COLUMNS:.*]] = tile.reduce add %[[TILE]] axis 0
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addf %[[S]], %[[COLUMNS]]
// CHECK-NEXT:      tile.yield %[[NEXT]]
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[SPAN]], %[[SPANS]][%[[BATCH]], %[[PIECE]], %c0]
// CHECK-NEXT:    tile.return

//   It begins with what the loop began with, and does what stood behind the loop.
// CHECK-LABEL: tile.kernel @total_merge(
// CHECK-SAME:    %[[FIRST:[^:]*]]: memref<?x8xf32>, %[[FACTOR:[^:]*]]: memref<8xf32>, %[[O:[^:]*]]: memref<?x8xf32>,
// CHECK-SAME:    %[[SPANS:[^:]*]]: memref<?x?x8xf32>) grid(batch) {
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[BEFORE:.*]] = tile.load %[[FIRST]][%[[BATCH]], %c0]
// CHECK-NEXT:    %[[PIECES:.*]] = memref.dim %[[SPANS]], %c1
// CHECK-NEXT:    %[[SUM:.*]] = tile.loop #tile.sum %[[P:.*]] = %c0 to %[[PIECES]] step 1 carries(%[[S:.*]] = %[[BEFORE]]) : (tensor<8xf32>) {
// CHECK-NEXT:      %[[ONE:.*]] = tile.load %[[SPANS]][%[[BATCH]], %[[P]], %c0] : memref<?x?x8xf32> -> tensor<8xf32>
// CHECK-NEXT:      %[[ADDED:.*]] = arith.addf %[[S]], %[[ONE]]
// CHECK-NEXT:      tile.yield %[[ADDED]]
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[FACTORS:.*]] = tile.load %[[FACTOR]][%c0]
// CHECK-NEXT:    %[[SCALED:.*]] = arith.mulf %[[SUM]], %[[FACTORS]]
// CHECK-NEXT:    tile.store %[[SCALED]], %[[O]][%[[BATCH]], %c0]
// CHECK-NEXT:    tile.return
tile.kernel @spans(%x: memref<?x?x8xf32>, %lengths: memref<?xi32>, %first: memref<?x8xf32>, %factor: memref<8xf32>, %o: memref<?x8xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tile.program_id batch
  %rows = memref.dim %x, %c1 : memref<?x?x8xf32>
  %stored = memref.load %lengths[%b] : memref<?xi32>
  %length = arith.index_cast %stored : i32 to index
  %least = arith.maxsi %length, %c0 : index
  %end = arith.minsi %least, %rows : index
  %before = tile.load %first[%b, %c0] : memref<?x8xf32> -> tensor<8xf32>
  %sum = tile.loop #tile.sum %j = %c0 to %end step 16 carries(%s = %before) : (tensor<8xf32>) attributes {tile.merged_by = "total_merge", tile.split = 64 : i64} {
    %tile = tile.load %x[%b, %j, %c0] rows(%end) : memref<?x?x8xf32> -> tensor<16x8xf32>
    %columns = tile.reduce add %tile axis 0 : tensor<16x8xf32> -> tensor<8xf32>
    %next = arith.addf %s, %columns : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  %factors = tile.load %factor[%c0] : memref<8xf32> -> tensor<8xf32>
  %scaled = arith.mulf %sum, %factors : tensor<8xf32>
  tile.store %scaled, %o[%b, %c0] : tensor<8xf32>, memref<?x8xf32>
  tile.return
}

// It is launched behind each launch, which leaves it the spans. Without rows there is no piece, and the state stays what it begins with.
// CHECK-LABEL: func.func @spans_host(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x?x8xf32>, %[[Y:[^:]*]]: memref<?x?x8xf32>, %[[LENGTHS:[^:]*]]: memref<?xi32>,
// CHECK-SAME:    %[[FIRST:[^:]*]]: memref<?x8xf32>, %[[FACTOR:[^:]*]]: memref<8xf32>, %[[O:[^:]*]]: memref<?x8xf32>, %[[P:[^:]*]]: memref<?x8xf32>)
// CHECK:         %[[B:.*]] = memref.dim %[[X]], %c0
// CHECK-NEXT:    %[[X_ROWS:.*]] = memref.dim %[[X]], %c1
// CHECK-NEXT:    %[[X_PIECES:.*]] = arith.ceildivui %[[X_ROWS]], %c64
// CHECK-NEXT:    %[[X_SPANS:.*]] = tile.workspace(%[[B]], %[[X_PIECES]]) : memref<?x?x8xf32>
// CHECK-NEXT:    tile.launch @spans grid(%[[B]], %[[X_PIECES]]) (%[[X]], %[[LENGTHS]], %[[X_SPANS]]) :
// CHECK-NEXT:    tile.launch @total_merge grid(%[[B]]) (%[[FIRST]], %[[FACTOR]], %[[O]], %[[X_SPANS]]) :
// CHECK-NEXT:    %[[Y_ROWS:.*]] = memref.dim %[[Y]], %c1
// CHECK-NEXT:    %[[Y_PIECES:.*]] = arith.ceildivui %[[Y_ROWS]], %c64
// CHECK-NEXT:    %[[Y_SPANS:.*]] = tile.workspace(%[[B]], %[[Y_PIECES]]) : memref<?x?x8xf32>
// CHECK-NEXT:    tile.launch @spans grid(%[[B]], %[[Y_PIECES]]) (%[[Y]], %[[LENGTHS]], %[[Y_SPANS]]) :
// CHECK-NEXT:    tile.launch @total_merge grid(%[[B]]) (%[[FIRST]], %[[FACTOR]], %[[P]], %[[Y_SPANS]]) :
// CHECK-NEXT:    return
func.func @spans_host(%x: memref<?x?x8xf32>, %y: memref<?x?x8xf32>, %lengths: memref<?xi32>, %first: memref<?x8xf32>, %factor: memref<8xf32>, %o: memref<?x8xf32>, %p: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %b = memref.dim %x, %c0 : memref<?x?x8xf32>
  tile.launch @spans grid(%b) (%x, %lengths, %first, %factor, %o) : memref<?x?x8xf32>, memref<?xi32>, memref<?x8xf32>, memref<8xf32>, memref<?x8xf32>
  tile.launch @spans grid(%b) (%y, %lengths, %first, %factor, %p) : memref<?x?x8xf32>, memref<?xi32>, memref<?x8xf32>, memref<8xf32>, memref<?x8xf32>
  return
}

// What a step stores of its own entries the piece that has the step stores, and the kernel that applies the spans does not.
// CHECK-LABEL: tile.kernel @rows(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x8xf32>, %[[Y:[^:]*]]: memref<?x8xf32>, %[[SPANS:[^:]*]]: memref<1x?x8xf32>) grid(batch, key_piece) {
// CHECK:         %[[SPAN:.*]] = tile.loop #tile.sum %[[J:.*]] = %{{.*}} to %{{.*}} step 16
// CHECK:           %[[TWICE:.*]] = arith.addf
// CHECK:           tile.store %[[TWICE]], %[[Y]][%[[J]], %c0]
// CHECK:         tile.store %[[SPAN]], %[[SPANS]]
// CHECK-NOT:     tile.store
// CHECK-LABEL: tile.kernel @rows_merge(
// CHECK-SAME:    %[[O:[^:]*]]: memref<8xf32>, %[[SPANS:[^:]*]]: memref<1x?x8xf32>) grid(batch) {
// CHECK:         tile.store %{{.*}}, %[[O]][%c0]
// CHECK-NOT:     tile.store
tile.kernel @rows(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %o: memref<8xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %sum = tile.loop #tile.sum %j = %c0 to %n step 16 carries(%s = %zero) : (tensor<8xf32>) attributes {tile.merged_by = "rows_merge", tile.split = 64 : i64} {
    %tile = tile.load %x[%j, %c0] : memref<?x8xf32> -> tensor<16x8xf32>
    %twice = arith.addf %tile, %tile : tensor<16x8xf32>
    tile.store %twice, %y[%j, %c0] : tensor<16x8xf32>, memref<?x8xf32>
    %columns = tile.reduce add %tile axis 0 : tensor<16x8xf32> -> tensor<8xf32>
    %next = arith.addf %s, %columns : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  tile.store %sum, %o[%c0] : tensor<8xf32>, memref<8xf32>
  tile.return
}
func.func @rows_host(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %o: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @rows grid(%c1) (%x, %y, %o) : memref<?x8xf32>, memref<?x8xf32>, memref<8xf32>
  return
}

// Loops without a mark stay as they are.
// CHECK-LABEL: tile.kernel @unmarked(%{{.*}}: memref<?x8xf32>, %{{.*}}: memref<8xf32>) grid(batch) {
// CHECK-NOT:     tile.arrive
tile.kernel @unmarked(%x: memref<?x8xf32>, %o: memref<8xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %sum = tile.loop #tile.sum %j = %c0 to %n step 1 carries(%s = %zero) : (tensor<8xf32>) {
    %row = tile.load %x[%j, %c0] : memref<?x8xf32> -> tensor<8xf32>
    %next = arith.addf %s, %row : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  tile.store %sum, %o[%c0] : tensor<8xf32>, memref<8xf32>
  tile.return
}
