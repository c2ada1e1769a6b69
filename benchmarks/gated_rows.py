"""The rows of benchmarks/gated.py: specs, inputs, and what each needs."""

import dataclasses
import itertools

import numpy as np

CHUNK = 32  # tokens of a chunk for which multiply-adds are counted


@dataclasses.dataclass
class Row:
    kind: str
    d: int
    n: int
    heads: int

    @property
    def name(self):
        return f"{self.kind}_{self.d}_{self.n}"

    @property
    def decay(self):
        return KINDS[self.kind][0]

    @property
    def erases(self):
        return KINDS[self.kind][1]

    @property
    def rule(self):
        """Of ONNX's LinearAttention."""
        return {(False, False): "linear", (True, False): "gated", (False, True): "delta",
                (True, True): "gated_delta"}[bool(self.decay), self.erases]

    def spec(self):
        mechanism = {"kind": "kernel", "feature_map": {"kind": "identity"}, "denominator": "none"}
        if self.decay:
            mechanism["decay"] = {"per": self.decay}
        if self.erases:
            mechanism["erase"] = {"per": "token"}
        return {"attention": self.kind, "dtype": "f32", "batch": 1, "queries": self.n, "heads": self.heads, "head_dim": self.d,
                "causal": True, "pin": {"linearize": "chunked"}, "mechanism": mechanism}

    def multiply_adds(self):
        """Of a chunked algorithm, with pairs on and below the diagonal alone: the state is read by queries, and written; pairs and
        their sums. Where keys erase it is read by keys too, pairs of keys below the diagonal make a triangular system, and that is
        solved for all values by substitution."""
        m = dv = self.d
        each = 2 * m * dv + (CHUNK + 1) / 2 * (m + dv)
        if self.erases:
            each += m * dv + (CHUNK - 1) / 2 * (m + dv)
        return self.heads * self.n * each

    def inputs(self):
        """Keys of length 1, decays as trained models have them."""
        rng = np.random.default_rng(0)
        shape = (1, self.heads, self.n, self.d)
        q, k, v = (rng.standard_normal(shape, np.float32) for _ in range(3))
        k /= np.linalg.norm(k, axis=-1, keepdims=True)
        given = {"q": q, "k": k, "v": v}
        if self.decay == "head":
            given["decay"] = np.log1p(-np.exp2(-5.0 - np.arange(self.heads))).astype(np.float32)
        elif self.decay:
            given["g"] = -rng.exponential(0.1, shape if self.decay == "channel" else shape[:3]).astype(np.float32)
        if self.erases:
            given["beta"] = rng.uniform(0, 1, shape[:3]).astype(np.float32)
        return given


KINDS = {"undecayed": ("", False), "retention": ("head", False), "decay": ("token", False), "gla": ("channel", False), "delta": ("", True),
         "gated_delta": ("token", True), "kda": ("channel", True)}
# So many heads that a run takes tens of milliseconds.
SIZES = [(4096, 4), (65536, 1)]


def rows():
    return [Row(kind, d, n, heads) for (n, heads), d, kind in itertools.product(SIZES, (64, 128), KINDS)]
