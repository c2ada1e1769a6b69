"""Random mistakes in specs: the checker must answer each with a status and a place, and agree with the oracle.

  fuzz_specs.py CHECKER EXAMPLES... [--decoders] [--shared DIR] [--seed S] [--count N]

Each round takes one example, or with --decoders half the time a random spec of a decoder, changes it a little, and runs the checker on a
batch of the results. Always: it ends in
time and memory with status 0, 1 or 2; status 0 says that the spec was also built in the attn dialect and passed the
verifier, status 1 is only for a spec with too many parameters, status 2 comes with `FILE:LINE:COL: error: expected …, but
got …`. Where DIR/reference/oracle.py is there: a spec that the oracle accepts has status 0 or 1, or is refused as not supported yet;
one that it refuses has status 2, and the place that the oracle names is among the checker's. Three exceptions, as parsers of YAML differ: text that
is no YAML to the checker need only be refused by the oracle somewhere; a tab at the end of a line is YAML, but not the
oracle's; and U+2028 ends a line to one of them only. Where a key is misspelt, the oracle may name the mapping that misses
it instead of the misspelling.
"""

# RUN: %python %s attune-spec-check %examples %shared/spec/examples --shared %shared --count 1000
# RUN: %python %s attune-spec-check %examples %shared/spec/examples2 --decoders --shared %shared --seed 3 --count 1000
# RUN: %if long %{ %python %s attune-spec-check %examples %shared/spec/examples --shared %shared --seed 2 --count 20000 %}
# RUN: %if long %{ %python %s attune-spec-check %examples %shared/spec/examples2 --decoders --shared %shared --seed 4 --count 20000 %}

import argparse
import importlib.util
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

import decoder_grammar

MEMORY = 1500 # MiB of a checker: a batch of 100 specs, also with a sanitizer's shadow
NOT_YET = ("formula_",) # examples of what the checker does not know
FIELDS = """attention dtype batch queries keys heads kv_heads head_dim value_dim causal key_lengths scale projection rope
qk_norm mechanism parts kind feature_map denominator low_rank window lepe degree size local_exact chunk mu_weight
exclude_local mass agents features per_head epsilon stabilizer normalize max_position power rank tied order length grid
bias floor model_dim output cross base layout qk_heads state initial final packed sequences results decay erase write per last
softcap alibi""".split()
VALUES = """true false yes 0 1 2 3 4 5 6 7 8 12 16 32 64 4096 1073741824 2147483647 2147483648 -1 0.5 1e-3 .5 1. 1e999 '?' "8" none max
projection constant softmax polynomial kernel polysketch effatt eva agent favor favor_relu elu1 relu cosformer focused
f32 bf16 after_map before_map half identity l2 layer head token channel lse [lse] [lse,lse]
[] {} [4,4] [8,8] [14,14] [1] [a,b] ~ null 0x10 +4 ? "" x""".split()
SNIPPETS = ["causal: true\n", "keys: 16\n", "rope: {}\n", "qk_norm: {}\n", "scale: 0.5\n", "kv_heads: 2\n",
            "head_dim: 5\n", "key_lengths: true\n", "projection: {model_dim: 8}\n", "value_dim: 4\n", "packed: true\nsequences: 3\n",
            "sequences: '?'\n", "batch: 2\n", "qk_heads: 2\n", "state: {initial: true, final: true}\n", "state: {}\n", "results: [lse]\n",
            "qk_norm: {kind: l2}\n"]
MODIFIERS = ["lepe: {}", "lepe: {grid: [4, 8]}", "window: {length: 8}", "window: {grid: [4, 4], size: [2, 2]}",
             "low_rank: {rank: 8}", "low_rank: {rank: 8, order: after_map}", "denominator: {bias: 1}",
             "denominator: none", "chunk: 8", "local_exact: 8", "decay: {per: head}", "decay: {per: token}", "erase: {per: token}",
             "erase: {per: channel}", "write: {per: token}", "write: {per: channel}", "window: {last: 8}", "softcap: 5", "alibi: true",
             "feature_map: {kind: identity}"]
NOISE = list("{}[]:,-?&*!|>'\"%@`#\t\n ") + ["\n---\n", "é", "\u2028", "\r\n", "&a ", "*a", "!!int ", "<<: "]


def change(text, rng):
    """`text` with one change."""
    lines = text.split("\n")
    tokens = list(re.finditer(r"[A-Za-z_][A-Za-z0-9_]*(?=:)", text))
    values = list(re.finditer(r"(?<=: )[^\s,{}\[\]]+", text))
    kind = rng.randrange(11)
    if kind <= 3 and values:
        at = rng.choice(values)
        return text[:at.start()] + rng.choice(VALUES) + text[at.end():]
    if kind == 4 and tokens:
        at = rng.choice(tokens)
        return text[:at.start()] + rng.choice(FIELDS) + text[at.end():]
    if kind == 5 and tokens:                                        # a typing mistake
        at = rng.choice(tokens)
        name = list(at.group())
        i = rng.randrange(len(name))
        name[i] = rng.choice(["", name[i] * 2, rng.choice("abcxyz_")])
        return text[:at.start()] + "".join(name) + text[at.end():]
    if kind == 6:
        del lines[rng.randrange(len(lines))]
        return "\n".join(lines)
    if kind == 7:
        lines.insert(rng.randrange(len(lines)), rng.choice(lines))
        return "\n".join(lines)
    if kind == 8:
        return rng.choice(SNIPPETS) + text
    if kind == 9 and "kind: " in text:
        at = text.rfind("kind: ") if rng.random() < 0.5 else text.find("kind: ")
        inline = text[:at].endswith("{")
        indent = re.search(r"[ ]*$", text[:at]).group()
        return text[:at] + rng.choice(MODIFIERS) + (", " if inline else "\n" + indent) + text[at:]
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(NOISE) + text[at + rng.randrange(3):]


def load_oracle(shared):
    path = os.path.join(shared, "reference", "oracle.py")
    if not os.path.exists(path):
        return None
    module_spec = importlib.util.spec_from_file_location("oracle", path)
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return module


def judge(oracle, path):
    """None if the oracle accepts the spec, else (line, column, message)."""
    try:
        oracle.Spec(path)
        return None
    except oracle.SpecError as error:
        line, column, message = re.match(re.escape(path) + r":(\d+):(\d+): error: (.*)", str(error), re.S).groups()
        return int(line), int(column), message


def disagreement(verdict, status, places, errors):
    """Why the checker's answer does not fit the oracle's; None if it does."""
    if verdict is None and "found unexpected ':'" in errors:        # `{a:{}}`: libyaml wants a space after that colon
        return None
    if verdict is None:
        return "the oracle accepts it" if status == 2 and "not supported yet" not in errors else None
    if status != 2:
        return f"the oracle refuses it: {verdict}"
    line, column, message = verdict
    if "expected valid YAML" in errors:
        return None
    if "YAML" in message:
        return None if any(place[0] <= line + 1 for place in places) else f"the oracle: {verdict}"
    missing = re.match(r"expected key '(\w+)' in ", message)
    if missing and f"did you mean '{missing.group(1)}'?" in errors:
        return None
    return None if (line, column) in places else f"the oracle: {verdict}"


def answers(command, paths):
    """path -> (status, errors) from one run of the checker; raises AssertionError if it crashed, hung or said too little."""
    done = subprocess.run([command, *paths], capture_output=True, timeout=60, check=False)
    errors = done.stderr.decode("utf-8")
    assert done.returncode in (0, 1, 2), f"status {done.returncode}\n{errors}"
    statuses = dict(re.findall(r"^(.*): status (\d)$", done.stdout.decode("utf-8"), re.M))
    assert sorted(statuses) == sorted(paths), "a spec without an answer"
    lines = errors.split("\n")
    return {path: (int(statuses[path]), "\n".join(part(lines, path))) for path in paths}


def part(lines, path):
    """The lines of the checker's report that belong to `path`."""
    mine = False
    for line in lines:
        if re.match(r"/.*\.yaml:\d+:\d+: error: ", line):
            mine = line.startswith(path + ":")
        if mine:
            yield line


def places_of(path, status, errors):
    """The places that the checker names; raises AssertionError if its answer has not the promised form."""
    found = re.findall(re.escape(path) + r":(\d+):(\d+): error: expected .*, but got ", errors)
    assert (status != 0) == bool(found), f"status {status}\n{errors}"
    assert status != 1 or "parameters, but got about" in errors, f"a correct spec was refused\n{errors}"
    places = [(int(line), int(column)) for line, column in found]
    assert places == sorted(places), f"not in order: {places}"
    return places


def verdict_on(oracle, path, text, status, errors):
    """Why the answer on one spec is wrong; None if it is right."""
    try:
        places = places_of(path, status, errors)
    except AssertionError as error:
        return str(error)
    # Laws are the compiler's business: the oracle takes any name.
    if not oracle or re.search("pin:|allow:|\t|\u2028", text):
        return None
    return disagreement(judge(oracle, path), status, places, errors)


def run_batch(command, oracle, texts):
    """(status or None, complaint or None) of each text."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{i}.yaml") for i in range(len(texts))]
        for path, text in zip(paths, texts):
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        try:
            answer = answers(command, paths)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            if len(texts) == 1:
                return [(None, str(error))]
            return [run_batch(command, oracle, [text])[0] for text in texts]
        return [(answer[path][0], verdict_on(oracle, path, text, *answer[path])) for path, text in zip(paths, texts)]


def draw(texts, seed, number, decoders=False):
    """Spec `number` of a seed."""
    rng = random.Random(seed * 1_000_003 + number)
    text = rng.choice(texts)
    if decoders and rng.random() < 0.5:
        text = decoder_grammar.draw_spec((seed, number), decoder_grammar.Limits(pins=False)).text()
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        text = change(text, rng)
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checker")
    parser.add_argument("examples", nargs="+")
    parser.add_argument("--decoders", action="store_true")
    parser.add_argument("--shared", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    arguments = parser.parse_args()
    examples = []
    for place in arguments.examples:
        names = sorted(os.listdir(place)) if os.path.isdir(place) else []
        examples += [os.path.join(place, name) for name in names if name.endswith(".yaml") and not name.startswith(NOT_YET)]
    texts = [open(path, encoding="utf-8").read() for path in examples]
    assert texts, "no examples"
    oracle = load_oracle(arguments.shared)
    bad = 0
    statuses = [0, 0, 0]
    for start in range(0, arguments.count, 100):
        numbers = range(start, min(start + 100, arguments.count))
        drawn = [draw(texts, arguments.seed, number, arguments.decoders) for number in numbers]
        for number, text, (status, why) in zip(numbers, drawn, run_batch(arguments.checker, oracle, drawn)):
            if status is not None:
                statuses[status] += 1
            if why:
                bad += 1
                print(f"--- seed {arguments.seed}, spec {number}: {why}\n{text}")
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    if largest > MEMORY:
        bad += 1
        print(f"a batch took {largest} MiB, more than {MEMORY}")
    against = "against the oracle" if oracle else "alone (no oracle here)"
    print(f"fuzz_specs: {arguments.count} specs {against}, statuses 0/1/2: {statuses}, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
