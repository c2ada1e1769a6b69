"""Runs the gtests (through ctest) and the lit suite of a build folder and closes with one line of totals.

A test that needs what is not there is listed as SKIP with the reason; it is neither passed nor failed.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections import Counter

LIT_OUTCOME = {"PASS": "passed", "FLAKYPASS": "passed", "XFAIL": "passed", "UNSUPPORTED": "skipped", "SKIPPED": "skipped"}


UNAVAILABLE = "unavailable features: "
FEATURES = {"shared": "the oracle beside the checkout", "long": "`ninja -C build check-all`", "ptxas": "ptxas",
            "avx512": "a processor with AVX-512", "sanitizers": "the preset sanitize",
            "address-sanitizer": "clang-22 with its AddressSanitizer",
            "python-package": "Python's headers, and the wheels that utils/setup fetches",
            "torch": "PyTorch (`utils/setup --frameworks`)", "jax": "JAX (`utils/setup --frameworks`)",
            "sklearn": "scikit-learn's images (`utils/setup --frameworks`)"}


def needs(features):
    return "needs " + " and ".join(FEATURES.get(name, name) for name in features)


def skip_reason(output):
    """The line in which lit, or the test itself, says what is missing."""
    lines = [line.strip() for line in output.splitlines()]
    # GoogleTest: "file:line: Skipped", then what the test said.
    said = [after for line, after in zip(lines, lines[1:]) if line.endswith(": Skipped") and after]
    said += [needs(line.split(UNAVAILABLE)[1].split(", ")) for line in lines if UNAVAILABLE in line]
    said += [line for line in lines if "SKIP" in line]
    return said[0] if said else ""


def run_ctest(build, jobs, include_long, without):
    report = build / "ctest.xml"
    report.unlink(missing_ok=True)
    command = ["ctest", "--output-on-failure", "--no-tests=ignore", "-j", jobs, "--output-junit", str(report)]
    if left_out := [*without, *([] if include_long else ["long"])]:
        command += ["-LE", f"^({'|'.join(left_out)})$"]
    if without:
        command += ["-E", f"^({'|'.join(without)})_NOT_BUILT"]
    code = subprocess.run(command, cwd=build, check=False).returncode
    if not report.exists():
        yield "failed", "ctest", f"ctest ended with {code} and left no report"
        return
    outcomes = [judged(case) for case in xml.parse(report).iter("testcase")]
    yield from outcomes
    if code != 0 and not any(outcome == "failed" for outcome, _, _ in outcomes):
        yield "failed", "ctest", f"ctest ended with {code}"


def judged(case):
    """(outcome, name, reason) of a test in ctest's report. One that did not run and does not say why has no program."""
    status, reason = case.get("status"), skip_reason(case.findtext("system-out") or "")
    if status == "run":
        return "passed", case.get("name"), ""
    skipped = status in ("notrun", "disabled") and reason
    return ("skipped", case.get("name"), reason) if skipped else ("failed", case.get("name"), "")


def run_lit(build, lit, jobs, include_long, only):
    site = build / "test" / "lit.site.cfg.py"
    if not site.exists():
        return
    report = build / "lit.json"
    report.unlink(missing_ok=True)
    command = [sys.executable, lit, "-v", "-j", jobs, "-o", str(report), str(site.parent)]
    if only:
        command += ["--filter", f":: ({only})[/.]", "--allow-empty-runs"]
    if include_long:
        command += ["--param", "long=1"]
    code = subprocess.run(command, check=False).returncode
    if not report.exists():
        yield "failed", "lit", f"lit ended with {code} and left no report"
        return
    for test in json.loads(report.read_text(encoding="utf-8"))["tests"]:
        if test["code"] == "EXCLUDED":
            continue
        yield LIT_OUTCOME.get(test["code"], "failed"), test["name"], skip_reason(test.get("output", ""))


# LLVM's headers poison memory of arenas by hand. Our code does so when it is instrumented, Debian's libMLIR, which shares
# those arenas, is not and never takes it back: without this, every arena would be a false report.
os.environ.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--lit", default="/usr/lib/llvm-22/bin/lit")
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    parser.add_argument("--long", action="store_true", help="also the sweeps that CI samples")
    parser.add_argument("--only", help="lit folders and tests, such as 'Frontend|Pipeline/names'; default: all")
    parser.add_argument("--without", nargs="*", default=[], metavar="PROGRAM", help="gtest programs that are not run, nor need be there")
    args = parser.parse_args()
    args.build = args.build.resolve()

    results = [*run_ctest(args.build, args.jobs, args.long, args.without),
               *run_lit(args.build, args.lit, args.jobs, args.long, args.only)]
    for outcome, name, reason in results:
        if outcome != "passed":
            print(f"{'SKIP' if outcome == 'skipped' else 'FAIL'}: {name}{': ' + reason if reason else ''}")
    totals = Counter(outcome for outcome, _, _ in results)
    print(f"{totals['passed']} passed, {totals['failed']} failed, {totals['skipped']} skipped")
    sys.exit(totals["failed"] > 0 or not totals["passed"])


main()
