"""The ranges in which the tolerances hold, for tensors that are given: norms of the rows that the mechanisms see.

Those are the rows of q and k after projection, rope and qk_norm, and with `low_rank` the slots that take the place of
the keys. Of polynomial and polysketch, whose powers are carried rescaled, any row is in range as long as the output is
finite.
"""

import dataclasses
import math

import numpy as np

from random_grammar import has_logits

LARGE_LOGIT, LARGE_DEGREE = 32, 8
POWERS = ("polynomial", "polysketch")
UNLIMITED = 1e3  # the norm of what is drawn for a mechanism without a limit


def feature_map(mechanism):
    return mechanism.get("feature_map", {}).get("kind")


def norm_limit(mechanism):
    """In units of √d; a little inside, for rounding moves a norm."""
    if mechanism["kind"] in POWERS:
        return math.inf
    return 5.95 if feature_map(mechanism) == "favor" else 29.8


def scale_excess(case, mechanism):
    """How far a spec's own scale lifts the logits over those of the default."""
    scaled = mechanism["kind"] in ("softmax", "eva", "agent") or feature_map(mechanism) == "favor"
    return max(1.0, case.fields.get("scale", 0) * math.sqrt(case.fields["head_dim"])) if scaled else 1.0


def largest_norm(case, mechanism):
    """Of a row of q or k for which the tolerances hold."""
    return norm_limit(mechanism) * math.sqrt(case.fields["head_dim"] / scale_excess(case, mechanism))


def draw_limit(case):
    """The largest norm to draw."""
    return min(UNLIMITED, *(largest_norm(case, mechanism) for mechanism in case.mechanisms()))


#===------------------------------------------------------------------------------------------------------------------===#
# What the mechanisms see
#===------------------------------------------------------------------------------------------------------------------===#


def project(tokens, weight, bias, heads):
    """tokens [batch, n, D], weight [D, heads·d] -> [batch, heads, n, d]."""
    rows = tokens @ weight + bias
    return np.moveaxis(rows.reshape(*rows.shape[:2], heads, weight.shape[1] // heads), 2, 1)


def rotate(rows, first, base, layout):
    """rope of rows [.., n, d] at positions first, first + 1, …"""
    n, d = rows.shape[-2:]
    angle = (first + np.arange(n))[:, None] * float(base) ** (-2 * np.arange(d // 2) / d)
    turned = np.empty_like(rows)
    low, high = (slice(0, None, 2), slice(1, None, 2)) if layout == "interleaved" else (slice(d // 2), slice(d // 2, None))
    turned[..., low] = rows[..., low] * np.cos(angle) - rows[..., high] * np.sin(angle)
    turned[..., high] = rows[..., low] * np.sin(angle) + rows[..., high] * np.cos(angle)
    return turned


def layer_norm(rows, epsilon):
    centred = rows - rows.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + epsilon)


def rows_seen(case, arrays, parameter):
    """q [batch, H, n, d] and k [batch, G, N, d] as the mechanisms see them; keys that do not exist are 0."""
    f = case.fields
    if "projection" in f:
        bias = (lambda name: parameter(name)) if f["projection"]["bias"] else lambda name: 0.0
        q = project(arrays["x"].astype(float), parameter("wq"), bias("bq"), f["heads"])
        k = project(arrays.get("context", arrays["x"]).astype(float), parameter("wk"), bias("bk"), f["kv_heads"])
    else:
        q, k = arrays["q"].astype(float), arrays["k"].astype(float)
    if "rope" in f:
        first = case.keys - case.queries if f["causal"] else 0
        q, k = rotate(q, first, **f["rope"]), rotate(k, 0, **f["rope"])
    if "qk_norm" in f:
        q, k = layer_norm(q, **f["qk_norm"]), layer_norm(k, **f["qk_norm"])
    if "key_lengths" in arrays:
        k = k * (np.arange(case.keys) < arrays["key_lengths"][:, None])[:, None, :, None]
    return q, k


@dataclasses.dataclass
class Seen:
    """What one part sees."""
    mechanism: dict
    q: np.ndarray     # [batch, part heads, n, d]
    k: np.ndarray     # [batch, part KV heads, N, d]
    slots: np.ndarray  # in place of k: [batch, part KV heads, rank, d]

    def key_rows(self):
        return [self.k] if self.slots is None else [self.k, self.slots]


def parts_seen(case, arrays, parameter):
    q, k = rows_seen(case, arrays, parameter)
    group, first = case.fields["heads"] // case.fields["kv_heads"], 0
    seen = []
    for index, (heads, mechanism) in enumerate(case.parts()):
        part_k = k[:, first // group:(first + heads) // group]
        low_rank, slots = mechanism.get("low_rank"), None
        if low_rank and low_rank["order"] == "before_map":
            prefix = f"part{index}." if "parts" in case.fields else ""
            slots = parameter(prefix + "e") @ part_k  # e [1 or G, rank, N]
        seen.append(Seen(mechanism, q[:, first:first + heads], part_k, slots))
        first += heads
    return seen


def norms(rows):
    return float(np.linalg.norm(rows, axis=-1).max(initial=0.0))


def excess(case, arrays, parameter):
    """By how much the norms of q, and of k or its slots, pass their limits; at most 1 in range."""
    over = {"q": 0.0, "k": 0.0}
    for seen in parts_seen(case, arrays, parameter):
        limit = largest_norm(case, seen.mechanism)
        over["q"] = max(over["q"], norms(seen.q) / limit)
        over["k"] = max([over["k"], *(norms(rows) / limit for rows in seen.key_rows())])
    return over


def largest_logit(case, arrays, parameter):
    """|scale · ⟨q, k⟩| at most, of the parts that have logits."""
    largest = 0.0
    for seen in filter(lambda seen: has_logits(seen.mechanism), parts_seen(case, arrays, parameter)):
        scale = case.fields.get("scale", case.fields["head_dim"] ** -0.5)
        keys = seen.key_rows()[-1]
        q = seen.q.reshape(seen.q.shape[0], keys.shape[1], -1, seen.q.shape[-1])
        largest = max(largest, scale * float(np.abs(q @ np.swapaxes(keys, -1, -2)).max(initial=0.0)))
    return largest
