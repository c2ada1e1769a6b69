"""What users of other libraries complain of: sizes."""

import numpy as np

from properties.table import BLOCK, CAUSAL_MEANS, COMPRESSED, LOCAL, MAPS, MEANS, PAIRS, SKETCH, holds, kernel, select, without

LENGTHS = {"key_lengths": True}


@holds("a length that is no multiple of the block reads out of bounds or skips the tail (flash-linear-attention#1142, #906)",
       compiled_only=True)
def every_residue(run, draw):
    """One library, every n from 1 to 130: the rows of the longest causal run."""
    table = draw.some(without(CAUSAL_MEANS, "eva", "polysketch, local"), "softmax", "elu1", "favor")
    for name, mechanism in table.items():
        fields = draw.spec(mechanism, causal=True, **LENGTHS)
        tensors = draw.tensors(fields, 130, batch=1)
        expected = run.judge(fields, tensors)
        outputs = []
        for n in range(1, 131):
            some = tensors | {key: tensors[key][:, :, :n] for key in "qkv"} | {"key_lengths": np.array([n], np.int32)}
            outputs.append(run(fields, some))
        whole = np.concatenate([got.reshape(-1) for got in outputs])
        yield name, whole, np.concatenate([expected[:, :, :n].reshape(-1) for n in range(1, 131)])


@holds("a length above 65,536 (performer-pytorch, fast-transformers)", compiled_only=True)
def above_two_to_the_sixteenth(run, draw):
    n, rows = 65_537, np.array([0, 65_535, 65_536])
    for causal in draw.causal():
        fields = draw.spec(MAPS["elu1"], causal=causal, heads=1, kv_heads=1, head_dim=8, value_dim=4)
        tensors = draw.tensors(fields, n, batch=1)
        yield "causal" if causal else "all keys", run(fields, tensors)[:, :, rows], run.judge(fields, tensors, rows)


def outputs_of(run, fields, tensors, **cut):
    """With these inputs shortened to nothing along one axis: {name: axis}."""
    return run(fields, tensors | {key: tensors[key].take(range(0), axis=axis) for key, axis in cut.items()})


@holds("empty inputs: no batch, no queries, no keys", compiled_only=True)
def empty(run, draw):
    for name, mechanism in MEANS.items():
        fields = draw.spec(mechanism, **LENGTHS)
        tensors = draw.tensors(fields, BLOCK)
        nobody = outputs_of(run, fields, tensors, q=0, k=0, v=0, key_lengths=0)
        yield f"{name}, no batch", nobody.shape, (0, draw.heads, BLOCK, draw.dv)
        none = tensors | {"key_lengths": np.zeros(2, np.int32)}
        if name == "eva":  # its blocks go together: both or neither
            yield name, outputs_of(run, fields, none, q=2, k=2, v=2).shape, (2, draw.heads, 0, draw.dv)
            continue
        yield f"{name}, no queries", outputs_of(run, fields, tensors, q=2).shape, (2, draw.heads, 0, draw.dv)
        got = outputs_of(run, fields, none, k=2, v=2)
        yield f"{name}, no keys", got, np.zeros_like(got), True


@holds("no key exists for one entry of the batch, one for another")
def few_keys(run, draw):
    """The entry without keys is 0, the one with one key is its value."""
    for name, mechanism in without(MEANS, "polysketch").items():
        fields = draw.spec(mechanism, **LENGTHS)
        tensors = draw.tensors(fields, 16)
        tensors |= {key: np.abs(tensors[key]) + 1 / 16 for key in "qk"} | {"key_lengths": np.array([0, 1], np.int32)}
        got = run(fields, tensors)
        first = np.repeat(tensors["v"][1, :, :1], draw.heads // draw.kv_heads, axis=0)
        yield name, got, np.stack([np.zeros_like(got[0]), np.broadcast_to(first, got[0].shape)])


@holds("head dimensions of 1, of no power of two, above 256, and other than the values' (flash-attention#801, #1471)",
       compiled_only=True, compiled_long=True)
def widths(run, draw):
    table = select(PAIRS, "softmax") | select(MAPS, "elu1", "favor") | SKETCH | select(MEANS, "effatt")
    for name, mechanism in draw.some(table, "softmax").items():
        for d, dv in draw.some({(1, 1): 0, (3, 257): 0, (257, 3): 0, (96, 80): 0}, (1, 1), (257, 3)):
            fields = draw.spec(mechanism, head_dim=d, value_dim=dv)
            tensors = draw.tensors(fields, 37, 41)
            yield f"{name}, {d}, {dv}", run(fields, tensors), run.judge(fields, tensors)


@holds("one of everything: a token, a feature, a channel, a slot, a chunk, an agent", compiled_only=True,
       compiled_long=True)
def ones(run, draw):
    one = {"head_dim": 1, "value_dim": 1, "heads": 1, "kv_heads": 1}
    table = {"favor": kernel("favor", features=1), "agent": {"kind": "agent", "agents": 1},
             "eva": {"kind": "eva", "chunk": 1, "window": {"length": 1}},
             "polysketch": {"kind": "polysketch", "degree": 4, "size": 1},
             "linformer": COMPRESSED["linformer"] | {"low_rank": {"rank": 1}},
             "local": LOCAL["polysketch, local"] | {"size": 1, "local_exact": 1}}
    for name, mechanism in draw.some(table, "favor", "linformer").items():
        fields = draw.spec(mechanism, causal=True if name == "local" else None, **one)
        tensors = draw.tensors(fields, 1, batch=1)
        yield name, run(fields, tensors), run.judge(fields, tensors)


@holds("a causal mask of n × n in memory (iree#23999): the workspace of a million tokens", compiled_only=True)
def no_matrix(run, draw):
    """Below the bytes of q, k, v and o together, and some."""
    n = 1 << 20
    far = CAUSAL_MEANS | {"cosformer": kernel("cosformer", max_position=n)}
    for name, mechanism in draw.some(far, "softmax", "elu1", "favor").items():
        fields = draw.spec(mechanism, causal=True, **LENGTHS)
        library = run.library(fields)
        if library.parameters:
            library.prepare(draw.parameters(fields, BLOCK))
        sizes = {"q": (draw.heads, n, draw.d), "k": (draw.kv_heads, n, draw.d), "v": (draw.kv_heads, n, draw.dv),
                 "o": (draw.heads, n, draw.dv)}
        arrays = {key: np.broadcast_to(np.float32(0), (1, *shape)) for key, shape in sizes.items()}
        arrays["o"] = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (1, *sizes["o"]), (0, n * draw.dv * 4, draw.dv * 4, 4))
        for key in "qkv":
            heads, rows, width = sizes[key]
            arrays[key] = np.lib.stride_tricks.as_strided(np.zeros(width, np.float32), (1, *sizes[key]), (0, 0, 0, 4))
        bound = library.bind(**arrays, key_lengths=np.full(1, n, np.int32))
        used = library.workspace_bytes(bound)
        limit = 4 * sum(int(np.prod(shape)) for shape in sizes.values()) + 2 ** 26
        yield f"{name}: {used} bytes", used <= limit, True
