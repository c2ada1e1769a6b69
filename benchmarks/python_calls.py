"""What a call from Python costs over the call from C, and what a compiled spec costs that is in the cache.

Run it with a Python that has the package attune; PyTorch and JAX are measured where they are. A spec so small that its work
is nothing is called by turns from C, from the package, and as an operator of PyTorch, beside an operator of PyTorch's own
that does nothing but make its output. Processor time of the calling thread; the median of rounds of calls.
"""

import argparse
import ctypes
import importlib.util
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import attune
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "utils" / "python"))
from library import Library  # noqa: E402

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
    import torch
    import attune.torch
    tensor = torch.from_numpy(array)
    text = attune.torch._op.spec_text(SPEC)

    @torch.library.custom_op("attune_bench::nothing", mutates_args=())
    def nothing(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(q)

    operator = torch.ops.attune.attend
    return {"the package, PyTorch": repeated(lambda: attend(q=tensor, k=tensor, v=tensor)),
            "attune::attend, an operator of PyTorch": repeated(lambda: operator([tensor] * 3, "q,k,v", text, False)),
            "an operator of PyTorch that does nothing": repeated(lambda: nothing(tensor, tensor, tensor))}


def with_jax(attend, array):
    import jax.numpy as jnp
    one = jnp.asarray(np.zeros((1, *SHAPE[1:]), np.float32))
    return {"the package, JAX (one entry, computed)": repeated(lambda: attend(q=one, k=one, v=one))}


def ways(folder):
    attend, array = attune.compile(SPEC, threads=1), np.zeros(SHAPE, np.float32)
    out = np.empty_like(array)
    result = {"C: workspace and run": from_c(folder, array),
              "the package, NumPy, out=": repeated(lambda: attend(q=array, k=array, v=array, out=out)),
              "the package, NumPy": repeated(lambda: attend(q=array, k=array, v=array))}
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


def cached_compile(rounds=50):
    """Milliseconds of `attune.compile` of what is in the cache: in a new process, and again."""
    attune.compile(SPEC, threads=1)
    program = ("import time, attune\nstart = time.thread_time()\n"
               f"attune.compile({SPEC!r}, threads=1)\nprint(time.thread_time() - start)")
    first = [float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
             for _ in range(5)]
    again = []
    for _ in range(rounds):
        start = time.thread_time()
        attune.compile(SPEC, threads=1)
        again.append(time.thread_time() - start)
    return statistics.median(first) * 1e3, statistics.median(again) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--count", type=int, default=2000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.environ["ATTUNE_CACHE_DIR"] = str(pathlib.Path(name) / "cache")
        first, again = cached_compile()
        times = measured(ways(pathlib.Path(name)), args.rounds, args.count)
    base = times["C: workspace and run"]
    print("| call | µs | over C |\n|---|---|---|")
    for way, microseconds in times.items():
        print(f"| {way} | {microseconds:.2f} | {microseconds - base:.2f} |")
    print(f"\n`attune.compile` of a cached spec: {first:.1f} ms in a new process, {again:.2f} ms after that")


if __name__ == "__main__":
    main()
