"""Holds benchmarks/cpu.py to numbers worked by hand, and its definitions to `attnc run --reference`."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "benchmarks"))

# pylint: disable=wrong-import-position
import cpu_definitions
import cpu_goals
import cpu_operations
import cpu_peers
import cpu_report
from cpu_rows import FAMILIES, Point, lengths_of, usual_length

# Of one point: multiply-adds, exponentials, bytes. Four heads of 64.
NEEDS = {
    # 4 · 256 · 256 · 128; 4 · 256²; four tensors of 4 · 256 · 64 numbers
    ("softmax", "f32", 256): (33554432, 262144, 1048576),
    ("softmax_causal", "bf16", 256): (16777216, 131072, 524288),
    # 4 · 1024 · 128 · 128; 4 · 1024 · 128
    ("window_128", "f32", 1024): (67108864, 524288, 4194304),
    # 49 keys a query: 4 · 3136 · 49 · 128
    ("window_7x7", "f32", 3136): (78675968, 614656, 12845056),
    # 4 · 2 · 4096 · 64 · 65; 4 · 2 · 4096 · 64
    ("elu1", "f32", 4096): (136314880, 2097152, 16777216),
    # At 64 tokens all weights are less: 4 · 64 · 64 · 128 against 4 · 128 · 64 · 65
    ("elu1", "f32", 64): (2097152, 32768, 262144),
    # 4 · 4096 · 2 · 64 · 65: a token after another; and at 64 tokens 4 · 64 · 32 · 128 pairs
    ("elu1_causal", "f32", 4096): (136314880, 2097152, 16777216),
    ("elu1_causal", "f32", 64): (1048576, 32768, 262144),
    # maps 4 · 8192 · 256 · 64, state 4 · 8192 · 256 · 65; ω has 256 · 64 numbers
    ("favor", "f32", 4096): (1082130432, 8388608, 16842752),
    # E K and E V: 4 · 256 · 4096 · 128; then n 256 slots of 128; E has 256 · 4096 numbers
    ("linformer", "bf16", 4096): (1073741824, 4194304, 10485760),
    # sketches 4 · 8192 · (2 · 64 · 32 + 2 · 32²), 4 · 4096 · 2 · 528 · 65
    ("polysketch_causal", "f32", 4096): (201326592 + 1124597760, 0, 16777216),
    # the same, and 4 · 4096 · 128 · 129 pairs in blocks of 256 tokens
    ("polysketch_local", "f32", 4096): (201326592 + 1124597760 + 270532608, 0, 16777216),
    # two heads 2 · 3136 · 64², two 3136 · 49 · 128, nine taps of all
    ("elfatt", "f32", 3136): (51380224 + 39337984 + 7225344, 802816 + 307328, 12845056),
}


def needs_are_right():
    wrong = 0
    for (family, dtype, n), expected in NEEDS.items():
        got = cpu_operations.needs(Point(family, dtype, 64, n, 1))
        got = tuple(got[name] for name in ("multiply_adds", "exponentials", "bytes"))
        if got != expected:
            wrong += 1
            print(f"FAIL: needs of {family} {dtype} {n}: expected {expected}, but got {got}")
    return wrong, len(NEEDS)


def asked(program, folder, point):
    """What attnc says that a point needs: multiply-adds."""
    spec = folder / f"{point.name.replace(' ', '_')}.yaml"
    spec.write_text(yaml.safe_dump(point.fields, sort_keys=False), encoding="utf-8")
    said = subprocess.run([program, "explain", "--json", spec], capture_output=True, text=True, check=True).stdout
    return json.loads(said)["useful_operations"] / 2


def tool_agrees(program, folder):
    """attnc bench and benchmarks/cpu.py count the same, of every family at its shortest and at its usual length."""
    folder.mkdir(parents=True)
    wrong, points = 0, [Point(family, "f32", d, n, 1) for family in FAMILIES for d, n in
                        ((64, lengths_of(family)[0]), (80, usual_length(family)))]
    for point in points:
        expected, got = cpu_operations.needs(point)["multiply_adds"], asked(program, folder, point)
        if got != expected:
            wrong += 1
            print(f"FAIL: multiply-adds of {point.name}: expected {expected}, but attnc says {got}")
    return wrong, len(points)


def bound_of(family, n, dtype="f32", **limits):
    usual = {"f32": 1e11, "bf16": 2e11, "exp": 1e10, "L1": 1e12, "L2": 1e11, "L3": 5e10, "memory": 1e10}
    return cpu_operations.binding(Point(family, dtype, 64, n, 1), usual | limits, [("L2", 1 << 20), ("L3", 1 << 25)])


def report_is_right():
    """Limits, medians and ratios of made-up numbers."""
    point = Point("softmax", "f32", 64, 1024, 1)
    stored = {"seconds": {"attune": [2.0, 4.0, 3.0], "sdpa": [4.0, 4.0, 9.0], "eager": [9.0, 9.0, 9.0]}, "bound": 1.5,
              "predicted": 3.6, "limit": "f32 FMA", "errors": {}, "absent": {}}
    row = cpu_report.Row(point, stored)
    tests = {
        "products bind": (bound_of("softmax", 256), (33554432 / 1e11, "f32 FMA")),
        "bf16 products": (bound_of("softmax", 256, "bf16"), (33554432 / 2e11, "bf16 dot")),
        "exponentials bind": (bound_of("softmax", 256, exp=1e8), (262144 / 1e8, "exp")),
        "memory binds": (bound_of("elu1", 16384), (67108864 / 1e10, "memory")),
        "median": (row.ours, 3.0),
        "fraction": (row.fraction, 0.5),
        "fastest": (row.fastest, "sdpa"),
        "ratio of rounds": (row.ratio, 2.0),
        "fraction at a ratio": (row.fraction_at(3), 0.75),
        "error of the model": (round(row.error, 6), 0.2),
        "span": (cpu_report.span([1.0, 3.0, 2.0], cpu_report.hundredths), "**2.00** (1.00 … 3.00)"),
        "torch.compile at the goals": ([p.name for p in cpu_goals.points() if not cpu_peers.is_compiled(p)], []),
        "torch.compile elsewhere": (cpu_peers.is_compiled(Point("softmax", "f32", 40, 256, 1)), False),
        "batched convolutions": ([name for name in FAMILIES if cpu_peers.convolves_windows(Point(name, "f32", 64, 3136, 1))], ["elfatt"]),
        "fitted to a device of ours": ([name for name in ("softmax", "linformer", "elfatt", "relu") if name in
                                       cpu_report.fitted_to("x86-64-avx512")], ["softmax", "linformer", "elfatt"]),
        "fitted to a calibrated one": ([name for name in ("softmax", "linformer", "elfatt", "relu") if name in
                                       cpu_report.fitted_to("folder/host.yaml")], ["elfatt", "relu"]),
        "verdict": (cpu_report.verdict([(2, 2), (1, 2), (0, 0)], True), "yes; **no**, 1 of 2; no peer"),
    }
    wrong = [name for name, (got, expected) in tests.items() if got != expected]
    for name in wrong:
        print(f"FAIL: {name}: expected {tests[name][1]}, but got {tests[name][0]}")
    return len(wrong), len(tests)


def case(program, folder, family, width):
    """(point, inputs and parameters as attnc draws them, its output in float64)"""
    point = Point(family, "f32", width, lengths_of(family)[0], 1, heads=2)
    folder = folder / f"{family}{width}"
    folder.mkdir(parents=True)
    (folder / "spec.yaml").write_text(yaml.safe_dump(point.fields, sort_keys=False), encoding="utf-8")
    for command in (["init", folder / "spec.yaml", "--out", folder, "--inputs"],
                    ["run", folder / "spec.yaml", "--in", folder, "--out", folder / "out", "--reference"]):
        subprocess.run([program, *map(str, command)], check=True)
    drawn = {file.stem: np.load(file) for file in folder.glob("*.npy")}
    inputs = {name: drawn.pop(name) for name in ("q", "k", "v", "x") if name in drawn}
    return point, inputs, drawn, np.load(next((folder / "out").glob("*.npy")))


def error(got, expected):
    return np.linalg.norm(got.astype(np.float64) - expected) / np.linalg.norm(expected)


def peers_of(name, point, inputs, drawn, expected, skipped):
    """(wrong, right) of the peers that are there."""
    wrong = right = 0
    for peer in ("eager", "chunked", "jax", "eager batched", "jax batched"):
        try:
            got = cpu_peers.array_of(cpu_peers.PEERS[peer](point, inputs, drawn)())
        except cpu_peers.Unavailable as reason:
            skipped.add(str(reason))
            continue
        good = error(got, expected) < 1e-4
        wrong, right = wrong + (not good), right + good
        if not good:
            print(f"FAIL: {peer} of {name}: error {error(got, expected):.1e}")
    return wrong, right


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    failures = 0
    for title, check in (("needs", needs_are_right), ("tool", lambda: tool_agrees(program, folder / "needs")),
                         ("report", report_is_right)):
        wrong, total = check()
        failures += wrong
        print(f"{title}: {total - wrong} right")
    rows, right, peers, skipped = np.array([0, 3, 100, 255]), 0, 0, set()
    # Sketches of 40 channels are of 64, the last ones zeros.
    cases = [(family, 64) for family in FAMILIES] + [("polysketch", 40), ("polysketch_local", 40)]
    for family, width in cases:
        point, inputs, drawn, expected = case(program, folder, family, width)
        some = expected[:, rows] if expected.ndim == 3 else expected[:, :, rows]
        off = error(cpu_definitions.rows_of(point, inputs, drawn, rows), some)
        right += off < 1e-6
        if not off < 1e-6:
            print(f"FAIL: the definition of {family}: error {off:.1e}")
        wrong, good = peers_of(family, point, inputs, drawn, expected, skipped)
        failures, peers = failures + wrong, peers + good
    print(f"definitions: {right} right")
    missing = sorted(reason for reason in skipped if reason.startswith("no PyTorch") or reason.startswith("no JAX"))
    print(f"peers: {peers} right" if peers else f"SKIP: no peers: {', '.join(reversed(missing))}")
    return 1 if failures or right != len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
