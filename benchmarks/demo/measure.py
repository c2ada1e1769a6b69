"""Time, memory and error of one compiled mechanism."""

import ctypes
import statistics
import time

import numpy as np

import reference
from library import opened
from storage import DTYPES, from_storage, to_storage

JUDGED_ROWS = 64


def draw(fields, n, seed=0):
    """q, k and v of one batch entry, standard normal, in storage type."""
    rng = np.random.default_rng(seed)
    shapes = [(1, fields["heads"], n, fields["head_dim"])] * 3
    return [to_storage(rng.standard_normal(shape, np.float32), fields["dtype"]) for shape in shapes]


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


def median_time(run, budget=1.5, most=7):
    """Median of as many runs as fit into the budget, at least one."""
    times = []
    while not times or (sum(times) + times[-1] < budget and len(times) < most):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def seconds_at(library, fields, n):
    q, k, v = draw(fields, n)
    run, _ = library.runner(q=q, k=k, v=v, o=np.empty_like(q))
    if n <= 4096:
        run()  # threads start and pages are touched
    return median_time(run)


def measure(folder, fields, n):
    """The numbers of one line of the table."""
    q, k, v = draw(fields, n)
    reset_peak()
    before = resident("VmRSS") - (q.nbytes + k.nbytes + v.nbytes)
    o = np.empty(q.shape, DTYPES[fields["dtype"]])
    with opened(folder, fields["attention"], fields["dtype"]) as library:
        run, workspace = library.runner(q=q, k=k, v=v, o=o)
        run()
        seconds = median_time(run)
        peak = resident("VmHWM") - before
    wide = [from_storage(x, fields["dtype"]) for x in (q, k, v)]
    rows = np.sort(np.random.default_rng(1).choice(n, min(n, JUDGED_ROWS), replace=False))
    got = from_storage(o[:, :, rows], fields["dtype"])
    spec = reference.specification(fields)
    exact = reference.attention({"kind": "softmax", "causal": spec["causal"]}, *wide, rows=rows)
    judge = reference.attention(spec, *wide, rows=rows)
    return {"seconds": seconds, "peak": peak, "workspace": workspace,
            "error": reference.relative_error(got, judge), "distance": reference.relative_error(got, exact)}
