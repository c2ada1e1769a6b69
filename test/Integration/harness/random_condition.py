"""What error rounding to f32 must be expected to make in sketched attention, from the definition in float64.

Roots of weights t = ⟨S(q), S(k)⟩ have signs, and all those of a row may cancel: a relative error u of what is added up
becomes one of u Σ|terms| / |Σ terms|. To first order, with u = 2^-24 an operation and independent errors, each number is
carried with its standard error: rows where the layer computes them, entries of the sketch, products, squares, the
quotient. Where the tree works with pairs of f32 only its root is rounded (docs/Rationale/Sketches.md).
"""

import numpy as np

from random_range import parts_seen, project

UNIT = 2.0 ** -24
# Of float64: a scale times exact rows is rounded there, and sums that are 0 become noise.
EXACT_UNIT = 2.0 ** -53
# Rounding errors are not independent, and there are more than the first order counts.
SLACK = 4


#===------------------------------------------------------------------------------------------------------------------===#
# Numbers with their standard error
#===------------------------------------------------------------------------------------------------------------------===#


def signs(sign, index):
    """(D H)[:, index] of ±1: [rows, r]."""
    odd = np.array([[bin(i & int(c)).count("1") % 2 for c in index] for i in range(len(sign))])
    return sign[:, None] * (1 - 2 * odd)


def times_signs(number, matrix, unit, zeros_hold):
    """a M of a [.., c] with M of ±1; the sum of squares is what rounding the sum adds. Of given rows a sum that is 0
    must be 0."""
    value, error = number
    own = unit * np.sqrt((value ** 2).sum(-1, keepdims=True))
    # Column by column in one order: of equal columns the sums are equal, and so their differences exactly 0.
    sums = np.stack([(value * column).sum(-1) for column in matrix.T], -1)
    errors = np.sqrt((error ** 2).sum(-1, keepdims=True) + own ** 2)
    return sums, np.where((sums == 0) & zeros_hold, 0, errors)


def times(a, b, unit):
    return a[0] * b[0], np.sqrt((a[0] * b[1]) ** 2 + (a[1] * b[0]) ** 2 + (a[1] * b[1]) ** 2 + (unit * a[0] * b[0]) ** 2)


def has_pairs(mechanism):
    """Whether the tree works with pairs of f32."""
    return mechanism["degree"] >= 32 or mechanism["size"] <= 4


def sketch(rows, mechanism, matrix):
    """S of rows [n, d] given with their error, and its standard error: both [n, r]. `matrix` gives the ±1 by name."""
    unit, zeros_hold = 0.0 if has_pairs(mechanism) else UNIT, (rows[1] < UNIT * np.abs(rows[0])).any()
    root, width = np.sqrt(mechanism["size"]), rows[0].shape[-1]
    scaled = lambda number: (number[0] / root, number[1] / root)
    level = [scaled(times_signs(rows, matrix(f"leaf{i}", "")[:width], unit, zeros_hold)) for i in range(mechanism["degree"] // 2)]
    node = 0
    while len(level) > 1:
        above = []
        for i in range(0, len(level), 2):
            sides = (times_signs(level[i + side], matrix(f"node{node}", name), unit, zeros_hold)
                     for side, name in enumerate(["_a", "_b"]))
            above.append(scaled(times(*sides, unit)))
            node += 1
        level = above
    value, error = level[0]
    return value, np.sqrt(error ** 2 + (UNIT * value) ** 2)


def products(a, b):
    """⟨a_i, b_j⟩, its standard error, and Σ|a_ic b_jc|: [n, N] each."""
    squares = [[part ** 2 for part in number] for number in (a, b)]
    # Also of the second order: both sums may be 0.
    error = np.sqrt(squares[0][0] @ (squares[1][1] + UNIT ** 2 * squares[1][0]).T
                    + squares[0][1] @ (squares[1][0] + squares[1][1]).T)
    return a[0] @ b[0].T, error, np.abs(a[0]) @ np.abs(b[0]).T


#===------------------------------------------------------------------------------------------------------------------===#
# Attention
#===------------------------------------------------------------------------------------------------------------------===#


def exact_roots(q, k, half):
    """⟨q, k⟩^half with its error."""
    t, error, added = products(q, k)
    return t ** half, half * np.abs(t) ** (half - 1) * error, added ** half


def row_errors(mechanism, roots, visible, v, from_state):
    """o [n, dv] of one head and the standard error of its entries."""
    t, error, added = (part * visible for part in roots)
    guard = mechanism.get("denominator", {})
    unit = np.maximum(np.abs(t), error).max(1, keepdims=True)
    unit = np.where(unit > 0, unit, 1)
    t, error, added = t / unit, error / unit, added / unit
    bias, floor = (guard.get(name, 0) * unit[:, 0] ** -2.0 for name in ("bias", "floor"))
    weight = t ** 2
    denominator = np.maximum(weight.sum(1) + bias, floor)[:, None]
    undecided = (denominator == 0) & (error > 0).any(1, keepdims=True)  # nobody can say that it is 0
    denominator = np.where(denominator > 0, denominator, np.inf)
    o = weight @ v / denominator
    bounds = np.abs(v).max(0) + np.abs(o)  # outputs are means
    spread = (v[None] - o[:, None]) ** 2 if (floor == 0).all() else v[None] ** 2 + o[:, None] ** 2     # [n, N, dv]
    moved = (2 * t * error) ** 2 + error ** 4
    squares = np.einsum("ij,ijc->ic", moved, spread)
    if from_state:  # Sums of s ⊗ s v are rounded before they cancel, each column of the state and the row sum for itself: a
        # term four times, in both features, with its value and when it is read.
        squares = squares + np.einsum("ij,ijc->ic", (2 * UNIT * added ** 2) ** 2, v[None] ** 2 + o[:, None] ** 2)
    errors = np.hypot(np.sqrt(squares) / denominator, UNIT * o)
    return o, np.minimum(np.where(undecided, np.inf, errors), bounds)


def head_error(mechanism, matrix, q, k, v, visible, from_state=True, judged=None):
    """(Σ error², Σ o²) of one head of one batch entry; q and k are rows with their errors. `judged`: the output by
    another evaluation in float64; where the two differ, so may f32."""
    t, error, added = products(sketch(q, mechanism, matrix), sketch(k, mechanism, matrix))
    if "local_exact" in mechanism:
        block = np.arange(len(v)) // mechanism["local_exact"]
        inside = block[:, None] == block[None]
        exact = exact_roots(q, k, mechanism["degree"] // 2)
        t, error, added = (np.where(inside, e, s) for e, s in zip(exact, (t, error, added)))
    o, errors = row_errors(mechanism, (t, error, added), visible, v, from_state)
    if judged is not None:
        errors = np.hypot(errors, o - judged)
    return np.sum(errors ** 2), (o ** 2).sum()


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


def matrices(parameter, prefix, head):
    """The ±1 of one head by their names, made once."""
    made = {}

    def matrix(name, side):
        if (name, side) not in made:
            sign, index = (parameter(f"{prefix}sketch.{name}.{what}{side}")[head] for what in ("sign", "index"))
            made[name, side] = signs(sign, index)
        return made[name, side]
    return matrix


def unit_of_rows(fields):
    """Rows that the layer computes are rounded, given ones are not."""
    if fields.keys() & {"projection", "rope", "qk_norm"}:
        return UNIT
    return EXACT_UNIT if fields.get("scale", 1) != 1 else 0.0


def part_errors(case, seen, parameter, prefix, v, visible, entries, judged):
    """(Σ error², Σ o²) of one part, in its batch `entries`; `judged` [batch, part heads, n, dv] or None."""
    f, unit = case.fields, unit_of_rows(case.fields)
    rounded = lambda rows: (rows, unit * np.abs(rows))
    group, sums = f["heads"] // f["kv_heads"], np.zeros(2)
    from_state = f.get("pin", {}).get("linearize") != "quadratic"
    for head in range(seen.q.shape[1]):
        matrix = matrices(parameter, prefix, head)
        for b in range(case.batch)[entries]:
            q, k = rounded(f.get("scale", 1.0) * seen.q[b, head]), rounded(seen.k[b, head // group])
            sums += head_error(seen.mechanism, matrix, q, k, v[b, head // group], visible[b], from_state,
                               None if judged is None else judged[b, head])
    return sums


def expected_error(case, arrays, parameter, expected, entries=slice(None)):
    """The relative Frobenius error that rounding is expected to make in the parts that are sketched of an output that is
    `expected`, in the batch `entries`."""
    arrays = without_poison(case, arrays)
    f, v, sums, first = case.fields, values_of(case, arrays, parameter), np.zeros(2), 0
    group = f["heads"] // f["kv_heads"]
    lengths = arrays.get("key_lengths", np.full(case.batch, case.keys))
    places = np.arange(case.keys)
    visible = (places < lengths[:, None])[:, None] & (places <= np.arange(case.queries)[:, None] if f["causal"] else True)
    visible = np.broadcast_to(visible, (case.batch, case.queries, case.keys))
    for index, seen in enumerate(parts_seen(case, arrays, parameter)):
        if seen.mechanism["kind"] == "polysketch":
            prefix = f"part{index}." if "parts" in f else ""
            heads = slice(first, first + seen.q.shape[1])
            plain = "lepe" not in seen.mechanism and not f.get("projection", {}).get("output")
            sums += part_errors(case, seen, parameter, prefix, v[:, first // group:], visible, entries,
                                expected[:, heads] if plain else None)
        first += seen.q.shape[1]
    error, own = np.sqrt(sums)
    if error == 0:
        return 0.0
    # An output projection scales error and output alike.
    size = own if f.get("projection", {}).get("output") else np.linalg.norm(expected[entries])
    return SLACK * error / size if size > 0 else np.inf
