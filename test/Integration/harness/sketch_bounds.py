"""How far rounding may throw the rows of one head of sketched attention, to first order.

Roots of weights t = ⟨S(q), S(k)⟩ have signs, and those of a row may cancel. Each row S(q) and S(k) is moved by at most u times
its norm; the bound of a row of the output is the largest norm of what that does to it, to first order, over its own norm:
u |S(q)| |∂o/∂S(q)| + u Σ_j |S(k_j)| |∂o/∂S(k_j)|. An output projection is part of o. A row whose weights are all 0 only because
they cancel has no bound.

float64 rounds too: of entries that should be 0 it may make noise, in one order of sums and not in another. So each number is
carried with what that may add, and where two evaluations differ by no more, nobody can say what the output is.
"""

import dataclasses
import math

import numpy as np

# What rows S(q), S(k) may be rounded to, by storage type (docs/Rationale/Sketches.md).
UNIT = {"f32": 2.0 ** -24, "f16": 2.0 ** -11, "bf16": 2.0 ** -8}
# What a sum or a product of float64 is off by, the roundings of a sum counted.
EXACT_UNIT = 2.0 ** -51


#===------------------------------------------------------------------------------------------------------------------===#
# Sketches
#===------------------------------------------------------------------------------------------------------------------===#


def signs(sign, index):
    """(D H)[:, index] of ±1: [rows, r]."""
    odd = np.array([[bin(i & int(c)).count("1") % 2 for c in index] for i in range(len(sign))])
    return sign[:, None] * (1 - 2 * odd)


def times_signs(number, matrix, step=1):
    """Column by column in one order: of equal columns the sums are equal, and so their differences exactly 0. `step` -1 is the
    other order."""
    rows, error = number
    sums = np.stack([(rows * column)[..., ::step].sum(-1) for column in matrix.T], -1)
    return sums, np.broadcast_to((error + EXACT_UNIT * np.abs(rows)).sum(-1, keepdims=True), sums.shape)


def times(a, b):
    value = a[0] * b[0]
    return value, np.abs(a[0]) * b[1] + np.abs(b[0]) * a[1] + a[1] * b[1] + EXACT_UNIT * np.abs(value)


def sketch(number, mechanism, matrix, step=1):
    """S of rows [n, d], [n, r], with what float64 may be off. `matrix` gives the ±1 by name."""
    root, width = math.sqrt(mechanism["size"]), number[0].shape[-1]
    scaled = lambda number: (number[0] / root, number[1] / root)
    level = [scaled(times_signs(number, matrix(f"leaf{i}", "")[:width], step)) for i in range(mechanism["degree"] // 2)]
    node = 0
    while len(level) > 1:
        above = []
        for pair in zip(level[::2], level[1::2]):
            sides = (times_signs(side, matrix(f"node{node}", name), step) for side, name in zip(pair, ["_a", "_b"]))
            above.append(scaled(times(*sides)))
            node += 1
        level = above
    return level[0]


#===------------------------------------------------------------------------------------------------------------------===#
# One head
#===------------------------------------------------------------------------------------------------------------------===#


def attend(mechanism, t, v):
    """o [n, c], `root` [n, 1], `mean` [n, c] and which rows have no weight at all: (t_ij root_i)² is what row i has of v_j, and
    ∂o_i/∂t_ij = 2 t_ij root_i² (v_j − mean_i)."""
    guard = mechanism.get("denominator", {})
    unit = np.abs(t).max(1, keepdims=True, initial=0.0)
    unit = np.where(unit > 0, unit, 1)
    weights = (t / unit) ** 2
    bias, floor = (guard.get(name, 0) * unit ** -2.0 for name in ("bias", "floor"))
    sums = weights.sum(1, keepdims=True) + bias
    denominator = np.maximum(sums, floor)
    denominator = np.where(denominator > 0, denominator, np.inf)
    o = weights @ v / denominator
    return o, 1 / np.sqrt(denominator) / unit, np.where(sums < floor, 0, o), np.isinf(denominator[:, 0])


def distances(v, mean):
    """|v_j − mean_i|: [n, N]."""
    return np.sqrt(np.maximum((mean ** 2).sum(1)[:, None] + (v ** 2).sum(1) - 2 * mean @ v.T, 0))


@dataclasses.dataclass
class Head:
    """Rows of the output of one head, for u = 1 the bound of their absolute error, and what float64 may be off."""
    o: np.ndarray       # [rows, c]
    bound: np.ndarray   # [rows]
    noise: np.ndarray   # [rows]
    in_state: np.ndarray  # [rows], for u = 1 the error that a row read from a state of f32 has by chance


def exact_error(q, k, half):
    """Of ⟨q, k⟩^half in float64."""
    added = np.abs(q[0]) @ np.abs(k[0]).T
    error = q[1] @ np.abs(k[0]).T + np.abs(q[0]) @ k[1].T + EXACT_UNIT * added
    return half * added ** (half - 1) * error


@dataclasses.dataclass
class Roots:
    """t [rows, N] of the weights t², by how much float64 may be off, which of them have sketches, and those [rows or N, r]."""
    t: np.ndarray
    off: np.ndarray
    sketched: np.ndarray
    sq: np.ndarray
    sk: np.ndarray


def roots_of(mechanism, matrix, q, k, places, visible, step=1):
    (sq, q_error), (sk, k_error) = (sketch(rows, mechanism, matrix, step) for rows in (q, k))
    t, sketched = sq @ sk.T, visible
    off = np.abs(sq) @ (k_error + EXACT_UNIT * np.abs(sk)).T + q_error @ (np.abs(sk) + k_error).T
    if "local_exact" in mechanism:  # these weights have no sketch
        block, half = mechanism["local_exact"], mechanism["degree"] // 2
        inside = places[:, None] // block == np.arange(len(sk)) // block
        t, sketched = np.where(inside, (q[0] @ k[0].T) ** half, t), visible & ~inside
        off = np.where(inside, exact_error(q, k, half), off)
    return Roots(t * visible, off * visible, sketched, sq, sk)


def evaluate(mechanism, matrix, q, k, v, places, visible, step=1):
    """The output alone, with sums in that order."""
    rows = ((number, np.zeros_like(number)) for number in (q, k))
    return attend(mechanism, roots_of(mechanism, matrix, *rows, places, visible, step).t, v)[0]


def chance_in_state(roots, root, v, mean):
    """A state sums products s_jf s_jg [v_j 1] of keys, and a row i reads them by its own. Each is rounded once, which adds to the squares of
    the denominator and of the numerator, by value, Σ_fg (s_if s_ig s_jf s_jg)² = (Σ_f s_if² s_jf²)². The sums of r of them, and of r such
    sums, add r times as much: after k steps a sum has grown to √k of what it adds."""
    r = roots.sk.shape[1]
    unit = np.where((largest := np.abs(roots.sk).max(initial=0.0)) > 0, largest, 1)
    lost = (roots.sq * root * unit) ** 2 @ ((roots.sk / unit) ** 2).T * roots.sketched  # [rows, N], of the denominator
    return np.sqrt((1 + r) * (lost ** 2 * ((v ** 2).sum(1) + (mean ** 2).sum(1, keepdims=True))).sum(1))


def attend_head(mechanism, matrix, q, k, v, places, visible):
    """The Head of rows q at `places`, which are (rows, what they may be off) as k is."""
    roots = roots_of(mechanism, matrix, q, k, places, visible)
    o, root, mean, empty = attend(mechanism, roots.t, v)
    slope = 2 * roots.t * root * root
    reach = np.abs(slope) * distances(v, mean)
    noise = np.where(is_noise(roots), np.inf, (reach * roots.off).sum(1))
    length = np.linalg.norm(roots.sq, axis=1)
    lengths = length[:, None] * np.linalg.norm(roots.sk, axis=1) * roots.sketched
    bound = (reach * lengths).sum(1) + length * steepest(slope * roots.sketched, roots.sk, v, mean)
    undecided = empty & (lengths > 0).any(1)  # nobody can say that it is 0
    return Head(o, np.where(undecided, np.inf, bound), noise, chance_in_state(roots, root, v, mean))


#===------------------------------------------------------------------------------------------------------------------===#
# In f32
#===------------------------------------------------------------------------------------------------------------------===#


@dataclasses.dataclass
class Scaled:
    """Rows [n, c] of f32 times 2^power [n, 1], the largest entry of each between 1/2 and 1: no power of theirs leaves f32."""
    rows: np.ndarray
    power: np.ndarray

    @staticmethod
    def of(rows, power=0):
        step = np.frexp(np.abs(rows).max(-1, keepdims=True, initial=0.0))[1]
        return Scaled(np.ldexp(rows, -step).astype(np.float32), power + step)

    def times_signs(self, matrix):
        return np.stack([(self.rows * column).sum(-1) for column in matrix.T.astype(np.float32)], -1)

    def products(self, other):
        """With each row of another, in f32: (numbers, powers of two)."""
        return (self.rows @ other.rows.T).astype(float), self.power + other.power.T


def sketch_in_f32(rows, mechanism, matrix):
    """S of rows [n, d]."""
    root, rows = np.float32(math.sqrt(mechanism["size"])), Scaled.of(rows)
    level = [Scaled.of(rows.times_signs(matrix(f"leaf{i}", "")[:rows.rows.shape[-1]]) / root, rows.power)
             for i in range(mechanism["degree"] // 2)]
    node = 0
    while len(level) > 1:
        above = []
        for a, b in zip(level[::2], level[1::2]):
            sides = (side.times_signs(matrix(f"node{node}", name)) for side, name in ((a, "_a"), (b, "_b")))
            above.append(Scaled.of(np.multiply(*sides) / root, a.power + b.power))
            node += 1
        level = above
    return level[0]


def evaluate_in_f32(mechanism, matrix, q, k, v, places, visible):
    """The output where rows, sketches and roots are computed in f32."""
    t = np.ldexp(*sketch_in_f32(q, mechanism, matrix).products(sketch_in_f32(k, mechanism, matrix)))
    if "local_exact" in mechanism:
        block, half = mechanism["local_exact"], mechanism["degree"] // 2
        inside = places[:, None] // block == np.arange(len(k)) // block
        pairs, power = Scaled.of(q).products(Scaled.of(k))
        t = np.where(inside, np.ldexp(pairs ** half, half * power), t)
    return attend(mechanism, t * visible, v)[0]


#===------------------------------------------------------------------------------------------------------------------===#
# What helps
#===------------------------------------------------------------------------------------------------------------------===#


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


def is_noise(roots):
    """Where float64 may be off by a visible share of a row's largest root."""
    return roots.off.max(1, initial=0.0) > 2.0 ** -10 * np.abs(roots.t).max(1, initial=0.0)
