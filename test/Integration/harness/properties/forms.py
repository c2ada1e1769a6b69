"""Forms of one function: quadratic, through the state, chunk by chunk. `CASES` lists every form that `pin` can force."""

from attnc import attnc
from properties.table import COMPRESSED, LOCAL, MAPS, SKETCH, holds
from properties.ways import Interpreter

# One token, less than a chunk, a chunk, and a ragged end.
LENGTHS = 1, 37, 64, 129
# More than one piece of the sequence.
PIECES = 2100
KEYS = {"key_lengths": True}
WINDOW = {"window": {"length": 12}}
SHARED = {name: mechanism for name, mechanism in (MAPS | SKETCH).items()}

THROUGH_STATE = "state", "fused_state", "merged_state"
STATES = {name: ("quadratic", *THROUGH_STATE) if name in MAPS else ("quadratic", "state") for name in SHARED}

# name: (mechanism, forms, fields of the spec, what divides its length)
CASES = {name: (mechanism, STATES[name], {}, 1) for name, mechanism in SHARED.items()}
CASES |= {f"{name}, lengths": (mechanism, STATES[name], KEYS, 1) for name, mechanism in SHARED.items()}
CASES |= {f"{name}, window": (mechanism | WINDOW, ("quadratic",), {}, 12) for name, mechanism in MAPS.items()}
CASES |= {"flurka": (COMPRESSED["flurka"], ("quadratic", *THROUGH_STATE), {}, 1),
          "flurka, naive": (COMPRESSED["flurka, naive"], ("state",), {}, 1)}
ORDERED = "quadratic", "chunked", "split"
CAUSAL_CASES = {name: (mechanism, ORDERED, {"causal": True}, mechanism.get("local_exact", 1))
                for name, mechanism in (SHARED | LOCAL).items()}
CAUSAL_CASES |= {f"{name}, lengths": (mechanism, ORDERED, {"causal": True, **KEYS}, mechanism.get("local_exact", 1))
                 for name, mechanism in (SHARED | LOCAL).items()}
CAUSAL_CASES |= {f"{name}, window": (mechanism | WINDOW, ("quadratic",), {"causal": True}, 12) for name, mechanism in MAPS.items()}


def in_form(run, fields, form, tensors):
    """The interpreter would not see the form of a spec: it gets the ops that selection chose."""
    pins = {"linearize": form}
    if fields.get("mechanism", {}).get("kind") == "kernel":
        pins["map"] = "fused"  # one plan for all lengths
    pinned = fields | {"pin": pins}
    if not isinstance(run, Interpreter):
        return run(pinned, tensors)
    spec = run.sources.path(pinned)
    graph = spec.with_name("graph.mlir")
    if not graph.exists():
        attnc("attnc", "compile", spec, "--emit", "graph", "-o", graph)
    return run(graph.read_text(encoding="utf-8"), tensors)["o"]


def judge(run):
    return run if isinstance(run, Interpreter) else run.judge


def compared(run, draw, cases, lengths, causal=""):
    for name, (mechanism, forms, more, multiple) in cases.items():
        fields = draw.spec(mechanism, **more)
        # Terms know no tiles: one length tells the interpreter as much as all.
        for n in lengths[-1:] if isinstance(run, Interpreter) else lengths:
            n = (n + multiple - 1) // multiple * multiple
            tensors = draw.tensors(fields, n)
            expected = judge(run)(fields, tensors)
            for form in forms:
                yield f"{name}{causal}, {form}, n = {n}", in_form(run, fields, form, tensors), expected


@holds("§12 I1 (φ(Q)φ(K)ᵀ)V = φ(Q)(φ(K)ᵀV): quadratic ≡ state")
def state(run, draw):
    yield from compared(run, draw, draw.some(CASES, "elu1", "favor, lengths"), LENGTHS)


@holds("§15 §12 I10 chunked ≡ masked quadratic, ragged n")
def chunked(run, draw):
    yield from compared(run, draw, draw.some(CAUSAL_CASES, "elu1", "favor, lengths", "polysketch, local"), LENGTHS)


@holds("§15 §12 I11 the forms over several pieces of the sequence", compiled_only=True)
def pieces(run, draw):
    for cases, form in (*((CASES, form) for form in THROUGH_STATE), (CAUSAL_CASES, "chunked"), (CAUSAL_CASES, "split")):
        for name, (mechanism, forms, more, _) in draw.some(cases, "elu1").items():
            if form not in forms or "quadratic" not in forms:
                continue
            fields = draw.spec(mechanism, **more)
            tensors = draw.tensors(fields, PIECES)
            yield f"{name}, {form}", in_form(run, fields, form, tensors), in_form(run, fields, "quadratic", tensors)


@holds("§15 the form that the cost model picks ≡ the one that is forced", compiled_only=True)
def picked(run, draw):
    for causal in draw.causal():
        form = "chunked" if causal else "state"
        for name, mechanism in draw.some(SHARED, "elu1").items():
            for n in (20, 700):
                fields = draw.spec(mechanism, causal=causal, **KEYS)
                tensors = draw.tensors(fields, n)
                yield f"{name}, n = {n}", run(fields, tensors), in_form(run, fields, form, tensors)
