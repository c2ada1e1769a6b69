"""The definition of every mechanism in float64, for chosen rows of queries: what the outputs of Attune and of its peers are
checked against before benchmarks/cpu.py times them. A test holds these definitions to the oracle.
"""

import numpy as np

import cpu_rows
import gpu_definitions as definitions
from cpu_formulas import window_order
from gpu_definitions import compress, normalized, spread

FLOORS = {"relu": 1e-6, "cosformer": 1e-6}


class OfPart:
    """What gpu_definitions reads of a spec."""

    def __init__(self, mechanism, causal):
        self.fields, self.causal = {"mechanism": mechanism}, causal


def exact(q, k, v, hidden=None):
    logits = np.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
    return normalized(definitions.softmax(np, logits if hidden is None else np.where(hidden, -np.inf, logits)), v, np)


def window_of(mechanism, n, rows):
    """[rows, length]: the tokens that share a window with each row."""
    order, length = window_order(mechanism["window"], n)
    order = np.arange(n) if order is None else order
    place = np.argsort(order)[rows] // length
    return order[place[:, None] * length + np.arange(length)]


def windowed(mechanism, q, k, v, rows):
    tokens = window_of(mechanism, k.shape[2], rows)
    logits = np.einsum("bhid,bhijd->bhij", q[:, :, rows], k[:, :, tokens]) * q.shape[-1] ** -0.5
    weights = definitions.softmax(np, logits)
    return np.einsum("bhij,bhijc->bhic", weights / weights.sum(-1)[..., None], v[:, :, tokens])


def convolved(mechanism, v, weight, rows):
    """LePE: taps outside of the image, or of the window, are 0."""
    image = mechanism.get("window", mechanism["lepe"])["grid"]
    tile = mechanism["window"]["size"] if "window" in mechanism else image
    y, x = rows // image[1], rows % image[1]
    total = np.zeros((*v.shape[:2], len(rows), v.shape[-1]))
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            inside = (0 <= y % tile[0] + dy) & (y % tile[0] + dy < tile[0]) & (0 <= x % tile[1] + dx) & (x % tile[1] + dx < tile[1])
            at = np.where(inside, (y + dy) * image[1] + x + dx, 0)
            taps = weight[:, :, dy + 1, dx + 1][None, :, None, :]
            total += np.where(inside[None, None, :, None], v[:, :, at] * taps, 0)
    return total


def features(feature_map, x, parameters, places, key):
    """φ of rows that stand at `places`."""
    kind = feature_map["kind"]
    if kind == "elu1":
        return definitions.elu1(np, x)
    if kind == "relu":
        return np.maximum(x, 0)
    if kind == "cosformer":
        angle = np.pi * (places + 1) / (2 * feature_map["max_position"])
        return np.concatenate([np.maximum(x, 0) * np.sin(angle)[:, None], np.maximum(x, 0) * np.cos(angle)[:, None]], -1)
    if kind == "focused":
        y = (np.maximum(x, 0) + 1e-6) / np.logaddexp(0, parameters["focus"])[None, :, None, :]
        return y ** 3 * np.linalg.norm(y, axis=-1, keepdims=True) / np.linalg.norm(y ** 3, axis=-1, keepdims=True)
    omega = parameters["omega"]
    if kind == "favor_relu":
        return np.maximum(np.einsum("bhnd,hmd->bhnm", x, spread(np, omega, x.shape[1])), 0) + 1e-3
    if "epsilon" not in feature_map:
        return definitions.favor(np, x, omega)
    scaled = x * x.shape[-1] ** -0.25
    projected = np.einsum("bhnd,hmd->bhnm", scaled, spread(np, omega, x.shape[1]))
    most = projected.max((-1, -2) if key else -1, keepdims=True)
    return np.exp(projected - (scaled * scaled).sum(-1)[..., None] / 2 - most) + feature_map["epsilon"]


def weights_of(mechanism, q, k, parameters, rows):
    """Weights of chosen queries with all keys, without mask."""
    kind, some = mechanism["kind"], q[:, :, rows]
    if kind == "polynomial":
        return np.einsum("bhid,bhjd->bhij", some, k) ** mechanism["degree"]
    if kind == "kernel":
        feature_map = mechanism["feature_map"]
        queries = features(feature_map, some, parameters, rows, key=False)
        return np.einsum("bhim,bhjm->bhij", queries, features(feature_map, k, parameters, np.arange(k.shape[2]), key=True))
    of_part = OfPart(mechanism, False)
    weights = np.einsum("bhir,bhjr->bhij", *(definitions.sketch(np, of_part, parameters, x) for x in (some, k))) ** 2
    if "local_exact" in mechanism:
        length = mechanism["local_exact"]
        near = rows[:, None] // length == np.arange(k.shape[2])[None, :] // length
        weights = np.where(near, np.einsum("bhid,bhjd->bhij", some, k) ** mechanism["degree"], weights)
    return weights


def part(mechanism, causal, q, k, v, parameters, rows):
    kind = mechanism["kind"]
    if "low_rank" in mechanism:
        k, v = compress(np, parameters["e"], k), compress(np, parameters["e"], v)
    hidden = np.arange(k.shape[2])[None, :] > rows[:, None] if causal else None
    if kind == "softmax":
        return windowed(mechanism, q, k, v, rows) if "window" in mechanism else exact(q[:, :, rows], k, v, hidden)
    if kind == "eva":
        return definitions.eva_rows(np, OfPart(mechanism, causal), q, k, v, rows)
    if kind == "agent":
        agents = q.reshape(*q.shape[:2], mechanism["agents"], -1, q.shape[-1]).mean(3)
        return exact(q[:, :, rows], agents, exact(agents, k, v))
    if kind == "effatt":
        queries = definitions.softmax(np, q[:, :, rows])
        keys = np.exp(k - k.max(2, keepdims=True))
        state = np.einsum("bhjd,bhjc->bhdc", keys / keys.sum(2, keepdims=True), v)
        return np.einsum("bhid,bhdc->bhic", queries / queries.sum(-1, keepdims=True), state)
    weights = weights_of(mechanism, q, k, parameters, rows)
    weights = weights if hidden is None else np.where(hidden, 0.0, weights)
    floor = FLOORS.get(mechanism.get("feature_map", {}).get("kind"), 0.0)
    return np.einsum("bhij,bhjc->bhic", weights, v) / np.maximum(weights.sum(-1), floor)[..., None]


def own_parameters(point, drawn, i):
    """Those of a part in float64, with underscores for dots."""
    prefix = f"part{i}." if len(point.parts) > 1 else ""
    return {name.removeprefix(prefix).replace(".", "_"): array if "index" in name else array.astype(np.float64)
            for name, array in drawn.items() if name.startswith(prefix)}


def rows_of(point, inputs, drawn, rows):
    """Rows of the output in float64: [batch, heads, rows, d], or [batch, rows, D] of a layer."""
    inputs = {name: array.astype(np.float64) for name, array in inputs.items()}
    if cpu_rows.FAMILIES[point.family].layer:
        heads = {name: np.einsum("bnm,mc->bnc", inputs["x"], drawn[f"w{name}"].astype(np.float64)) for name in "qkv"}
        inputs = {name: np.moveaxis(x.reshape(*x.shape[:2], point.head_count, -1), 2, 1) for name, x in heads.items()}
    results, first = [], 0
    for i, (count, mechanism) in enumerate(point.parts):
        q, k, v = (inputs[name][:, first:first + count] for name in "qkv")
        own = own_parameters(point, drawn, i)
        results.append(part(mechanism, point.causal, q, k, v, own, rows))
        if "lepe" in mechanism:
            results[-1] = results[-1] + convolved(mechanism, v, own["lepe_weight"], rows)
        first += count
    result = np.concatenate(results, 1)
    if cpu_rows.FAMILIES[point.family].layer:
        return np.moveaxis(result, 1, 2).reshape(1, len(rows), -1) @ drawn["wo"].astype(np.float64)
    return result
