//===- TileArrive.td - Order between grid points -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_ARRIVE_TD
#define ATTUNE_TILE_ARRIVE_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "attune/Tile/TileDialect.td"

def Tile_ArriveOp : Op<Tile_Dialect, "arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Say that this grid point has stored its part; was it the last one?";
  let description = [{
    The grid points that name one counter are a group of `count`. The result is 1 for the one of them that arrives last, and 0
    for the others. What the points of the group have stored before they arrive, the last one may load afterwards: the only
    order that there is between points of a grid. Which point is last differs from run to run. The result
    may bound a loop of one step, in which that point merges what the group has stored.

    A counter is two words of i32, at any address that is a multiple of 8. Before a launch it may hold anything but a count
    that has begun (`beginCount` of `attune/Tile/Arrive.h`), which no launch leaves behind: memory need not be cleared. The last
    point clears the counter.

    Constraints: inside a kernel; memory of i32 whose last dimension is 2; an index for each other dimension. Each point of a
    group arrives once, and not inside a `tile.loop`.

    ```mlir
    %last = tile.arrive %counters[%b, %h] of %pieces : memref<?x4x2xi32>
    tile.loop #tile.sum %once = %c0 to %last step 1 {
      tile.yield
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$counters, Variadic<Index>:$indices, Index:$count);
  let results = (outs Index:$last);
  let assemblyFormat = "$counters `[` $indices `]` `of` $count attr-dict `:` type($counters)";
  let hasVerifier = 1;
}

#endif // ATTUNE_TILE_ARRIVE_TD
