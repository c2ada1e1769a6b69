"""What benchmarks/cpu.py times: every family, the grid of sizes, and a spec for each point of it.

A point is (family, storage type, head_dim, queries, threads); its name is what `--only` matches:
`elu1_causal f32 d64 n4096 t1`. Heads: 4 of up to 64 channels, 2 of more; one where n² numbers would be too many.
"""

import dataclasses
import re

LENGTHS = [256, 1024, 4096, 16384, 65536]
IMAGES = {28: 784, 56: 3136, 112: 12544}  # side: tokens
WIDTHS = [64, 40, 80, 128]
DTYPES = ["f32", "bf16"]
# The other widths are timed at this length alone, unless all are asked for.
USUAL_WIDTH, USUAL_LENGTH = 64, 4096
# Beyond this many tokens a quadratic function takes seconds a run.
QUADRATIC_MOST = 16384


def kernel(feature_map, **more):
    return {"kind": "kernel", "feature_map": {"kind": feature_map, **more}}


FAVOR = kernel("favor", features=256)
POLYSKETCH = {"kind": "polysketch", "degree": 4, "size": 32}
EVA = {"kind": "eva", "window": {"length": 128}, "chunk": 16}
LOW_RANK = {"low_rank": {"rank": 256}}


def image_window(size):
    return {"kind": "softmax", "window": {"grid": "image", "size": [size, size]}}


@dataclasses.dataclass
class Family:
    """`mechanism` or `parts` of a spec, with 'image' for the sides of a square image and 'n' for the tokens."""
    mechanism: object
    causal: bool = False
    quadratic: bool = False
    image: bool = False
    layer: bool = False  # with projections of a model as wide as all heads
    least: int = 256     # tokens


FAMILIES = {
    "softmax": Family({"kind": "softmax"}, quadratic=True),
    "softmax_causal": Family({"kind": "softmax"}, causal=True, quadratic=True),
    "window_7x7": Family(image_window(7), image=True),
    "window_14x14": Family(image_window(14), image=True),
    "window_128": Family({"kind": "softmax", "window": {"length": 128}}),
    "window_256": Family({"kind": "softmax", "window": {"length": 256}}),
    "window_512": Family({"kind": "softmax", "window": {"length": 512}}, least=1024),
    "elu1": Family(kernel("elu1")),
    "relu": Family(kernel("relu")),
    "cosformer": Family(kernel("cosformer", max_position="n")),
    "focused": Family(kernel("focused")),
    "favor": Family(FAVOR),
    "favor_relu": Family(kernel("favor_relu", features=256)),
    "performer_published": Family(kernel("favor", features=256, epsilon=1e-4, stabilizer="projection")),
    "elu1_causal": Family(kernel("elu1"), causal=True),
    "cosformer_causal": Family(kernel("cosformer", max_position="n"), causal=True),
    "favor_causal": Family(FAVOR, causal=True),
    "linformer": Family({"kind": "softmax", **LOW_RANK}, least=1024),
    "linformer_layer": Family({"kind": "softmax", **LOW_RANK}, layer=True, least=1024),
    "flurka_elu1": Family({**kernel("elu1"), **LOW_RANK}, least=1024),
    "flurka_favor": Family({**FAVOR, **LOW_RANK}, least=1024),
    "polynomial": Family({"kind": "polynomial", "degree": 4}, quadratic=True),
    "polynomial_causal": Family({"kind": "polynomial", "degree": 4}, causal=True, quadratic=True),
    "polysketch": Family(POLYSKETCH),
    "polysketch_causal": Family(POLYSKETCH, causal=True),
    "polysketch_local": Family({**POLYSKETCH, "local_exact": 256}, causal=True),
    "effatt": Family({"kind": "effatt"}),
    "elfatt": Family([{"kind": "effatt", "lepe": {"grid": "image"}}, {**image_window(7), "lepe": {}}], image=True),
    "agent": Family({"kind": "agent", "agents": 64}),
    "eva": Family(EVA),
    "eva_causal": Family(EVA, causal=True),
}


def filled(fields, n):
    """The fields with 'n' and 'image' replaced."""
    if isinstance(fields, dict):
        return {key: filled(value, n) for key, value in fields.items()}
    side = next((side for side, tokens in IMAGES.items() if tokens == n), None)
    return {"n": n, "image": [side, side]}.get(fields, fields) if isinstance(fields, str) else fields


@dataclasses.dataclass(frozen=True)
class Point:
    family: str
    dtype: str
    d: int
    n: int
    threads: int
    heads: int = 0
    batch: int = 1

    @property
    def name(self):
        more = f" b{self.batch}" if self.batch > 1 else ""
        return f"{self.family} {self.dtype} d{self.d} n{self.n} t{self.threads}{more}"

    @property
    def kind(self):
        """Its Family; rows of another benchmark have families of their own."""
        return FAMILIES[self.family]

    @property
    def causal(self):
        return self.kind.causal

    @property
    def head_count(self):
        if self.heads:
            return self.heads
        if self.kind.quadratic and self.n > 4096:
            return 1
        return 4 if self.d <= 64 else 2

    @property
    def parts(self):
        """(number of heads, mechanism) of each part."""
        mechanism = self.kind.mechanism
        listed = mechanism if isinstance(mechanism, list) else [mechanism]
        return [(self.head_count // len(listed), filled(part, self.n)) for part in listed]

    @property
    def fields(self):
        """The spec."""
        fields = {"attention": self.family, "dtype": self.dtype, "batch": self.batch, "queries": self.n,
                  "heads": self.head_count, "head_dim": self.d, "causal": self.causal}
        if self.kind.layer:
            fields["projection"] = {"model_dim": self.head_count * self.d}
        if len(self.parts) == 1:
            return fields | {"mechanism": self.parts[0][1]}
        return fields | {"parts": [{"heads": heads, "mechanism": mechanism} for heads, mechanism in self.parts]}


def lengths_of(family):
    """The lengths at which a family is timed."""
    kind = FAMILIES[family]
    if kind.image:
        return list(IMAGES.values())
    return [n for n in LENGTHS if n >= kind.least and not (kind.quadratic and n > QUADRATIC_MOST)]


def usual_length(family):
    return 3136 if FAMILIES[family].image else USUAL_LENGTH


def grid(all_widths=False):
    """Every point, the usual sizes first."""
    points = [Point(family, dtype, d, n, threads) for threads in (1, 2) for dtype in DTYPES for d in WIDTHS
              for family in FAMILIES for n in lengths_of(family)
              if all_widths or d == USUAL_WIDTH or n == usual_length(family)]
    return sorted(points, key=lambda point: (point.d != USUAL_WIDTH, point.n != usual_length(point.family)))


def quick():
    """One small point of each family."""
    return [Point(family, "f32", 64, lengths_of(family)[0], 1) for family in FAMILIES]


def matching(points, pattern):
    return [point for point in points if re.search(pattern, point.name)]
