#!/usr/bin/env python3
"""What a call from Python costs over the call from C, and what a compiled spec costs that is in the cache.

Run it with a Python that has the package attune; PyTorch and JAX are measured where they are. A spec so small that its work
is nothing is called by turns from C, from the package, and as an operator of PyTorch, beside an operator of PyTorch's own
that does nothing but make its output. Processor time of the calling thread; the median of rounds of calls. What is measured
takes its row in benchmarks/results/python.json, from which python.md is written; what is not keeps the row that it has.

  benchmarks/python_calls.py                measures all that is there
  benchmarks/python_calls.py --compile      only attune.compile
  benchmarks/python_calls.py --report       measures nothing, writes the table
"""

import argparse
import ctypes
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "utils" / "python")]

# pylint: disable=wrong-import-position
import python_report  # noqa: E402

STORE = HERE / "results" / "python.json"
SPEC = {"attention": "small", "dtype": "f32", "batch": "?", "queries": "?", "heads": 1, "head_dim": 8,
        "mechanism": {"kind": "kernel", "feature_map": {"kind": "elu1"}}}
SHAPE = (0, 1, 1, 8)  # no entry of a batch: everything is checked, nothing is computed
LOOP = """
#include <stddef.h>
typedef int (*workspace_t)(void *, const void *, size_t *);
typedef int (*run_t)(void *, const void *, void *, size_t, void *);
void loop(workspace_t workspace, run_t run, void *handle, const void *tensors, void *memory, long count) {
  for (long i = 0; i < count; ++i) {
    size_t bytes;
    workspace(handle, tensors, &bytes);
    run(handle, tensors, memory, bytes, NULL);
  }
}
"""


def from_c(folder, array):
    """A function that makes `count` calls of workspace and run from C, as the package makes them."""
    import attune
    import numpy as np
    from library import Library
    (folder / "loop.c").write_text(LOOP, encoding="utf-8")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", folder / "loop.so", folder / "loop.c"], check=True)
    loop = ctypes.CDLL(str(folder / "loop.so")).loop
    library = Library(attune.compile(SPEC, threads=1).library.parent, "small", "f32", threads=1)
    bound = library.bind(q=array, k=array, v=array, o=np.empty_like(array))
    kept, start = library.memory.workspace(1 << 16)

    def calls(count, keep=(kept, library)):
        loop(library.functions["workspace"], library.functions["run"], library.handle, ctypes.byref(bound),
             ctypes.c_void_p(start), ctypes.c_long(count))

    return calls


def repeated(call):
    def calls(count):
        for _ in range(count):
            call()
    return calls


def with_torch(attend, array):
    import attune.torch
    import torch
    tensor = torch.from_numpy(array)
    text = attune.torch._op.spec_text(SPEC)

    @torch.library.custom_op("attune_bench::nothing", mutates_args=())
    def nothing(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(q)

    operator = torch.ops.attune.attend
    return {"torch": repeated(lambda: attend(q=tensor, k=tensor, v=tensor)),
            "operator": repeated(lambda: operator([tensor] * 3, "q,k,v", text, False)),
            "nothing": repeated(lambda: nothing(tensor, tensor, tensor))}


def with_jax(attend, array):
    import jax.numpy as jnp
    import numpy as np
    one = jnp.asarray(np.zeros((1, *SHAPE[1:]), np.float32))
    return {"jax": repeated(lambda: attend(q=one, k=one, v=one))}


def ways(folder):
    import attune
    import numpy as np
    attend, array = attune.compile(SPEC, threads=1), np.zeros(SHAPE, np.float32)
    out = np.empty_like(array)
    result = {"c": from_c(folder, array), "numpy_out": repeated(lambda: attend(q=array, k=array, v=array, out=out)),
              "numpy": repeated(lambda: attend(q=array, k=array, v=array))}
    for name, more in (("torch", with_torch), ("jax", with_jax)):
        if importlib.util.find_spec(name):
            result |= more(attend, array)
    return result


def measured(calls, rounds, count):
    """Microseconds a call: the median of all rounds, each way by turns."""
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, function in calls.items():
            start = time.thread_time()
            function(count)
            times[name].append((time.thread_time() - start) / count * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


#===----------------------------------------------------------------------------------------------------------------===#
# Compiling what is in the cache
#===----------------------------------------------------------------------------------------------------------------===#

COMPILE = """
import time
import attune
times = []
for _ in range({count}):
    start = time.perf_counter()
    attune.compile({spec!r}, threads=1)
    times.append(1e3 * (time.perf_counter() - start))
print(*times)
"""


def cached_compile(processes, count=51):
    """Milliseconds of `attune.compile` by the clock, in processes of their own: of the first calls, and of the later ones."""
    program = [sys.executable, "-c", COMPILE.format(count=count, spec=SPEC)]
    run = lambda: [float(word) for word in subprocess.run(program, capture_output=True, text=True, check=True).stdout.split()]
    run()  # compiles
    runs = [run() for _ in range(processes)]
    return {"first": [times[0] for times in runs], "later": [statistics.median(times[1:]) for times in runs]}


#===----------------------------------------------------------------------------------------------------------------===#
# The store
#===----------------------------------------------------------------------------------------------------------------===#


def versions():
    names = {"NumPy": "numpy", "PyTorch": "torch", "JAX": "jax"}
    found = {name: importlib.metadata.version(package) for name, package in names.items() if importlib.util.find_spec(package)}
    return {"Python": platform.python_version()} | found


def commit():
    """Of the checkout, which must be what was installed."""
    run = subprocess.run(["git", "-C", str(HERE), "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def add(data, calls, compiles):
    """What was measured takes its row."""
    data["versions"] |= versions()
    data["calls"] |= {name: {"microseconds": round(value, 3), "over_c": round(value - calls["c"], 3), "commit": commit()}
                      for name, value in calls.items()}
    data["compiles"] |= {name: {"milliseconds": [round(value, 3) for value in values], "commit": commit()}
                         for name, values in compiles.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=15, help="for attune.compile")
    parser.add_argument("--compile", action="store_true", help="only attune.compile of what is in the cache")
    parser.add_argument("--report", action="store_true", help="measure nothing; write the table")
    parser.add_argument("--store", type=pathlib.Path, default=STORE)
    args = parser.parse_args()
    data = json.loads(args.store.read_text(encoding="utf-8")) if args.store.exists() else {"versions": {}, "calls": {}, "compiles": {}}
    if not args.report:
        with tempfile.TemporaryDirectory() as name:
            os.environ["ATTUNE_CACHE_DIR"] = str(pathlib.Path(name) / "cache")
            compiles = cached_compile(args.processes)
            calls = {} if args.compile else measured(ways(pathlib.Path(name)), args.rounds, args.count)
        add(data, calls, compiles)
        args.store.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    text = python_report.text_of(data)
    args.store.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
