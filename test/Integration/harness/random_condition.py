"""How far rounding may throw the rows of sketched attention, to first order.

Roots of weights t = ⟨S(q), S(k)⟩ have signs, and those of a row may cancel. Each row S(q) and S(k) is moved by at most u times
its norm; the bound of a row of the output is the largest norm of what that does to it, to first order, over its own norm:
u |S(q)| |∂o/∂S(q)| + u Σ_j |S(k_j)| |∂o/∂S(k_j)|. An output projection is part of o. A row whose weights are all 0 only because
they cancel has no bound.

float64 rounds too: of entries that should be 0 it may make noise, in one order of sums and not in another. So each number is
carried with what that may add, and where two evaluations differ by no more, nobody can say what the output is.
"""

import dataclasses

import numpy as np

from random_range import parts_seen, project

# What rows S(q), S(k) may be rounded to, by storage type (docs/Rationale/Sketches.md).
UNIT = {"f32": 2.0 ** -24, "f16": 2.0 ** -11, "bf16": 2.0 ** -8}
# Two evaluations in float64 of what it can hold differ by no more than this; in a bundle what is expected is rounded to f32.
JUDGES_APART = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-6}
# What a sum or a product of float64 is off by, the roundings of a sum counted.
EXACT_UNIT = 2.0 ** -51
# Noise is first order only.
NOISE_FACTOR = 16


#===------------------------------------------------------------------------------------------------------------------===#
# Sketches
#===------------------------------------------------------------------------------------------------------------------===#


def signs(sign, index):
    """(D H)[:, index] of ±1: [rows, r]."""
    odd = np.array([[bin(i & int(c)).count("1") % 2 for c in index] for i in range(len(sign))])
    return sign[:, None] * (1 - 2 * odd)


def times_signs(number, matrix):
    """Column by column in one order: of equal columns the sums are equal, and so their differences exactly 0."""
    rows, error = number
    sums = np.stack([(rows * column).sum(-1) for column in matrix.T], -1)
    return sums, np.broadcast_to((error + EXACT_UNIT * np.abs(rows)).sum(-1, keepdims=True), sums.shape)


def times(a, b):
    value = a[0] * b[0]
    return value, np.abs(a[0]) * b[1] + np.abs(b[0]) * a[1] + a[1] * b[1] + EXACT_UNIT * np.abs(value)


def sketch(number, mechanism, matrix):
    """S of rows [n, d], [n, r], with what float64 may be off. `matrix` gives the ±1 by name."""
    root, width = np.sqrt(mechanism["size"]), number[0].shape[-1]
    scaled = lambda number: (number[0] / root, number[1] / root)
    level = [scaled(times_signs(number, matrix(f"leaf{i}", "")[:width])) for i in range(mechanism["degree"] // 2)]
    node = 0
    while len(level) > 1:
        above = []
        for pair in zip(level[::2], level[1::2]):
            sides = (times_signs(side, matrix(f"node{node}", name)) for side, name in zip(pair, ["_a", "_b"]))
            above.append(scaled(times(*sides)))
            node += 1
        level = above
    return level[0]


def matrices(parameter, prefix, head):
    """The ±1 of one head by their names, made once."""
    made = {}

    def matrix(name, side):
        if (name, side) not in made:
            sign, index = (parameter(f"{prefix}sketch.{name}.{what}{side}")[head] for what in ("sign", "index"))
            made[name, side] = signs(sign, index)
        return made[name, side]
    return matrix


#===------------------------------------------------------------------------------------------------------------------===#
# One head
#===------------------------------------------------------------------------------------------------------------------===#


def attend(mechanism, roots, visible, v):
    """o [n, c], ∂o/∂t as factors, ∂o_i/∂t_ij = slope_ij (v_j − mean_i), and which rows have no weight at all."""
    guard = mechanism.get("denominator", {})
    t = roots * visible
    unit = np.abs(t).max(1, keepdims=True, initial=0.0)
    unit = np.where(unit > 0, unit, 1)
    weights = (t / unit) ** 2
    bias, floor = (guard.get(name, 0) * unit ** -2.0 for name in ("bias", "floor"))
    sums = weights.sum(1, keepdims=True) + bias
    denominator = np.maximum(sums, floor)
    denominator = np.where(denominator > 0, denominator, np.inf)
    o = weights @ v / denominator
    return o, 2 * (t / unit) / denominator / unit, np.where(sums < floor, 0, o), np.isinf(denominator[:, 0])


def distances(v, mean):
    """|v_j − mean_i|: [n, N]."""
    return np.sqrt(np.maximum((mean ** 2).sum(1)[:, None] + (v ** 2).sum(1) - 2 * mean @ v.T, 0))


@dataclasses.dataclass
class Head:
    """Rows of the output of one head, for u = 1 the bound of their absolute error, and what float64 may be off."""
    o: np.ndarray       # [rows, c]
    bound: np.ndarray   # [rows]
    noise: np.ndarray   # [rows]


def exact_error(q, k, half):
    """Of ⟨q, k⟩^half in float64."""
    added = np.abs(q[0]) @ np.abs(k[0]).T
    error = q[1] @ np.abs(k[0]).T + np.abs(q[0]) @ k[1].T + EXACT_UNIT * added
    return half * added ** (half - 1) * error


def attend_head(mechanism, matrix, q, k, v, places, visible):
    """The Head of rows q at `places`, which are (rows, what they may be off) as k is."""
    (sq, q_error), (sk, k_error) = sketch(q, mechanism, matrix), sketch(k, mechanism, matrix)
    t, sketched = sq @ sk.T, visible
    off = np.abs(sq) @ (k_error + EXACT_UNIT * np.abs(sk)).T + q_error @ (np.abs(sk) + k_error).T
    if "local_exact" in mechanism:  # these weights have no sketch
        block, half = mechanism["local_exact"], mechanism["degree"] // 2
        inside = places[:, None] // block == np.arange(len(v)) // block
        t, sketched = np.where(inside, (q[0] @ k[0].T) ** half, t), visible & ~inside
        off = np.where(inside, exact_error(q, k, half), off)
    o, slope, mean, empty = attend(mechanism, t, visible, v)
    reach = np.abs(slope * visible) * distances(v, mean)
    noise = (reach * off).sum(1) + np.where(is_noise(t * visible, off * visible), np.inf, 0)
    lengths = np.linalg.norm(sq, axis=1)[:, None] * np.linalg.norm(sk, axis=1)
    bound = (reach * sketched * lengths).sum(1) + np.linalg.norm(sq, axis=1) * steepest(slope * sketched, sk, v, mean)
    undecided = empty & (lengths * sketched > 0).any(1)  # nobody can say that it is 0
    return Head(o, np.where(undecided, np.inf, bound), noise)


def steepest(slope, sk, v, mean):
    """|∂o_i/∂S(q_i)|, the largest singular value of Σ_j slope_ij S(k_j) (v_j − mean_i)ᵀ: [rows]."""
    gradient = np.stack([(slope * column) @ v - (slope @ column)[:, None] * mean for column in sk.T], 1)  # [rows, r, c]
    top = np.abs(gradient).max((1, 2), initial=0.0)
    gradient = gradient / np.where(top > 0, top, 1)[:, None, None]
    held = np.isfinite(gradient).all((1, 2))
    squares = np.linalg.eigvalsh(gradient[held] @ np.swapaxes(gradient[held], 1, 2)).max(1, initial=0.0)
    largest = np.full(len(slope), np.inf)
    largest[held] = top[held] * np.sqrt(np.maximum(squares, 0))
    return largest


def is_noise(t, off):
    """Where float64 may be off by a visible share of the largest root."""
    return (off.max(1, initial=0.0) > 2.0 ** -10 * np.abs(t).max(1, initial=0.0))


#===------------------------------------------------------------------------------------------------------------------===#
# An output
#===------------------------------------------------------------------------------------------------------------------===#


def values_of(case, arrays, parameter):
    f = case.fields
    if "projection" not in f:
        return arrays["v"].astype(float)
    bias = parameter("bv") if f["projection"]["bias"] else 0.0
    return project(arrays.get("context", arrays["x"]).astype(float), parameter("wv"), bias, f["kv_heads"])


def without_poison(case, arrays):
    """The arrays with 0 in rows of keys that do not exist."""
    if "key_lengths" not in arrays:
        return arrays
    exists = np.arange(case.keys) < arrays["key_lengths"][:, None]
    keys = {"k", "v", "context"} & arrays.keys()
    return arrays | {name: np.where(exists.reshape((-1,) + (1,) * (arrays[name].ndim - 3) + (case.keys, 1)),
                                    arrays[name], 0) for name in keys}


def visible_keys(case, arrays, entry, places):
    """[rows, N] of one batch entry."""
    seen = np.arange(case.keys) < arrays.get("key_lengths", np.full(case.batch, case.keys))[entry]
    return seen & (np.arange(case.keys) <= places[:, None]) if case.fields["causal"] else np.tile(seen, (len(places), 1))


def given(case, rows):
    """(rows, what they may be off): those that a layer computes are rounded, and those that are scaled."""
    computed = case.fields.keys() & {"projection", "rope", "qk_norm"} or case.fields.get("scale", 1) != 1
    return rows, (4 if computed else 0) * EXACT_UNIT * np.abs(rows)


class Conditions:
    """Of the rows at `places` of an output that is `expected` [batch, H, rows, dv], or [batch, rows, D] behind an output
    projection, in the batch `entries`: `bounds` for u = 1 of the relative error of each. `disagree` [batch, rows …]: where
    this evaluation and what is expected differ; `noise`: by how much float64 lets them."""

    def __init__(self, case, arrays, parameter, expected, entries, places):
        self.case, self.parameter, self.expected, self.places = case, parameter, expected, places
        self.arrays = without_poison(case, arrays)
        self.projected = bool(case.fields.get("projection", {}).get("output"))
        self.entries = range(case.batch)[entries]
        self.v = values_of(case, self.arrays, parameter)
        self.absolute, self.noise = np.zeros(expected.shape[:-1]), np.zeros(expected.shape[:-1])
        self.o, self.known = np.zeros(expected.shape), np.zeros(expected.shape[:-1], bool)
        self.add_parts()
        self.compare()
        size = np.linalg.norm(expected, axis=-1)
        self.bounds = np.where(self.absolute == 0, 0.0, self.absolute / size)[entries]

    def add_parts(self):
        first, plain = 0, lambda mechanism: mechanism["kind"] == "polysketch" and "lepe" not in mechanism
        whole = all(map(plain, self.case.mechanisms()))
        for index, seen in enumerate(parts_seen(self.case, self.arrays, self.parameter)):
            if seen.mechanism["kind"] == "polysketch":
                prefix = f"part{index}." if "parts" in self.case.fields else ""
                for head in range(seen.q.shape[1]):
                    matrix = matrices(self.parameter, prefix, head)
                    for entry in self.entries:
                        self.add_head(seen, matrix, head, first + head, entry)
                        place = entry if self.projected else (entry, first + head)
                        self.known[place] = whole if self.projected else plain(seen.mechanism)
            first += seen.q.shape[1]
        if self.projected and self.case.fields["projection"]["bias"]:
            self.o += self.parameter("bo")

    def add_head(self, seen, matrix, head, place, entry):
        """Head `head` of a part, `place` of the output; behind a projection errors of heads add up."""
        f = self.case.fields
        group = f["heads"] // f["kv_heads"]
        q, k = f.get("scale", 1.0) * seen.q[entry, head, self.places], seen.k[entry, head // group]
        visible = visible_keys(self.case, self.arrays, entry, self.places)
        v = self.v[entry, place // group]
        if self.projected:
            v = v @ self.parameter("wo")[place * v.shape[-1]:(place + 1) * v.shape[-1]]
        result = attend_head(seen.mechanism, matrix, given(self.case, q), given(self.case, k), v, self.places, visible)
        at = entry if self.projected else (entry, place)
        self.o[at] += result.o
        self.absolute[at] += result.bound
        self.noise[at] += result.noise

    def compare(self):
        difference = np.where(self.known, np.linalg.norm(self.o - self.expected, axis=-1), 0)
        size = np.linalg.norm(self.expected, axis=-1)
        if self.projected:  # heads may cancel
            size = size + np.linalg.norm(self.o, axis=-1).max(initial=0)
        self.disagree = ~(difference <= JUDGES_APART[self.expected.dtype] * size)
        self.broken = self.disagree & ~(difference <= NOISE_FACTOR * self.noise)
