"""Runs the fuzzers of a build folder, each for a time, on its seeds and on what earlier runs found.

  run_fuzzers.py BUILD [NAME...] [--seconds S] [--jobs J] [--seed N]

Seeds are the tests' and examples' own files where there are such, and test/Fuzz/corpus/NAME: small files, among them what once
was a fault. New inputs that reach new code stay in BUILD/fuzz/NAME/found for the next run. A crash, a sanitizer's report, a leak,
more than 2 GB or more than 10 s for one input is a failure; the input lies in BUILD/fuzz/NAME/faults, and
`BUILD/bin/fuzz-NAME FILE` shows it again.
"""

import argparse
import concurrent.futures
import glob
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
NAMES = ["npy", "safetensors", "device", "spec", "module", "bytecode", "unpack", "arguments", "ptx", "onnx"]
LONGEST = {"spec": 4096, "onnx": 2048, "device": 8192, "module": 8192, "bytecode": 16384, "ptx": 8192, "arguments": 512}


def environment():
    # Debian's MLIR is not instrumented: what it poisons or lets grow ours does not see.
    options = "allow_user_poisoning=0:detect_container_overflow=0:" + os.environ.get("ASAN_OPTIONS", "")
    # A file a turn goes to memory where that can be.
    memory = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}
    return {**os.environ, **memory, "ASAN_OPTIONS": options}


def texts(pattern):
    for path in sorted(glob.glob(str(SOURCE / pattern), recursive=True)):
        yield path, pathlib.Path(path).read_bytes()


def specs(_):
    for pattern in ["examples/*.yaml", "test/Frontend/invalid/*.yaml"]:
        yield from (text for _, text in texts(pattern))


def devices(_):
    yield from (text for _, text in texts("lib/Cost/devices/*.yaml"))


def modules(_):
    """What stands between the marks of a lit test, without its comments, which are no part of the language."""
    for folder in ["Dialect", "Kernel", "Graph", "Lowering"]:
        for _, text in texts(f"test/{folder}/**/*.mlir"):
            for piece in re.split(rb"// -----.*\n", text):
                yield re.sub(rb"(?m)^\s*//.*\n", b"", piece).strip() + b"\n"


def bytecode(build):
    """Of every module that is a valid one."""
    yield from (text for _, text in texts("test/Bytecode/Inputs/**/*.mlirbc"))
    command = [build / "bin" / "attn-opt", "--emit-bytecode", "-o", "-"]
    for text in some(modules(build)):
        done = subprocess.run(command, input=text, env=environment(), capture_output=True, check=False)
        if done.returncode == 0:
            yield done.stdout


def models(_):
    """Those of another test, right ones and wrong ones."""
    sys.path.insert(0, str(SOURCE / "test" / "Integration" / "harness"))
    import onnx_file  # pylint: disable=import-outside-toplevel
    yield from onnx_file.MODELS.values()


def some(seeds, most=100):
    """Evenly out of all: reading them costs time that then lacks."""
    all_seeds = sorted(set(seeds))
    return all_seeds[::1 + len(all_seeds) // most]


SEEDS = {"spec": specs, "device": devices, "module": modules, "bytecode": bytecode, "onnx": models}


def write_seeds(build, name, folder):
    if folder.exists():
        return
    folder.mkdir(parents=True)
    seeds = (text for text in SEEDS[name](build) if len(text) <= LONGEST[name]) if name in SEEDS else []
    for number, text in enumerate(some(seeds)):
        (folder / str(number)).write_bytes(text)


def program_of(build, name):
    return build / "bin" / ("fuzz-" + ("module" if name == "bytecode" else name))


def run(build, name, seconds, seed):
    """The output, and whether it was a failure."""
    work = build / "fuzz" / name
    seeds, found, faults = work / "seeds", work / "found", work / "faults"
    write_seeds(build, name, seeds)
    found.mkdir(exist_ok=True), faults.mkdir(exist_ok=True)
    corpora = [found, seeds] + [folder for folder in [HERE / "corpus" / name] if folder.exists()]
    command = [program_of(build, name), f"-max_total_time={seconds}", f"-seed={seed}", "-timeout=10", "-rss_limit_mb=2048",
               "-print_final_stats=1", f"-max_len={LONGEST.get(name, 4096)}", f"-artifact_prefix={faults}/", *corpora]
    done = subprocess.run(command, env=environment(), capture_output=True, check=False)
    return done.stderr.decode("utf-8", "replace"), done.returncode != 0


def report(name, output, failed):
    facts = [f"{what.replace('_', ' ')} {count}" for what, count in
             re.findall(r"stat::(number_of_executed_units|new_units_added|peak_rss_mb):\s+(\d+)", output)]
    print(f"{'FAIL' if failed else 'PASS'}: fuzz-{name}: {', '.join(facts)}", flush=True)
    if failed:
        print(re.sub(r"(?m)^#\d+\s+(NEW|REDUCE|pulse|RELOAD).*\n", "", output)[-8000:], flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0,
                        help="a build folder without finds draws the same inputs again; default: other ones each time")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    if unknown := set(arguments.names) - set(NAMES):
        parser.error(f"expected names of {', '.join(NAMES)}, but got {', '.join(sorted(unknown))}")
    names = arguments.names or NAMES
    built = [name for name in names if program_of(build, name).exists()]
    for name in set(names) - set(built):
        print(f"SKIP: fuzz-{name}: {program_of(build, name)} is not built", flush=True)
    bad = not built
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = {pool.submit(run, build, name, arguments.seconds, arguments.seed): name for name in built}
        for done in concurrent.futures.as_completed(runs):
            output, failed = done.result()
            bad += failed
            report(runs[done], output, failed)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
