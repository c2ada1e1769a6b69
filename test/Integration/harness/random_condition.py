"""How far rounding may throw the rows of sketched attention, to first order.

Roots of weights t = ⟨S(q), S(k)⟩ have signs, and those of a row may cancel. Each entry of the rows S(q) and S(k) is moved by
a relative error of at most u; the bound of a row is the largest norm of what that does to it, to first order, over the
row's own norm: u Σ_c |S(q)_c| |∂o/∂S(q)_c| + u Σ_jc |S(k_j)_c| |∂o/∂S(k_j)_c|. An output projection is part of o. A row whose
weights are all 0 only because they cancel has no bound.
"""

import numpy as np

from random_range import parts_seen, project

# What rows S(q), S(k) may be rounded to, by storage type (docs/Rationale/Sketches.md).
UNIT = {"f32": 2.0 ** -24, "f16": 2.0 ** -11, "bf16": 2.0 ** -8}
# Two evaluations in float64 differ by no more than this, nor by more than this many times what a relative error of 2^-53 may do.
JUDGES_APART, FLOAT64_ERRORS = 1e-10, 2.0 ** 10


#===------------------------------------------------------------------------------------------------------------------===#
# Sketches
#===------------------------------------------------------------------------------------------------------------------===#


def signs(sign, index):
    """(D H)[:, index] of ±1: [rows, r]."""
    odd = np.array([[bin(i & int(c)).count("1") % 2 for c in index] for i in range(len(sign))])
    return sign[:, None] * (1 - 2 * odd)


def times_signs(rows, matrix):
    """Column by column in one order: of equal columns the sums are equal, and so their differences exactly 0."""
    return np.stack([(rows * column).sum(-1) for column in matrix.T], -1)


def sketch(rows, mechanism, matrix):
    """S of rows [n, d]: [n, r]. `matrix` gives the ±1 by name."""
    root, width = np.sqrt(mechanism["size"]), rows.shape[-1]
    level = [times_signs(rows, matrix(f"leaf{i}", "")[:width]) / root for i in range(mechanism["degree"] // 2)]
    node = 0
    while len(level) > 1:
        above = []
        for pair in zip(level[::2], level[1::2]):
            a, b = (times_signs(side, matrix(f"node{node}", name)) for side, name in zip(pair, ["_a", "_b"]))
            above.append(a * b / root)
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
    """o [n, c] and ∂o/∂t as factors: ∂o_i/∂t_ij = slope_ij (v_j − mean_i)."""
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


def head_bound(mechanism, matrix, q, k, v, places, visible):
    """o [rows, c] of one head and, for u = 1, the bound of its absolute error [rows]; q are the rows at `places`."""
    sq, sk = sketch(q, mechanism, matrix), sketch(k, mechanism, matrix)
    t, sketched = sq @ sk.T, visible
    if "local_exact" in mechanism:  # these weights have no sketch
        block = mechanism["local_exact"]
        inside = places[:, None] // block == np.arange(len(k)) // block
        t, sketched = np.where(inside, (q @ k.T) ** (mechanism["degree"] // 2), t), visible & ~inside
    o, slope, mean, empty = attend(mechanism, t, visible, v)
    slope = slope * sketched
    added = np.abs(sq) @ np.abs(sk).T
    of_keys = (np.abs(slope) * added * distances(v, mean)).sum(1)
    of_query = np.zeros(len(q))
    for feature in range(sq.shape[1]):
        steep = slope * sk[:, feature]
        of_query += np.abs(sq[:, feature]) * np.linalg.norm(steep @ v - steep.sum(1, keepdims=True) * mean, axis=1)
    undecided = empty & (added * sketched > 0).any(1)  # nobody can say that it is 0
    return o, np.where(undecided, np.inf, of_keys + of_query)


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


class Conditions:
    """Of the rows at `places` of an output that is `expected` [batch, H, rows, dv], or [batch, rows, D] behind an output
    projection, in the batch `entries`: `bounds` for u = 1 of the relative error of each, and `apart`, how much farther than
    two evaluations in float64 may be this one is from what is expected."""

    def __init__(self, case, arrays, parameter, expected, entries, places):
        self.case, self.parameter, self.expected, self.places = case, parameter, expected, places
        self.arrays = without_poison(case, arrays)
        self.projected = bool(case.fields.get("projection", {}).get("output"))
        self.entries = range(case.batch)[entries]
        self.v = values_of(case, self.arrays, parameter)
        self.absolute, self.apart = np.zeros(expected.shape[:-1]), 0.0
        self.add_parts()
        size = np.linalg.norm(expected, axis=-1)
        self.bounds = np.where(self.absolute == 0, 0.0, self.absolute / size)[entries]

    def add_parts(self):
        first = 0
        for index, seen in enumerate(parts_seen(self.case, self.arrays, self.parameter)):
            if seen.mechanism["kind"] == "polysketch":
                prefix = f"part{index}." if "parts" in self.case.fields else ""
                for head in range(seen.q.shape[1]):
                    matrix = matrices(self.parameter, prefix, head)
                    for entry in self.entries:
                        self.add_head(seen, matrix, head, first + head, entry)
            first += seen.q.shape[1]

    def add_head(self, seen, matrix, head, place, entry):
        """Head `head` of a part, `place` of the output."""
        f = self.case.fields
        group = f["heads"] // f["kv_heads"]
        q = f.get("scale", 1.0) * seen.q[entry, head, self.places]
        visible = visible_keys(self.case, self.arrays, entry, self.places)
        v = self.v[entry, place // group]
        if self.projected:
            v = v @ self.parameter("wo")[place * v.shape[-1]:(place + 1) * v.shape[-1]]
        o, bound = head_bound(seen.mechanism, matrix, q, seen.k[entry, head // group], v, self.places, visible)
        if self.projected:  # errors of heads add up
            self.absolute[entry] += bound
            return
        self.absolute[entry, place] = bound
        if "lepe" not in seen.mechanism:
            self.compare(o, bound, self.expected[entry, place])

    def compare(self, o, bound, expected):
        size = np.linalg.norm(expected, axis=1)
        allowed = JUDGES_APART * size + FLOAT64_ERRORS * 2.0 ** -53 * bound
        difference = np.linalg.norm(o - expected, axis=1)
        apart = np.where(difference == 0, 0.0, difference / allowed)
        self.apart = max(self.apart, float(np.where(np.isnan(apart), np.inf, apart).max(initial=0.0)))
