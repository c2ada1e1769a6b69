"""Which rows of an output of sketched attention are conditioned, and where float64 cannot say what it is: the bounds of
sketch_bounds.py for every head of a drawn case.
"""

import numpy as np

from accuracy import ratio
from random_range import parts_seen, project
from sketch_bounds import EXACT_UNIT, UNIT, attend_head, evaluate, evaluate_in_f32, signs

# Two evaluations in float64 of what it can hold differ by no more than this; in a bundle what is expected is rounded to f32.
JUDGES_APART = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-6}
# Noise is first order only.
NOISE_FACTOR = 16
# How often the definition is evaluated in f32.
SAMPLES = 4


def matrices(parameter, prefix, head):
    """The ±1 of one head by their names, made once."""
    made = {}

    def matrix(name, side):
        if (name, side) not in made:
            sign, index = (parameter(f"{prefix}sketch.{name}.{what}{side}")[head] for what in ("sign", "index"))
            made[name, side] = signs(sign, index)
        return made[name, side]
    return matrix


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


COMPUTED = ("projection", "rope", "qk_norm")


def off_in_float64(fields, rows):
    """What rows may be off that a layer computes, and those that are scaled."""
    computed = fields.keys() & set(COMPUTED) or fields.get("scale", 1) != 1
    return (4 if computed else 0) * EXACT_UNIT * np.abs(rows)


class Conditions:
    """Of the rows at `places` of an output that is `expected` [batch, H, rows, dv], or [batch, rows, D] behind an output
    projection, in the batch `entries`: `bounds` for u = 1 of the relative error of each; `disagree`, where this evaluation and
    what is expected differ or, as they cannot be compared, this one and one whose sums go the other way; `broken`, where they
    differ by more than float64 may be off. `off_in_state`: the relative error of each that a state of f32 has by chance.
    `moved`: the relative error of the whole where a layer computes rows of q and k in f32."""

    def __init__(self, case, arrays, parameter, expected, entries, places):
        self.case, self.parameter, self.expected, self.places = case, parameter, expected, places
        self.arrays = without_poison(case, arrays)
        self.projected = bool(case.fields.get("projection", {}).get("output"))
        self.entries = range(case.batch)[entries]
        self.v = values_of(case, self.arrays, parameter)
        self.absolute, self.unsure, self.in_state = (np.zeros(expected.shape[:-1]) for _ in range(3))
        self.o, self.change, self.backwards = (np.zeros(expected.shape) for _ in range(3))
        self.known, self.rng = np.zeros(expected.shape[:-1], bool), np.random.default_rng(1)
        self.sketched, self.entries_judged = [], entries
        self.add_parts()
        self.compare()
        size = np.linalg.norm(expected, axis=-1)
        self.bounds = np.where(self.absolute == 0, 0.0, self.absolute / size)[entries]
        self.off_in_state = UNIT["f32"] * ratio(self.in_state, size)[entries]
        self.disagree, self.broken = self.disagree[entries], self.broken[entries]
        self.moved = float(ratio(np.linalg.norm(self.change[entries]), np.linalg.norm(expected[entries])))

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
        at = entry if self.projected else (entry, place)
        exact = lambda rows: (rows, off_in_float64(f, rows))
        result = attend_head(seen.mechanism, matrix, exact(q), exact(k), v, self.places, visible)
        self.o[at] += result.o
        self.absolute[at] += result.bound
        self.unsure[at] += result.noise
        if self.has_state():
            self.in_state[at] += result.in_state
        again = lambda q, k, step=1: evaluate(seen.mechanism, matrix, q, k, v, self.places, visible, step)
        self.backwards[at] += again(q, k, -1) - result.o
        if self.is_computed():
            self.change[at] += again(*self.near((q, k), UNIT["f32"], self.rng)) - result.o
        self.sketched.append((at, lambda unit, rng: evaluate_in_f32(
            seen.mechanism, matrix, *self.near((q, k), unit, rng), v, self.places, visible) - result.o))

    def has_state(self):
        """Whether keys may enter a state, and not only pairs."""
        return self.case.fields.get("pin", {}).get("linearize") != "quadratic"

    def is_computed(self):
        """Whether rows of q and k are what a layer computes."""
        return bool(self.case.fields.keys() & set(COMPUTED))

    @staticmethod
    def near(tensors, unit, rng):
        """Rows as something may have rounded them."""
        return [rows * (1 + unit * rng.uniform(-1, 1, rows.shape)) for rows in tensors]

    def noise(self, unit):
        """The relative error of each row where the definition is evaluated in f32 up to the roots, and rows that a layer computes are
        rounded to `unit`: the largest of several, as such errors are chance; or what a state of f32 is off by, if more. The same at
        every call."""
        unit, largest, rng = unit if self.is_computed() else UNIT["f32"], 0, np.random.default_rng(2)
        for _ in range(SAMPLES):
            change = np.zeros(self.expected.shape)
            for at, once in self.sketched:
                change[at] += once(unit, rng)
            largest = np.maximum(largest, np.linalg.norm(change, axis=-1))
        return np.fmax(ratio(largest, np.linalg.norm(self.expected, axis=-1))[self.entries_judged], self.off_in_state)

    def compare(self):
        size = np.linalg.norm(self.expected, axis=-1)
        if self.projected:  # heads may cancel
            size = size + np.linalg.norm(self.o, axis=-1).max(initial=0)
        difference = np.where(self.known, np.linalg.norm(self.o - self.expected, axis=-1),
                              np.linalg.norm(self.backwards, axis=-1))
        self.disagree = ~(difference <= JUDGES_APART[self.expected.dtype] * size)
        self.broken = self.known & self.disagree & ~(difference <= NOISE_FACTOR * self.unsure)
