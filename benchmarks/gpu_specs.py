"""What benchmarks/gpu.py times: specs of every family at the papers' shapes, compiled once for all lengths.

The tokens of a batch are fixed, so batch and length trade places; so is the model width, so heads and their width do.
"""

import dataclasses

TOKENS, WIDTH = 16384, 2048
# The most telling first, for the time may run out.
LENGTHS = [16384, 2048, 65536, 4096, 1024, 8192, 32768, 131072]


@dataclasses.dataclass
class BenchSpec:
    """One library: `fields` is the spec, with '?' for batch, queries and keys unless the family needs them fixed."""
    family: str
    fields: dict
    lengths: list
    tokens: int = TOKENS

    @property
    def name(self):
        return self.fields["attention"]

    @property
    def dtype(self):
        return self.fields["dtype"]

    @property
    def causal(self):
        return self.fields.get("causal", False)

    def batch(self, n):
        return max(1, self.tokens // n)

    def sizes_of(self, n):
        """The '?' sizes as attnc takes them."""
        sizes = {"batch": self.batch(n), "queries": n, "keys": n}
        open_sizes = [(name, size) for name, size in sizes.items() if self.fields.get(name) == "?"]
        return [text for name, size in open_sizes for text in (f"--{name}", str(size))]

    def init_sizes(self):
        return self.sizes_of(min(self.lengths))


# By family: (causal, mechanism).
FAMILIES = {
    "softmax": (False, {"kind": "softmax"}),
    "softmax_causal": (True, {"kind": "softmax"}),
    "softmax_window": (False, {"kind": "softmax", "window": {"length": 256}}),
    "elu1": (False, {"kind": "kernel", "feature_map": {"kind": "elu1"}}),
    "elu1_causal": (True, {"kind": "kernel", "feature_map": {"kind": "elu1"}}),
    "performer": (False, {"kind": "kernel", "feature_map": {"kind": "favor", "features": 256}}),
    "performer_causal": (True, {"kind": "kernel", "feature_map": {"kind": "favor", "features": 256}}),
    "linformer": (False, {"kind": "softmax", "low_rank": {"rank": 256}}),
    "flurka": (False, {"kind": "kernel", "feature_map": {"kind": "elu1"}, "low_rank": {"rank": 256}}),
    "effatt": (False, {"kind": "effatt"}),
    "agent": (False, {"kind": "agent", "agents": 64}),
    "polynomial_causal": (True, {"kind": "polynomial", "degree": 4}),
    "polysketch_causal": (True, {"kind": "polysketch", "degree": 4, "size": 32}),
    "polysketch": (False, {"kind": "polysketch", "degree": 4, "size": 32}),
    "eva": (False, {"kind": "eva", "window": {"length": 128}, "chunk": 16}),
    "eva_causal": (True, {"kind": "eva", "window": {"length": 128}, "chunk": 16}),
}
# What a dry run makes smaller.
SMALL = {"agents": 8, "chunk": 4, "window": {"length": 16}, "size": 8, "low_rank": {"rank": 16}}


def bench_spec(family, width, dtype, lengths, tokens=TOKENS, model=WIDTH, small=None):
    causal, mechanism = FAMILIES[family]
    mechanism = mechanism | {name: size for name, size in (small or {}).items() if name in mechanism}
    fields = {"attention": f"{family}_d{width}_{dtype}", "dtype": dtype, "batch": "?", "queries": "?", "keys": "?",
              "heads": model // width, "head_dim": width, "causal": causal, "mechanism": mechanism}
    if family not in ("softmax", "softmax_causal"):
        del fields["keys"]  # as many as queries
    return BenchSpec(family, fields, lengths, tokens)


def all_specs(quick=False, dtypes=("bf16", "f16")):
    """`quick`: tiny ones, for a dry run."""
    if quick:
        return [bench_spec(family, 16, "f32", [32, 64], tokens=64, model=32, small=SMALL) for family in FAMILIES]
    return [bench_spec(family, width, dtype, LENGTHS)
            for dtype in dtypes for width in (64, 128) for family in FAMILIES]
