"""One point of benchmarks/cpu.py: the compiled library and its peers, checked, then timed by turns in one process."""

import ctypes
import dataclasses
import hashlib
import json
import pathlib
import subprocess
import time

import numpy as np
import yaml

import cpu_definitions
import cpu_operations
from cpu_machine import WHOLE_CORE, Others, caches
from cpu_peers import PEERS, TOGETHER, Unavailable, array_of
from cpu_public import PUBLIC
from library import Library
from storage import from_storage, to_storage

# SPEC §6 for Attune. Peers keep their sums and powers in the storage type, so they are only asked to compute the same function.
TOLERANCE = {"f32": 2e-5, "bf16": 2e-2}
PEER_TOLERANCE = {"f32": 1e-3, "bf16": 1e-1}
CHECKED_ROWS = 24
LINE = 64              # bytes of a cache line
TURN_SECONDS = 0.004  # a turn lasts at least as long
WARM_SECONDS = 0.02   # what is shorter runs once before it is timed
WAITED_MOST = 0.01    # of a turn with several threads
TRIES = 8
LONGEST_TRIES = 3.0   # seconds, after which a turn is not made again
ALONE = "one thread"  # Attune's turns with one thread, where the point has several
WHOLE = 0.9           # of the limit of one thread, times the threads: less, and the machine has not given all processors
STARVED_MOST, STARVED_SECONDS = 50, 0.1
ABSENT = {"another mechanism", "no exact softmax", "not causal and linear"}  # not worth a word in the tables


class Wrong(Exception):
    """An output that is not the definition's."""


#===----------------------------------------------------------------------------------------------------------------===#
# Files of a point
#===----------------------------------------------------------------------------------------------------------------===#


def attnc(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


class Files:
    """The spec, the library and the parameters of a point, kept as long as attnc and the spec stay the same. Plans are priced
    for the point's threads, not for the processors that this process may use just now."""

    def __init__(self, program, work, point):
        text = yaml.safe_dump(point.fields, sort_keys=False)
        status = pathlib.Path(program).stat()
        stamp = f"{text}{status.st_size} {status.st_mtime_ns} {point.threads}"
        self.folder = work / f"{point.family}-{hashlib.sha1(stamp.encode()).hexdigest()[:12]}"
        self.program, self.spec, self.name = program, self.folder / "spec.yaml", point.family
        if not (self.folder / "ready").exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            self.spec.write_text(text, encoding="utf-8")
            attnc(program, "compile", self.spec, "--threads", point.threads, "-o", self.folder / f"lib{self.name}.so")
            attnc(program, "init", self.spec, "--out", self.folder / "drawn")
            (self.folder / "ready").touch()

    def drawn(self):
        return {file.stem: np.load(file) for file in sorted((self.folder / "drawn").glob("*.npy"))}

    def predicted(self, threads, device):
        """Seconds by the cost model."""
        more = ["--device", device] if device else []
        said = json.loads(attnc(self.program, "explain", self.spec, "--json", "--threads", threads, *more))
        return said["functions"][0]["seconds"]


class Candidate:
    """Something that is timed: `run` takes how often. `output` gives f32."""

    def __init__(self, run, output, together=False):
        self.run, self.output, self.together = run, output, together


class Compiled:
    """The library of a point, run by a loop in C."""

    def __init__(self, files, point, inputs, limits):
        self.library = Library(files.folder, files.name, point.dtype, threads=point.threads)
        if self.library.parameters:
            self.library.prepare(files.drawn())
        name, result = self.library.output(**inputs)
        self.result = at_line(result)
        self.bound = self.library.bind(**inputs, **{name: self.result})
        self.bytes = self.library.workspace_bytes(self.bound)
        self.kept, self.start = self.library.memory.workspace(self.bytes)
        self.inputs, self.limits, self.dtype = inputs, limits, point.dtype

    def run(self, repeats):
        function = ctypes.cast(self.library.functions["run"], ctypes.c_void_p)
        status = self.limits.library.attune_repeat(function, self.library.handle, ctypes.byref(self.bound), self.start,
                                                   self.bytes, repeats)
        if status:
            self.library.call("run", self.library.handle, ctypes.byref(self.bound), self.start, self.bytes, None)

    def output(self):
        self.run(1)
        return from_storage(self.result, self.dtype)


def at_line(array):
    """A copy that begins at a cache line, as tensors of PyTorch and JAX do. NumPy's large arrays begin 16 bytes after one, so
    that every load of 64 bytes would read two lines."""
    memory = np.empty(array.nbytes + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    copy = memory[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def inputs_of(point):
    """Standard normal, in the storage type, where peers in PyTorch read them too."""
    rng = np.random.default_rng(0)
    if point.kind.layer:
        sizes = {"x": (point.batch, point.n, point.head_count * point.d)}
    else:
        sizes = {name: (point.batch, point.head_count, point.n, point.d) for name in "qkv"}
    return {name: at_line(to_storage(rng.standard_normal(shape, np.float32), point.dtype)) for name, shape in sizes.items()}


#===----------------------------------------------------------------------------------------------------------------===#
# Checks
#===----------------------------------------------------------------------------------------------------------------===#


class Judge:
    """Compares rows of an output with the definition in float64 on the rounded inputs."""

    def __init__(self, point, inputs, drawn):
        rng = np.random.default_rng(1)
        last = np.arange(point.n)[-2:]
        self.rows = np.unique(np.concatenate([[0], rng.integers(0, point.n, CHECKED_ROWS), last]))
        wide = {name: from_storage(array, point.dtype) for name, array in inputs.items()}
        stored = {name: array if array.dtype == np.int32 else from_storage(to_storage(array, point.dtype), point.dtype)
                  for name, array in drawn.items()}
        one = {name: array[:1] for name, array in wide.items()}  # of a batch the first entry
        self.expected = cpu_definitions.rows_of(point, one, stored, self.rows)

    def error(self, output):
        """The relative Frobenius error of the rows."""
        got = output[:1, self.rows] if output.ndim == 3 else output[:1, :, self.rows]
        difference = got.astype(np.float64) - self.expected
        return float(np.linalg.norm(difference) / np.linalg.norm(self.expected))


def checked(candidate, judge, tolerance):
    error = judge.error(candidate.output())
    if not error <= tolerance:
        raise Wrong(f"computes something else: error {error:.1e}")
    return error


#===----------------------------------------------------------------------------------------------------------------===#
# Turns
#===----------------------------------------------------------------------------------------------------------------===#


def peer_candidate(make, name, point, inputs, drawn):
    run = make(point, inputs, drawn)

    def repeat(times):
        for _ in range(times):
            run()
    return Candidate(repeat, lambda: array_of(run()), name in TOGETHER)


def candidates_of(point, files, inputs, drawn, limits, judge, wanted, clock):
    """Those whose output is right, with their errors; and why the others are not among them."""
    with clock.loosely(False):
        ours = Compiled(files, point, inputs, limits)
        ours.run(1)
    found = {"attune": Candidate(ours.run, ours.output)}
    errors = {"attune": checked(found["attune"], judge, TOLERANCE[point.dtype])}
    absent = {}
    for name, make in (PEERS | PUBLIC).items():
        if not wanted.search(name):
            continue
        try:
            with clock.loosely(name in TOGETHER):
                candidate = peer_candidate(make, name, point, inputs, drawn)
                errors[name] = checked(candidate, judge, PEER_TOLERANCE[point.dtype])
            found[name] = candidate
        except (Unavailable, Wrong) as reason:
            absent[name] = str(reason)
        except Exception as error:  # a peer's own failure is no reason to stop
            absent[name] = f"{type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}"
    return ours, found, errors, {name: reason for name, reason in absent.items() if reason not in ABSENT}


def turn(candidate, repeats, clock, limits):
    """Seconds a run, and what was lost to other programs: the part of the time that threads waited for a processor, or the part
    of a core that was another's before or after. Such a turn is made again. Threads that the system places may wait for
    each other, so of their turns the better of two counts."""
    clock.place(candidate.together)
    if len(clock.processors) > 1:
        time.sleep(0.005)  # threads of the candidate before stop spinning
    best, start = None, time.perf_counter()
    for _ in range(2 if candidate.together and len(clock.processors) > 1 else TRIES):
        part = limits.await_whole_cores()
        candidate.run(1)
        seconds, waited = clock.seconds(candidate.run, repeats, candidate.together)
        part = min(part, limits.part_of_cores())
        shared = 1 - part if part < WHOLE_CORE else 0.0
        if best is None or waited + shared < best[1] + best[2]:
            best = seconds, waited, shared
        if waited <= WAITED_MOST and not shared or time.perf_counter() - start > LONGEST_TRIES:
            break
    return best


def repeats_of(candidate, clock):
    candidate.run(1)
    seconds, _ = clock.seconds(candidate.run, 1, candidate.together)
    if seconds < WARM_SECONDS:
        seconds, _ = clock.seconds(candidate.run, 3, candidate.together)
    return max(1, round(TURN_SECONDS / max(seconds, 1e-7))), seconds


def whole_products(limits):
    """The limits of products; waits for a while where they say that the system has put several processors on one core."""
    for starved in range(STARVED_MOST):
        products = limits.products()
        if limits.alone is None or products["f32"] >= WHOLE * len(limits.processors) * limits.alone:
            return products, starved
        time.sleep(STARVED_SECONDS)
    return products, STARVED_MOST


def rounds_of(candidates, clock, limits, budget, least):
    """Turn after turn, round after round; the limits of products in each round."""
    repeats = {name: repeats_of(candidate, clock)[0] for name, candidate in candidates.items()}
    seen, products, disturbed, starved, halved = {name: [] for name in candidates}, [], 0, 0, 0
    start = time.perf_counter()
    while len(products) < least or (time.perf_counter() - start < budget and len(products) < 15):
        rates, waits = whole_products(limits)
        products.append(rates)
        starved += waits
        for name, candidate in candidates.items():
            seconds, waited, shared = turn(candidate, repeats[name], clock, limits)
            disturbed += waited > WAITED_MOST and not candidate.together
            halved += shared > 0
            seen[name].append(seconds)
        if len(products) >= 3 and time.perf_counter() - start > 6 * budget:
            break
    return seen, products, {"disturbed": disturbed, "starved": starved, "halved": round(halved / len(products) / len(candidates), 3)}


def rounded(value):
    return float(f"{value:.4g}")


def one_thread(point, options, inputs, limits):
    """The library of the same point for one thread."""
    one = dataclasses.replace(point, threads=1)
    return Compiled(Files(options.attnc, options.work, one), one, inputs, limits)


def measure(point, options, limits, memory_limits, clock):
    """What the store keeps of a point."""
    alone = None
    files = Files(options.attnc, options.work, point)
    inputs, drawn = inputs_of(point), files.drawn()
    judge = Judge(point, inputs, drawn)
    ours, candidates, errors, absent = candidates_of(point, files, inputs, drawn, limits, judge, options.peers,
                                                        clock)
    try:
        result = {"heads": point.head_count, "predicted": files.predicted(point.threads, options.device), "absent": absent,
                  "errors": {name: float(f"{error:.1e}") for name, error in errors.items()}}
        if options.prepare:
            return result
        others = Others()
        if point.threads > 1:
            alone = one_thread(point, options, inputs, limits)
            candidates = {"attune": candidates["attune"], ALONE: Candidate(alone.run, alone.output)} | candidates
            errors[ALONE] = checked(candidates[ALONE], judge, TOLERANCE[point.dtype])
        seen, products, trouble = rounds_of(candidates, clock, limits, options.seconds, options.rounds)
        best = {name: float(np.median([round_[name] for round_ in products])) for name in products[0]}
        bound, limit = cpu_operations.binding(point, memory_limits | best, caches(point.threads))
        if point.threads > 1:
            result["alone"] = [rounded(s) for s in seen.pop(ALONE)]
        result |= {"seconds": {name: [rounded(s) for s in times] for name, times in seen.items()},
                   "needs": cpu_operations.needs(point), "limits": {n: rounded(r) for n, r in (memory_limits | best).items()},
                   "bound": rounded(bound), "limit": limit, "others": round(others.share(), 3), **trouble}
        return result
    finally:
        ours.library.close()
        if alone:
            alone.library.close()
