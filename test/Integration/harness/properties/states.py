"""States: a causal run cut in two, token by token, and sums of shards; softmax merged from parts of the keys."""

import numpy as np

from properties.numbers import repeat_heads
from properties.table import holds

HEADS, KV_HEADS, D, DV, FEATURES = 4, 2, 6, 5, 7
# What a state loses in the f32 of the interface.
F32 = 1e-6
MAPS = {"elu1": ("elu1", D), "relu": ("relu", D), "focused": ("focused, power = 3.0, epsilon = 1.0e-6", D),
        "favor": (f"favor, features = {FEATURES}, epsilon = 0.0, scale = 0.5, stabilizer = constant", FEATURES),
        "favor, epsilon": (f"favor, features = {FEATURES}, epsilon = 0.1, scale = 0.5, stabilizer = constant", FEATURES),
        "favor_relu": (f"favor_relu, features = {FEATURES}, epsilon = 0.5, scale = 1.0", FEATURES)}
PARAMETERS = {"favor": ("omega", (1, FEATURES, D)), "favor, epsilon": ("omega", (HEADS, FEATURES, D)),
              "favor_relu": ("omega", (1, FEATURES, D)), "focused": ("focus", (HEADS, D))}


def kernel_text(name, causal=True, initial=False):
    """A function of attn.kernel that gives its final state, and may take an initial one."""
    feature_map, m = MAPS[name]
    parameter, shape = PARAMETERS.get(name, (None, (1,)))
    state_heads = HEADS if shape[0] == HEADS else KV_HEADS
    tensor = lambda *sizes: f"tensor<{'x'.join(map(str, sizes))}xf32>"
    q, k, v, o = (tensor("?", h, "?", width) for h, width in ((HEADS, D), (KV_HEADS, D), (KV_HEADS, DV), (HEADS, DV)))
    state, total = tensor("?", state_heads, m, DV), tensor("?", state_heads, m)
    arguments = [("q", q, ""), ("k", k, ""), ("v", v, "")]
    arguments += [(parameter, tensor(*shape), ", attn.parameter")] if parameter else []
    arguments += [("initial_state", state, ""), ("initial_sum", total, "")] if initial else []
    listed = ", ".join(f'%{n}: {t} {{attn.name = "{n}"{more}}}' for n, t, more in arguments)
    given = f" parameter(%{parameter} : {tensor(*shape)})" if parameter else ""
    given += f" initial(%initial_state, %initial_sum : {state}, {total})" if initial else ""
    results = [("o", o), ("final_state", state), ("final_sum", total)]
    listed_results = ", ".join(f'{t} {{attn.name = "{n}"}}' for n, t in results)
    return f"""func.func @states({listed}) -> ({listed_results}) {{
  %o, %s, %z = attn.kernel %q, %k, %v{given} {{{"causal, " if causal else ""}
      denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<{feature_map}>}}
      : {q}, {k}, {v} -> {o}, final {state}, {total}
  return %o, %s, %z : {o}, {state}, {total}
}}
"""


def drawn(draw, name, n):
    tensors = {"q": draw.grid(2, HEADS, n, D), "k": draw.grid(2, KV_HEADS, n, D), "v": draw.grid(2, KV_HEADS, n, DV)}
    if name in PARAMETERS:
        parameter, shape = PARAMETERS[name]
        tensors[parameter] = draw.grid(*shape)
    return tensors


def tokens(tensors, start, stop):
    return tensors | {key: tensors[key][:, :, start:stop] for key in "qkv"}


def carried(outputs):
    """What a run leaves for the next one."""
    return {"initial_state": outputs["final_state"], "initial_sum": outputs["final_sum"]}


@holds("§15 split with state ≡ whole, the final state too")
def split(run, draw):
    for name in draw.some(MAPS, "favor", "favor, epsilon"):
        for n in (9, 70, 200):
            tensors, cut = drawn(draw, name, n), int(draw.rng.integers(1, n))
            whole = run(kernel_text(name), tensors)
            first = run(kernel_text(name), tokens(tensors, 0, cut))
            second = run(kernel_text(name, initial=True), tokens(tensors, cut, n) | carried(first))
            yield f"{name}, {cut} of {n}", np.concatenate([first["o"], second["o"]], axis=2), whole["o"], F32
            for result in ("final_state", "final_sum"):
                yield f"{name}, {result}", second[result], whole[result], F32


@holds("§15 recurrent ≡ whole: token by token")
def recurrent(run, draw):
    for name in draw.some(MAPS, "favor"):
        tensors, text = drawn(draw, name, 7), kernel_text(name, initial=True)
        outputs = [run(kernel_text(name), tokens(tensors, 0, 1))]
        for i in range(1, 7):
            outputs.append(run(text, tokens(tensors, i, i + 1) | carried(outputs[-1])))
        yield name, np.concatenate([each["o"] for each in outputs], axis=2), run(kernel_text(name), tensors)["o"], F32


@holds("§12 I11 final states of shards add up; a state of zeros is none")
def sums(run, draw):
    for name in draw.some(MAPS, "favor"):
        tensors = drawn(draw, name, 90)
        whole, first, second = (run(kernel_text(name), tokens(tensors, *cut)) for cut in ((0, 90), (0, 33), (33, 90)))
        for result in ("final_state", "final_sum"):
            yield f"{name}, {result}", first[result] + second[result], whole[result], F32
        zeros = {key: np.zeros_like(array) for key, array in carried(whole).items()}
        yield f"{name}, zeros", run(kernel_text(name, initial=True), tensors | zeros)["o"], whole["o"]


SOFTMAX = """func.func @merged(%q: tensor<?x4x?x6xf32> {attn.name = "q"}, %k: tensor<?x2x?x6xf32> {attn.name = "k"},
    %v: tensor<?x2x?x5xf32> {attn.name = "v"}) -> (tensor<?x4x?x5xf32> {attn.name = "o"}, tensor<?x4x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.softmax %q, %k, %v {scale = 0.5 : f64}
      : tensor<?x4x?x6xf32>, tensor<?x2x?x6xf32>, tensor<?x2x?x5xf32> -> tensor<?x4x?x5xf32>, lse tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x5xf32>, tensor<?x4x?xf32>
}
"""


@holds("§12 I13 softmax over parts of the keys merges by lse")
def merged(run, draw):
    tensors, cut = drawn(draw, "elu1", 90), int(draw.rng.integers(1, 90))
    whole = run(SOFTMAX, tensors)
    parts = [run(SOFTMAX, tensors | {key: tensors[key][:, :, some] for key in "kv"}) for some in (slice(0, cut), slice(cut, 90))]
    lse = np.logaddexp(parts[0]["lse"], parts[1]["lse"])
    weights = [np.exp(part["lse"] - lse)[..., None] for part in parts]
    yield "o", sum(weight * part["o"] for weight, part in zip(weights, parts)), whole["o"]
    yield "lse", lse, whole["lse"]
    one = np.logaddexp.reduce(0.5 * tensors["q"] @ repeat_heads(tensors["k"], HEADS).swapaxes(2, 3), axis=-1)
    yield "lse by hand", whole["lse"], one
