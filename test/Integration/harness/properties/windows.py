"""Windows: of everything, of one token, each alone; images as permuted sequences."""

import numpy as np

from properties.table import MAPS, PAIRS, holds, select, without

# A 6 × 8 image in 3 × 4 tiles.
GRID, TILE = (6, 8), (3, 4)
TOKENS = GRID[0] * GRID[1]
WINDOWED = PAIRS | MAPS
CI = "softmax",


def blocks_of(array, size):
    """[batch, heads, n, c] -> [batch · blocks, heads, size, c]"""
    batch, heads, n, width = array.shape
    return array.reshape(batch, heads, n // size, size, width).swapaxes(1, 2).reshape(-1, heads, size, width)


def windowed(draw, mechanism, window, **more):
    return draw.spec(mechanism | {"window": window}, **more)


@holds("§9 a window of everything is no window", compiled_long=True)
def everything(run, draw):
    for causal in draw.causal(first=False):
        for name, mechanism in draw.some(WINDOWED, *CI).items():
            fields = draw.spec(mechanism, causal=causal, key_lengths=True)
            tensors = draw.tensors(fields, TOKENS)
            expected = run(fields, tensors)
            for window in ({"length": TOKENS}, {"grid": list(GRID), "size": list(GRID)}):
                what = f"{name}, {'image' if 'grid' in window else 'sequence'}{', causal' if causal else ''}"
                yield what, run(windowed(draw, mechanism, window, causal=causal, key_lengths=True), tensors), expected


@holds("§12 I14 a window is its blocks alone")
def blocks(run, draw):
    """Without lengths, so that the blocks may become a batch; cosFormer's positions differ, not their differences."""
    for causal in draw.causal(first=False):
        for name, mechanism in draw.some(WINDOWED, *CI).items():
            size = int(draw.rng.integers(2, 14))
            tensors = draw.tensors(draw.spec(mechanism, causal=causal), 3 * size)
            alone = tensors | {key: blocks_of(tensors[key], size) for key in "qkv"}
            got = run(windowed(draw, mechanism, {"length": size}, causal=causal), tensors)
            yield f"{name}, {size}", blocks_of(got, size), run(draw.spec(mechanism, causal=causal), alone)


def tile_order():
    """The tokens of the image, tile after tile."""
    (rows, columns), (a, b) = GRID, TILE
    tokens = np.arange(TOKENS).reshape(rows // a, a, columns // b, b)
    return tokens.swapaxes(1, 2).reshape(-1)


@holds("§9 tiles of an image are windows of the permuted sequence")
def tiles(run, draw):
    for causal in draw.causal():
        for name, mechanism in draw.some(without(WINDOWED, "cosformer"), "softmax").items():
            order = tile_order()
            window = {"grid": list(GRID), "size": list(TILE)}
            fields = windowed(draw, mechanism, window, causal=causal)
            tensors = draw.tensors(fields, TOKENS)
            flat = tensors | {key: tensors[key][:, :, order] for key in "qkv"}
            sequence = windowed(draw, mechanism, {"length": TILE[0] * TILE[1]}, causal=causal)
            yield name, run(fields, tensors)[:, :, order], run(sequence, flat)


@holds("§15 degenerate windows: of one token (b = m), the output is the value", compiled_long=True)
def one_token(run, draw):
    for name, mechanism in draw.some(select(WINDOWED, "softmax", "elu1", "favor", "polynomial"), "softmax").items():
        for window in [{"length": 1}, {"grid": list(GRID), "size": [1, 1]}][:2 if draw.thorough else 1]:
            fields = windowed(draw, mechanism, window)
            tensors = draw.tensors(fields, TOKENS)
            yield name, run(fields, tensors), np.repeat(tensors["v"], draw.heads // draw.kv_heads, axis=1)
