"""Compares the work that the cost model predicts for a GPU's kernels with what the emulator counts.

Of every launch of a spec's plan: the bytes that warps ask of global memory, those of them by 16 bytes a lane, the
multiply-adds of the matrix units, and the shuffles of warps. Exits 1 if a kernel's are further apart than --within, or if the model has other kernels
than ran. Every key exists: how many do is nothing that a prediction could know. The last column is the part of the bytes that
was asked for by 16 bytes a lane; --wide is the least that it may be. A form for which the compiler says that the device has
no room is none that could be compared.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np
import yaml

from attnc import Failed, attnc, read_spec
from run_case import SIZES
from sample import sampled

# (name in the prediction, name of the counter)
COUNTS = [("near_bytes", "global bytes of warps"), ("wide_bytes", "global bytes by 16 bytes a lane"),
          ("multiply_adds", "mma multiply-adds"), ("shuffles", "shuffles")]
# What the compiler says of a form that a law allows and no kernel of the device can hold.
REFUSED = "expected a plan that"


def resolved(args, spec, dtype, pin, folder):
    """The spec with a storage type, all sizes and a form pinned ({}: as the spec says), as a file."""
    fields = read_spec(spec) | {"dtype": dtype} | ({"pin": pin} if pin else {})
    fields |= {name: getattr(args, name) or size for name, size in SIZES.items() if fields.get(name) == "?"}
    path = folder / f"{fields['attention']}.yaml"
    path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    return path, fields


def predicted(args, spec):
    """(kernel, work) of the plan that is taken. Without programs a kernel is not launched: states before the only part."""
    said = json.loads(attnc(args.attnc, "explain", spec, "--json", "--target", args.target))
    kernels = [(kernel["kernel"], kernel["work"]) for kernel in said["functions"][0]["kernels"]]
    return [(kernel, work) for kernel, work in kernels if any(work[count] for count, _ in COUNTS)]


def give_all_keys(folder, fields):
    lengths = folder / "key_lengths.npy"
    if lengths.exists():
        keys = fields.get("keys", fields["queries"])
        np.save(lengths, np.full_like(np.load(lengths), keys))


def counted(args, spec, fields, folder):
    """(kernel, counters) of the launches of a run; what prepares parameters is no part of it."""
    attnc(args.attnc, "init", spec, "--out", folder / "in", "--inputs")
    give_all_keys(folder / "in", fields)
    said = attnc(args.attnc, "run", spec, "--in", folder / "in", "--out", folder / "out", "--target", args.target,
                 "--emulate", "--json")
    return [(launch["kernel"], launch) for launch in json.loads(said) if "__prepare_" not in launch["kernel"]]


def paired(model, ran):
    """Every kernel of the model with the next launch of its name; None if they are not the same kernels.

    Kernels of different names may run in another order than that of the ops.
    """
    left, pairs = list(ran), []
    for kernel, work in model:
        found = next((launch for launch in left if launch[0].endswith("_" + kernel)), None)
        if not found:
            return None
        left.remove(found)
        pairs.append((kernel, work, found[1]))
    return pairs if not left else None


def wide_part(counters):
    return counters["global bytes by 16 bytes a lane"] / max(1, counters["global bytes of warps"])


def row_of(label, pairs, wide):
    cells = [f"{label:34}"]
    for expected, got in pairs:
        ratio = f"{expected / got:7.3f}" if got else "      -" if not expected else "    inf"
        cells.append(f"{expected:13.0f} {got:13.0f} {ratio}")
    return "  ".join([*cells, f"{wide:6.3f}"])


def agree(expected, got, within):
    return abs(expected - got) <= within * got


def pins_of(args, spec, dtype):
    """The forms that a spec can be pinned to, one at a time; {}: there is no choice, or it is left to the price."""
    if not args.forms:
        return [{}]
    with tempfile.TemporaryDirectory() as name:
        path, _ = resolved(args, spec, dtype, {}, pathlib.Path(name))
        said = json.loads(attnc(args.attnc, "explain", path, "--json", "--target", args.target))
    decisions = said["functions"][0]["decisions"]
    pins = sorted({(one["law"], one["form"]) for one in decisions if one["possible"]})
    return [{law: form} for law, form in pins] or [{}]


def compare(args, spec, dtype, pin):
    """Whether the model knows the kernels of a spec and their work."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path, fields = resolved(args, spec, dtype, pin, folder)
        model, ran = predicted(args, path), counted(args, path, fields, folder)
    good = True
    print(" ".join([spec.stem, dtype, *pin.values()]), flush=True)
    kernels = paired(model, ran)
    if kernels is None:
        print(f"  FAIL: expected the kernels {[name for name, _ in model]}, but got {[name for name, _ in ran]}")
        return False
    for kernel, work, counters in kernels:
        pairs = [(work[one], counters[other]) for one, other in COUNTS]
        wide = wide_part(counters)
        right = all(agree(*pair, args.within) for pair in pairs) and wide >= args.wide
        good &= right
        print(f"  {'    ' if right else 'FAIL'} {row_of(kernel, pairs, wide)}", flush=True)
    return good


def attempt(args, spec, dtype, pin):
    """Whether the model knows the kernels of a spec and their work; None if the device has no room for the form."""
    try:
        return compare(args, spec, dtype, pin)
    except Failed as error:
        refused = pin and REFUSED in str(error)
        print(f"  {'none' if refused else 'FAIL'}: {' '.join([spec.stem, dtype, *pin.values()])}: {error}", flush=True)
        return None if refused else False


def agrees(args, spec, dtype):
    """Whether all forms of a spec that the device can run agree; one at least can be run."""
    outcomes = [attempt(args, spec, dtype, pin) for pin in pins_of(args, spec, dtype)]
    return True in outcomes and False not in outcomes


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path, help="files, or folders of them")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--dtypes", type=lambda text: text.split(","), default=["f16"], help="with commas")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--forms", action="store_true", help="every form that the spec can be pinned to")
    parser.add_argument("--within", type=float, default=0.05)
    parser.add_argument("--wide", type=float, default=0, help="least part of the bytes by 16 bytes a lane, of every kernel")
    for name in SIZES:
        parser.add_argument(f"--{name}", type=int, help="for '?'")
    return parser.parse_args()


def main():
    args = parse()
    print(f"  {'':39}" + "".join(f"  {what + ' predicted':>14} {'issued':>12}   ratio" for what in ("bytes", "wide", "mma", "shuffles")) + "    wide")
    results = [agrees(args, spec, dtype) for spec in sampled(args.specs) for dtype in args.dtypes]
    print(f"{sum(results)} of {len(results)} specs agree")
    sys.exit(not results or not all(results))


if __name__ == "__main__":
    main()
