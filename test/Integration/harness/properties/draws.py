"""What a property is tested on: drawn shapes, and tensors that leave room to compute with.

Entries lie on a grid of 1/16 below 4, so that sums, differences and halves of two are exact in every storage type: what
a property changes in its inputs, it changes without rounding.
"""

import numpy as np

from properties.ways import to_yaml

STEPS, LARGEST = 16, 4


def on_grid(rng, shape):
    return np.clip(np.round(rng.standard_normal(shape) * STEPS) / STEPS, -LARGEST, LARGEST)


class Draw:
    """The sizes of a seed, and the tensors of one property."""

    def __init__(self, seed, name, dtype, server, folder, thorough):
        sizes = np.random.default_rng([seed, 1])
        self.heads, self.kv_heads = [(4, 2), (3, 1), (2, 2), (6, 2), (6, 3)][seed % 5]
        self.d, self.dv = (6, 5) if seed == 0 else (2 * int(sizes.integers(1, 9)), int(sizes.integers(1, 17)))
        self.rng = np.random.default_rng([seed, *name.encode()])
        self.seed, self.dtype, self.server, self.folder = seed, dtype, server, folder
        self.thorough = thorough

    def spec(self, mechanism, **more):
        """The fields of a spec whose sizes are known when it runs."""
        fields = {"attention": "probe", "dtype": self.dtype, "batch": "?", "queries": "?", "keys": "?",
                  "heads": self.heads, "kv_heads": self.kv_heads, "head_dim": self.d, "value_dim": self.dv, **more}
        if mechanism is not None:
            fields["mechanism"] = mechanism
        return {name: value for name, value in fields.items() if value is not None}

    def some(self, table, *names):
        """These entries of a table; all where the time to compile is no matter."""
        return table if self.thorough else {name: table[name] for name in names if name in table}

    def causal(self, first=True):
        """Of `causal`: both; one of them where every library counts."""
        return (None, True) if self.thorough else (True if first else None,)

    def length(self, multiple=1, most=130):
        return multiple * int(self.rng.integers(1, max(most // multiple, 1) + 1))

    def grid(self, *shape):
        return on_grid(self.rng, shape)

    def parameters(self, fields, n, N=None):
        """As the papers draw them."""
        spec, out = self.folder / "init.yaml", self.folder / "init"
        spec.write_text(to_yaml(fields), encoding="utf-8")
        for old in out.glob("*.npy"):
            old.unlink()
        sizes = [("batch", 1), ("queries", n), ("keys", N or n)]
        words = [text for name, size in sizes if fields.get(name) == "?" for text in (f"--{name}", size)]
        status, said = self.server.call("init", spec, "--out", out, "--seed", self.seed, *words)
        if status != 0:
            raise AssertionError(f"attnc init ended with {status}: {said}")
        return {file.stem: np.load(file) for file in out.glob("*.npy")}

    def tensors(self, fields, n, N=None, batch=2):
        """Inputs on the grid, parameters, and every key where lengths are asked for."""
        N = n if N is None else N
        heads, kv_heads, d = fields["heads"], fields["kv_heads"], fields["head_dim"]
        inputs = {"q": self.grid(batch, heads, n, d), "k": self.grid(batch, kv_heads, N, d),
                  "v": self.grid(batch, kv_heads, N, fields["value_dim"])}
        if "projection" in fields:
            width = fields["projection"]["model_dim"]
            inputs = {"x": self.grid(batch, n, width)}
            if fields["projection"].get("cross"):
                inputs["context"] = self.grid(batch, N, width)
        if fields.get("key_lengths"):
            inputs["key_lengths"] = np.full(batch, N, np.int32)
        return inputs | self.parameters(fields, n, N)
