"""Writes docs/Walkthrough.md: one spec at every stage, each shown as the compiler dumps it.

With `--check` nothing is written: exits 1 if the page is not what the compiler gives today.
"""

import argparse
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
PAGE = SOURCE / "docs" / "Walkthrough.md"
SPEC = "examples/elu1_causal.yaml"
GPU_SPEC = "examples/elu1_bf16.yaml"
LONGEST = 90

OPENING = """# Compilation walkthrough

One spec from YAML to machine code. `utils/walkthrough.py` writes this page from what `attnc` prints, and a test
holds it to that (but for numbers and the order of instructions); after a change of the compiler, run it again. Long dumps are cut where a line says so.
"""

# (title, what to look at, what comes after `attnc`, language, how the dump is cut)
STAGES = [
    ("The spec", "What the user writes: which attention, over tensors of which sizes.", None, "yaml", None),
    ("attn", "The frontend's output. The mechanism is one op; sizes that the spec leaves open are `?`.",
     ["compile", SPEC, "--emit", "attn"], "mlir", None),
    ("graph", "After selection: the terms of the form that the cost model took. A library holds up to three such functions, "
     "each with the length from which it serves.", ["compile", SPEC, "--emit", "graph"], "mlir", None),
    ("Why that form", "What was weighed, and what it would have cost.",
     ["explain", SPEC, "--batch", "1", "--queries", "4096", "--threads", "2"], "", None),
    ("tile", "Kernels over tiles of static shape, with the schedule as an attribute, and the host function that launches "
     "them: [regions](Rationale/Planner.md) of the graph's terms. Both kinds of target lower from here.", ["compile", SPEC, "--emit", "tile"], "mlir", None),
    ("asm", "The CPU's inner products: registers hold a block of the accumulator, each key element is broadcast or loaded "
     "once.", ["compile", SPEC, "--emit", "asm"], "asm", "vfmadd231ps"),
    ("ptx", "The same kernels for a GPU, of an example in bf16: products on the matrix units, operands from "
     "shared memory by `ldmatrix`, copies by `cp.async`.", ["compile", GPU_SPEC, "--target", "sm_80", "--emit", "ptx"],
     "asm", "mma.sync"),
]


def densest(lines, word, length):
    """The stretch of `length` lines in which a word is most frequent."""
    hits = [word in line for line in lines]
    count = sum(hits[:length])
    best, at = count, 0
    for start in range(1, max(1, len(lines) - length + 1)):
        count += hits[start + length - 1] - hits[start - 1]
        if count > best:
            best, at = count, start
    return at


def cut(text, word):
    """The beginning of a dump, or the stretch where a word is densest, with a line for each part left out."""
    lines = text.rstrip().splitlines()
    if word is None:
        return lines if len(lines) <= LONGEST else lines[:LONGEST] + [f"… {len(lines) - LONGEST} lines more"]
    length = 40
    at = densest(lines, word, length)
    shown = lines[at:at + length]
    return ([f"… {at} lines before"] if at else []) + shown + [f"… {len(lines) - at - len(shown)} lines after"]


def dump(attnc, arguments):
    if arguments is None:
        return (SOURCE / SPEC).read_text(encoding="utf-8")
    run = subprocess.run([attnc, *arguments], cwd=SOURCE, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"attnc {' '.join(arguments)} ended with {run.returncode}\n{run.stderr}")
    return run.stdout


def page(attnc):
    parts = [OPENING]
    for title, look, arguments, language, word in STAGES:
        command = f"`{SPEC}`" if arguments is None else f"`attnc {' '.join(arguments)}`"
        body = "\n".join(line.rstrip() for line in cut(dump(attnc, arguments), word))
        parts.append(f"## {title}\n\n{look}\n\n{command}\n\n```{language}\n{body}\n```\n")
    return "\n".join(parts)


def comparable(text):
    """The page without what differs between machines: numbers (prices, registers) and the order of instructions."""
    return re.sub(r"\d+(\.\d+)?", "#", re.sub(r"```asm\n.*?```", "", text, flags=re.S))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    text = page(args.attnc)
    if not args.check:
        PAGE.write_text(text, encoding="utf-8")
        print(f"wrote {PAGE.relative_to(SOURCE)}")
    elif comparable(text) != comparable(PAGE.read_text(encoding="utf-8")):
        sys.exit("expected docs/Walkthrough.md to show what the compiler gives, but it shows something else; "
                 "run utils/walkthrough.py")
    else:
        print("docs/Walkthrough.md is up to date")


main()
