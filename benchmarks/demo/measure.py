"""Time, memory and error of one compiled mechanism."""

import ctypes
import statistics
import time

import numpy as np

import reference
from attnc import attnc
from mechanisms import arrays_of
from storage import from_storage, to_storage

# Of the error: there the interpreter of attn, in float64, judges every row.
JUDGED_LENGTH = 512


def draw(library, n, seed=0):
    """One batch entry, standard normal, in storage type."""
    rng = np.random.default_rng(seed)
    sizes = {"batch": 1, "n": n, "N": n}
    return {name: to_storage(rng.standard_normal([int(size) if size.isdigit() else sizes[size] for size in member.sizes],
                                                 np.float32), member.dtype)
            for name, member in library.tensors.items() if not member.written}


def resident(field):
    """A field of /proc/self/status, in bytes."""
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return 0


def reset_peak():
    """Gives freed memory back and lets VmHWM start again from what is resident now.

    Without the right to, the peak of the process stays, and the table shows too much rather than too little.
    """
    ctypes.CDLL(None).malloc_trim(0)
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass


def taken_by_others(seconds=0.5):
    """The share of all cores that other programs take while this one sleeps."""
    def ticks():
        with open("/proc/stat", encoding="ascii") as status:
            figures = [int(word) for word in status.readline().split()[1:9]]
        return sum(figures), figures[3] + figures[4]  # idle, and waiting for a disk

    all_before, idle_before = ticks()
    time.sleep(seconds)
    everything, idle = ticks()
    return 1 - (idle - idle_before) / max(1, everything - all_before)


def median_time(run, budget, most=25):
    """Median of as many runs as fit into the budget, at least one."""
    times = []
    while not times or (sum(times) + times[-1] < budget and len(times) < most):
        times.append(seconds_of(run))
    return statistics.median(times)


def seconds_of(run, repeats=1):
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats


def in_turn(run, other, budget, most=7):
    """Medians of the seconds of `run` and of the ratio of `other` to it.

    They run in turn and each time about as long, so that what else the machine does slows both alike: a run that ends within
    a slice of the scheduler would seem faster than it is.
    """
    repeats = max(1, min(64, round(seconds_of(other) / seconds_of(run))))
    times, ratios, start = [], [], time.perf_counter()
    while not times or (time.perf_counter() - start < budget and len(times) < most):
        exact = seconds_of(other)
        times.append(seconds_of(run, repeats))
        ratios.append(exact / times[-1])
    return statistics.median(times), statistics.median(ratios)


def seconds_at(library, n, budget=0.5):
    run, _ = runner(library, n)
    if n <= 4096:
        run()  # threads start and pages are touched
    return median_time(run, budget)


def error_at(mechanism, n):
    """The relative error against the interpreter, on inputs and parameters as attnc draws them."""
    spec, _ = mechanism.files(n)
    drawn = mechanism.drawn(n, "--inputs")
    attnc(mechanism.program, "run", spec, "--in", drawn, "--out", drawn / "judge", "--reference")
    expected, arrays = np.load(drawn / "judge" / "o.npy"), arrays_of(drawn)
    with mechanism.library(n, drawn) as library:
        got = library(**{name: library.tensors[name].stored(arrays[name]) for name in "qkv"})
    return reference.relative_error(from_storage(got, mechanism.fields["dtype"]), expected)


def runner(library, n):
    """A function that runs once on inputs of its own, and the bytes of its workspace."""
    inputs = draw(library, n)
    name, result = library.output(**inputs)
    return library.runner(**inputs, **{name: result})


def measure(mechanism, n, exact):
    """The numbers of one line of the table; `exact` is the mechanism to which its speed is compared."""
    with mechanism.library(n) as library, exact.library(n) as other:
        inputs = draw(library, n)
        reset_peak()
        before = resident("VmRSS") - sum(array.nbytes for array in inputs.values())
        name, result = library.output(**inputs)
        run, _ = library.runner(**inputs, **{name: result})
        run()
        peak = resident("VmHWM") - before
        run_exact, _ = runner(other, n)
        run_exact()
        seconds, ratio = in_turn(run, run_exact, budget=3.0)
    return {"seconds": seconds, "ratio": ratio, "peak": peak, "error": error_at(mechanism, JUDGED_LENGTH)}
