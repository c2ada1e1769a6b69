"""What fits on which GPU: the tables of docs/Limits.md, found by asking the compiler, or held to it.

    limits.py --write   the tables, by bisection, into the page
    limits.py           every number of the page: that size compiles, one more is refused in the words that the page names
    limits.py --every N every Nth of them

A size fits if `attnc compile --emit llvm` makes its kernels. Sizes that do not fit are refused by `--emit graph`.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "Limits.md"
REFUSAL = "no schedule fits"
# Those with as much shared memory and as many registers; the first of each column is asked.
TARGETS = {"sm_80": "sm_80, sm_87", "sm_86": "sm_86, sm_89", "sm_90a": "sm_90a"}
DTYPES = ["f32", "f16", "bf16"]
MOST_CHANNELS, MOST_FEATURES = 512, 2048  # sizes that are tried


def kernel(kind, **more):
    return {"kind": "kernel", "feature_map": {"kind": kind, **more}}


# By name: (causal, mechanism, fields of the whole spec).
MECHANISMS = {
    "softmax": (False, {"kind": "softmax"}, {}),
    "softmax, causal": (True, {"kind": "softmax"}, {}),
    "softmax, rope": (False, {"kind": "softmax"}, {"rope": {}}),
    "linformer, 256 compressed tokens": (False, {"kind": "softmax", "low_rank": {"rank": 256}}, {}),
    "polynomial": (False, {"kind": "polynomial", "degree": 4}, {}),
    "agent": (False, {"kind": "agent", "agents": 64}, {}),
    "eva, window 128, chunk 16": (False, {"kind": "eva", "window": {"length": 128}, "chunk": 16}, {}),
    "eva, window 64, chunk 64": (False, {"kind": "eva", "window": {"length": 64}, "chunk": 64}, {}),
    "effatt": (False, {"kind": "effatt"}, {}),
    "elu1, relu": (False, kernel("elu1"), {}),
    "elu1, relu, causal": (True, kernel("elu1"), {}),
    "focused": (False, kernel("focused"), {}),
    "focused, causal": (True, kernel("focused"), {}),
    "cosformer": (False, kernel("cosformer", max_position=4096), {}),
    "cosformer, causal": (True, kernel("cosformer", max_position=4096), {}),
    "favor, 64 features": (False, kernel("favor", features=64), {}),
    "favor, 64 features, causal": (True, kernel("favor", features=64), {}),
    "favor, 256 features": (False, kernel("favor", features=256), {}),
    "favor, 256 features, causal": (True, kernel("favor", features=256), {}),
    "polysketch, size 32": (False, {"kind": "polysketch", "degree": 4, "size": 32}, {}),
    "polysketch, size 32, causal": (True, {"kind": "polysketch", "degree": 4, "size": 32}, {}),
    "polysketch, size 64": (False, {"kind": "polysketch", "degree": 4, "size": 64}, {}),
    "polysketch, size 64, causal": (True, {"kind": "polysketch", "degree": 4, "size": 64}, {}),
}
PUBLISHED = {"epsilon": 1e-4, "stabilizer": "projection"}
FEATURES = {
    "favor": (False, kernel("favor"), {}),
    "favor, causal": (True, kernel("favor"), {}),
    "favor, epsilon and stabilizer as published": (False, kernel("favor", **PUBLISHED), {}),
    "favor_relu": (False, kernel("favor_relu"), {}),
    "favor_relu, causal": (True, kernel("favor_relu"), {}),
}


def of_widths(fields, size):
    return fields | {"head_dim": size}


def of_linear_forms(fields, size):
    return of_widths(fields, size) | {"pin": {"linearize": "chunked" if fields["causal"] else "state"}}


def of_values(fields, size):
    return fields | {"head_dim": 64, "value_dim": size}


def of_features(width):
    def change(fields, size):
        mechanism = fields["mechanism"]
        return fields | {"head_dim": width, "mechanism": mechanism | {
            "feature_map": mechanism["feature_map"] | {"features": size}}}
    return change


VALUES = {name: MECHANISMS[name] for name in ("softmax", "polynomial", "effatt", "elu1, relu", "elu1, relu, causal",
                                              "favor, 256 features", "polysketch, size 32, causal")}

STATES = {"state": {"initial": True, "final": True}}
DELTA = kernel("identity") | {"decay": {"per": "token"}, "erase": {"per": "token"}}
GATED = {
    "decay of channels, causal": (True, kernel("identity") | {"decay": {"per": "channel"}}, {}),
    "gated delta rule, causal": (True, DELTA, {"qk_norm": {"kind": "l2"}}),
    "gated delta rule, causal, initial and final state": (True, DELTA, {"qk_norm": {"kind": "l2"}} | STATES),
}
LINEAR = {name: row for name, row in MECHANISMS.items() if row[1]["kind"] == "kernel"} | GATED

# By heading: how a size enters the spec, and the rows.
TABLES = {
    "Largest `head_dim` = `value_dim`": (of_widths, MECHANISMS),
    "Largest `head_dim` = `value_dim` of linear forms": (of_linear_forms, LINEAR),
    "Largest `value_dim` at `head_dim: 64`": (of_values, VALUES),
    "Most `features` at 64 channels": (of_features(64), FEATURES),
    "Most `features` at 128 channels": (of_features(128), FEATURES),
}


def most_of(table):
    return MOST_FEATURES if "features" in table else MOST_CHANNELS


class Probe:
    """Asks the compiler."""

    def __init__(self, program, folder):
        self.program, self.folder, self.number = program, pathlib.Path(folder), 0

    def refusal(self, table, row, target, dtype, size, stage="llvm"):
        """What the compiler says to a size; empty if it fits."""
        change, rows = TABLES[table]
        causal, mechanism, more = rows[row]
        fields = {"attention": "limits", "dtype": dtype, "batch": 1, "queries": 4096, "heads": 2, "causal": causal,
                  "mechanism": mechanism, **more}
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", dir=self.folder, encoding="utf-8") as file:
            yaml.safe_dump(change(fields, size), file, sort_keys=False)
            file.flush()
            run = subprocess.run([self.program, "compile", file.name, "--target", target, "--emit", stage, "-o", "/dev/null"],
                                 capture_output=True, text=True, check=False)
        return run.stderr if run.returncode else ""

    def largest(self, table, row, target, dtype):
        """By bisection; the most that are tried if those fit. A rotation has whole pairs of channels."""
        step = 2 if "rope" in row else 1
        if not self.refusal(table, row, target, dtype, most_of(table), stage="graph"):
            return most_of(table)
        # Tiles that are padded fit some sizes and not all smaller ones: borders between multiples of 32 are found first.
        low, high = 0, 2 * most_of(table) // step
        while high - low > 1:
            middle = (low + high) // 2
            if self.refusal(table, row, target, dtype, middle * step, stage="graph"):
                high = middle
            else:
                low = middle
        return low * step


def number(cell):
    """(the size, whether it is the largest)."""
    return int(cell.rstrip("+")), not cell.endswith("+")


def cells():
    return [(table, row, target, dtype) for table, (_, rows) in TABLES.items() for row in rows
            for target in TARGETS for dtype in DTYPES]


def print_table(found, table):
    lines = ["| | " + " | ".join(TARGETS.values()) + " |", "|---|" + "---|" * len(TARGETS)]
    for row in TABLES[table][1]:
        sizes = [[found[table, row, target, dtype] for dtype in DTYPES] for target in TARGETS]
        texts = [" / ".join(f"{size}{'+' if size >= most_of(table) else ''}" for size in column) for column in sizes]
        lines.append(f"| {row} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def read_tables(text):
    """By (table, row, target, dtype) the cells of the page."""
    found, table, targets = {}, None, []
    for line in text.splitlines():
        if line.startswith("## "):
            table = line.removeprefix("## ")
        parts = [part.strip() for part in line.strip("|").split("|")]
        if table not in TABLES or not line.startswith("|") or parts[0].startswith("---"):
            continue
        if not parts[0]:
            targets = [part.split(", ")[0] for part in parts[1:]]
            continue
        for target, part in zip(targets, parts[1:]):
            for dtype, cell in zip(DTYPES, part.split(" / ")):
                found[table, parts[0], target, dtype] = cell
    return found


def check(probe, place, cell):
    """What is wrong with a number of the page, if anything."""
    size, is_largest = number(cell)
    if said := probe.refusal(*place, size):
        return f"{place}: expected {size} to fit, but got: {said.splitlines()[0]}"
    more = size + (2 if "rope" in place[1] else 1)
    said = probe.refusal(*place, more, stage="graph") if is_largest else ""
    if is_largest and (REFUSAL not in said or "note: " not in said):
        return f"{place}: expected '{REFUSAL}' and a remedy for {more}, but got: {said or 'a plan'}"
    return None


def write(probe, pool, only):
    places = [place for place in cells() if only in ("", place[0])]
    found = dict(zip(places, pool.map(lambda place: probe.largest(*place), places)))
    text = PAGE.read_text(encoding="utf-8")
    for table in dict.fromkeys(place[0] for place in places):
        pattern = re.compile(rf"(## {re.escape(table)}\n)\n?(?:\|.*\n)*")
        text = pattern.sub(lambda match, table=table: f"{match.group(1)}\n{print_table(found, table)}\n", text)
    PAGE.write_text(re.sub(r"\n+## ", "\n\n## ", text), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="a sample: every Nth number")
    parser.add_argument("--only", help="with --write: the heading of one table", default="")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        probe = Probe(args.attnc, folder)
        if args.write:
            return write(probe, pool, args.only)
        page = read_tables(PAGE.read_text(encoding="utf-8"))
        if missing := set(cells()) ^ set(page):
            sys.exit(f"expected a number for every mechanism, target and type, but not for {sorted(missing)[0]}")
        asked = list(page)[::args.every]
        wrong = [text for text in pool.map(lambda place: check(probe, place, page[place]), asked) if text]
    print("\n".join(wrong[:20]))
    print(f"{len(asked)} numbers, {len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
