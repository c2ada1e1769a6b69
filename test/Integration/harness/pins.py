"""Pins: the forms that a spec pins are those that `attnc explain --json` tells, and those of the code that is compiled.

`wrong_pins` says what is wrong with one spec on one target: of each pin, every op that can take the form must be in it, in
every plan of the library; what explain says of all forms must stand in the graph that is compiled, read here from its text;
the kernels that explain lists must be those that are compiled. As a program it pins every form of every law, one at a time,
in every spec that is given. The form must be compiled, refused at a place, or lie beyond the target, which says so.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

from attnc import read_spec, specs_of

MECHANISMS = "softmax", "polynomial", "polysketch", "effatt", "eva", "agent", "normalize"
# Ops between tokens and the projection that they come from.
PASSING = "compress", "rope", "qk_norm", "take_heads", "map"
SKETCHES = "query_sketch", "key_sketch"  # which have one price
UNSUPPORTED = "not supported yet"

#===------------------------------------------------------------------------------------------------------------------===#
# What explain says
#===------------------------------------------------------------------------------------------------------------------===#


def choices_of(explained):
    """{what is in one of several forms: its decisions}, as "linearize", "part1 linearize", "project wq"; ops that share a
    name are apart."""
    found, seen = {}, set()
    for decision in explained["decisions"]:
        part = f"part{decision['part']} " if "part" in decision else ""
        name = f"{part}{decision['law']} {decision.get('of', '')}".strip()
        while (name, decision["form"]) in seen:
            name += "'"
        seen.add((name, decision["form"]))
        found.setdefault(name, []).append(decision)
    return found


def wrong_in_choices(explained, pins):
    """Of each pin what explain does not show as it should."""
    unbound = explained["unbound_pins"]
    for law, form in pins.items():
        groups = {name: group for name, group in choices_of(explained).items() if group[0]["law"] == law}
        bound = False
        for name, group in groups.items():
            taken = [decision["form"] for decision in group if decision["taken"]]
            possible = [decision["form"] for decision in group if decision["possible"]]
            bound |= form in taken
            # Where the input is compressed first, and that is pinned as well, there is no projection to speak of.
            none = law == "project" and pins.get("low_rank") == "compress_first" and not taken
            # Another form is not made of chunks of groups; whether the pin binds anything then is asked below.
            none |= group[0].get("of") == "grouped" and not taken
            if form in possible and taken != [form] and not none:
                yield f"pin {law}: {form}: {name} is {' and '.join(taken) or 'in none of its forms'}"
            if any(decision["pinned"] != (decision["form"] == form) for decision in group):
                yield f"pin {law}: {form}: {name} is not told as pinned"
        if bound == (f"{law}: {form}" in unbound):
            yield f"pin {law}: {form}: expected it to bind or to be told as unbound, but got {taken_forms(explained)}"


def taken_forms(explained):
    return [plan["forms"] for plan in explained["plans"]]


#===------------------------------------------------------------------------------------------------------------------===#
# What is compiled
#===------------------------------------------------------------------------------------------------------------------===#


class Plan:
    """One function of the graph: its ops by the names of their results, as the text has them."""

    def __init__(self, text):
        head, *lines = text.splitlines()
        self.names = dict(re.findall(r'(%arg\d+): [^{,]*\{attn\.name = "([^"]+)"', head))
        self.ops = []  # (op, names of results, names of operands, text)
        for line in lines:
            op = re.match(r"\s*(%[\w#:, %]+?) = attn\.(\w+) (.*)", line) or re.match(r"\s*()attn\.(\w+) (.*)", line)
            if op:
                results = re.findall(r"%\w+", op[1])
                self.ops.append((op[2], results, re.findall(r"%\w+", op[3]), op[3]))
        self.made_by = {result: op for op in self.ops for result in op[1]}

    def projection_of(self, tokens):
        """The projection that tokens come from, or None."""
        op = self.made_by.get(tokens)
        while op and op[0] in PASSING:
            op = self.made_by.get(op[2][0])
        return op if op and op[0] == "project" else None

    def subject(self, op):
        """The weight of a projection."""
        return self.names[op[2][1]]

    def slots_only(self, op):
        """Whether all that reads a projection compresses its input first."""
        users = [user for user in self.ops if op[1][0] in user[2]]
        return bool(users) and all(user[0] == "compress" and "form = compress_first" in user[3] for user in users)

    def of_features(self, op):
        """Whether a compression makes slots of a map's features, or those of the values beside such."""
        states = [user for user in self.ops if user[0] == "state" and op[1][0] in user[2]]
        return any(self.made_by.get(state[2][0], "?")[0] == "compress" for state in states)

    def composed(self, op, mechanisms):
        """What is said of a compression that a form of a mechanism has made: the mechanism is the next one."""
        number = next(i for i, other in enumerate(mechanisms) if self.ops.index(other) > self.ops.index(op))
        return f"part{number} low_rank state" if len(mechanisms) > 1 else "low_rank state"

    def linearized(self, op):
        """The form of a mechanism with features."""
        if op[0] == "polysketch":
            form = re.search(r"form = (\w+)", op[3])
            return "split" if "split = true" in op[3] else form[1] if form else "quadratic"
        above = self.made_by[op[2][0]]
        if above[0] == "readout":
            return "fused_state" if "values = fused" in above[3] else "merged_state" if "ending = last_block" in above[3] else "state"
        if above[0] == "causal_readout":
            return "grouped" if "grouped = true" in above[3] else "split" if "split = true" in above[3] else "chunked"
        return "quadratic"

    def mapped(self, op, keys=None):
        """`materialized` if a kernel stores the features of the keys that an op reads in the end."""
        found = keys if keys is not None else []
        above = [self.made_by[name] for name in op[2] if name in self.made_by]
        for term in above:
            if term[0] == "map":
                found += ['values = materialized' in term[3]] if re.search(r"\bkeys\b", term[3].split("}")[-2]) else []
            elif term[0] not in ("take_heads", "project", "rope", "qk_norm"):
                self.mapped(term, found)
        return "materialized" if any(found) else "fused"

    def forms(self, offered):
        """Every choice and its form. `offered`: of what laws speak, for not every weight meets random features."""
        found, mechanisms = collections.Counter(), [op for op in self.ops if op[0] in MECHANISMS]
        for op in self.ops:
            if op[0] == "project" and f"fold {self.subject(op)}" in offered:
                found[f"fold {self.subject(op)}: {'folded' if 'form = folded' in op[3] else 'apart'}"] += 1
            if op[0] == "project" and not self.slots_only(op):
                found[f"project {self.subject(op)}: {place(op, 'fused', 'materialized')}"] += 1
            if op[0] == "project_output":
                found[f"project_out {self.subject(op)}: {place(op, 'epilogue', 'materialized')}"] += 1
            if op[0] == "concat_heads":
                found[f"launch: {'co_launched' if 'launch = co_launched' in op[3] else 'sequential'}"] += 1
            if op[0] == "compress" and self.projection_of(op[2][0]) and not self.of_features(op):
                form = "compress_first" if "form = compress_first" in op[3] else "project_first"
                found[f"low_rank {self.subject(self.projection_of(op[2][0]))}: {form}"] += 1
            if op[0] == "compress" and self.of_features(op) and self.composed(op, mechanisms) in offered:
                form = "compress_first" if "form = compress_first" in op[3] else "project_first"
                found[f"{self.composed(op, mechanisms)}: {form}"] += 1
            part = f"part{mechanisms.index(op)} " if op in mechanisms and len(mechanisms) > 1 else ""
            if op[0] == "softmax":
                found[f"{part}keys: {'split' if 'split = true' in op[3] else 'in_order'}"] += 1
            if op[0] in ("normalize", "polysketch"):
                found[f"{part}linearize: {self.linearized(op)}"] += 1
                above = self.made_by.get(op[2][0], ("argument",))
                if above[0] == "causal_readout" and "grouped = true" in above[3]:
                    found[f"{part}keys grouped: {'split' if 'split = true' in above[3] else 'in_order'}"] += 1
                if op[0] == "normalize":
                    found[f"{part}map: {self.mapped(op)}"] += 1
        return found


def place(op, other, usual):
    return other if "values = fused" in op[3] else usual


def plans_of(graph):
    """{name of the function: its plan} of `attnc compile --emit graph`."""
    functions = re.findall(r"^  func\.func @(\w+)(\(.*?)^  }", graph, re.M | re.S)
    return {name: Plan(text) for name, text in functions}


def kernels_of(tile, function):
    """The kernels that a function launches when it runs, by their kinds: names end with them, or with a number that tells equal
    ones apart. Without that which counts positions on: it is the same in every plan, and has no price."""
    body = re.search(rf"^  func\.func @{function}\(.*?^  }}", tile, re.M | re.S)[0]
    names = [re.sub(r"^(?:_\d+)?_|_\d+$", "", name.removeprefix(function)) for name in re.findall(r"tile\.launch @(\w+)", body)]
    return collections.Counter("sketch" if name in SKETCHES else name for name in names if name != "advance")


def wrong_in_code(explained, graph, tile):
    plans, offered = plans_of(graph), choices_of(explained).keys()
    told = {plan["function"]: collections.Counter(filter(None, plan["forms"].split(", "))) for plan in explained["plans"]}
    if plans.keys() != told.keys():
        yield f"expected the plans {', '.join(told)}, but {', '.join(plans)} are compiled"
        return
    for name, forms in told.items():
        compiled = plans[name].forms(offered)
        if compiled != forms:
            yield f"@{name}: told {dict(forms - compiled)}, compiled {dict(compiled - forms)}"
    at = max((plan for plan in explained["plans"] if plan["from_length"] <= explained["length"]),
             key=lambda plan: plan["from_length"])
    listed = collections.Counter(kind for kernel in explained["kernels"] for kind in kernel["kernel"].split(" + "))
    launched = kernels_of(tile, at["function"])
    if listed != launched:
        yield f"@{at['function']}: kernels told {dict(listed - launched)}, compiled {dict(launched - listed)}"


#===------------------------------------------------------------------------------------------------------------------===#
# One spec
#===------------------------------------------------------------------------------------------------------------------===#


class Refused(Exception):
    """The compiler takes no such spec; its first line."""


def run(program, command, spec, target, *more):
    done = subprocess.run([str(program), command, str(spec), "--target", target, *more], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(done.stderr.splitlines()[0] if done.stderr else f"status {done.returncode} and no message")
    return done.stdout, done.stderr


def wrong_pins(program, spec, pins, target="cpu"):
    """What is wrong with the pins of a spec file, a list of texts. Raises Refused where the compiler refuses the spec."""
    said, warned = run(program, "explain", spec, target, "--json")
    explained = json.loads(said)["functions"][0]
    graph, tile = (run(program, "compile", spec, target, "--emit", stage, "-o", "-")[0] for stage in ("graph", "tile"))
    wrong = [*wrong_in_choices(explained, pins), *wrong_in_code(explained, graph, tile)]
    for pin in explained["unbound_pins"]:
        if not re.search(rf":\d+:\d+: warning: expected the pin {pin} to bind", warned):
            wrong.append(f"expected a warning at the place of the pin {pin}, but got {warned!r}")
    return wrong


#===------------------------------------------------------------------------------------------------------------------===#
# Every form of every law
#===------------------------------------------------------------------------------------------------------------------===#


def laws():
    """{law: its forms}, as the compiler's own diagnostic lists them."""
    with tempfile.TemporaryDirectory() as folder:
        path, found = pathlib.Path(folder) / "probe.yaml", {}
        probe = {"attention": "probe", "dtype": "f32", "batch": 1, "queries": 8, "heads": 1, "head_dim": 8,
                 "mechanism": {"kind": "softmax"}}
        listed = lambda pin, what: re.search(rf"expected one of ([\w, ]+) {what}", refusal(path, probe | {"pin": pin}))[1].split(", ")
        for law in listed({"": "x"}, "in"):
            found[law] = listed({law: ""}, "for")
        return found


def refusal(path, fields):
    path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    try:
        run("attnc", "explain", path, "cpu")
    except Refused as refused:
        return str(refused)
    return ""


def outcome(args, spec, target, law, form):
    """("bound", "refused", "beyond" or "wrong", what to say)."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / spec.name
        path.write_text(yaml.safe_dump(read_spec(spec) | {"pin": {law: form}}, sort_keys=False), encoding="utf-8")
        try:
            wrong = wrong_pins(args.attnc, path, {law: form}, target)
        except Refused as refused:
            if UNSUPPORTED in str(refused):
                return "beyond", str(refused)
            at_place = re.match(r"[^ ]+:\d+:\d+: error: expected .*, but got ", str(refused))
            return ("refused", str(refused)) if at_place else ("wrong", f"refused without a place: {refused}")
        return ("wrong", "; ".join(wrong)) if wrong else ("bound", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", nargs="+", type=pathlib.Path, help="files, or folders of them")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--targets", default="cpu", type=lambda text: text.split(","))
    parser.add_argument("--every", type=int, default=1, metavar="N", help="a sample: every Nth pin, each target beginning with another")
    args = parser.parse_args()
    counts, forms = collections.Counter(), [(law, form) for law, forms in laws().items() for form in forms]
    pins = [(spec, law, form) for spec in specs_of(args.specs) for law, form in forms]
    for number, target in enumerate(args.targets):
        for spec, law, form in pins[number % args.every::args.every]:
            what, said = outcome(args, spec, target, law, form)
            counts[target, what] += 1
            if what == "wrong":
                print(f"FAIL: {spec.stem} on {target}, pin {law}: {form}: {said}", flush=True)
        print(f"{target}: " + ", ".join(f"{counts[target, what]} {what}" for what in ("bound", "refused", "beyond", "wrong")))
    sys.exit(any(counts[target, "wrong"] or not counts[target, "bound"] for target in args.targets))


if __name__ == "__main__":
    main()
