"""The machine that benchmarks/cpu.py runs on: its limits, its processors, its clocks and what other programs take."""

import contextlib
import ctypes
import os
import pathlib
import platform
import statistics
import subprocess
import time

# By the numbers of benchmarks/cpu_limits.cpp.
MULTIPLY_ADDS, BF16_PRODUCTS, EXPONENTIALS, READ, ISSUE = range(5)
PROBE_SECONDS = 0.003
ISSUE_SECONDS = 0.0002
WHOLE_CORE = 0.93      # of the most instructions a second that were ever seen: less, and a program has the other half of a core
SHARED_MOST = 16 << 20  # of a shared cache, about what the tensors of the usual points take; a guest of a large machine has not all of it
AWAIT_SECONDS = 1.5    # for whole cores, before each turn


class Limits:
    """The probes, through the library `attune-bench-limits`; rates are of all threads together."""

    def __init__(self, library, processors):
        self.library = ctypes.CDLL(str(library))
        self.library.attune_limit.restype = ctypes.c_double
        self.library.attune_limit.argtypes = [ctypes.c_int32, ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p, ctypes.c_double]
        self.library.attune_repeat.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_size_t, ctypes.c_int64]
        self.processors = (ctypes.c_int32 * len(processors))(*processors)
        self.most_issued = 0.0
        self.alone = None if len(processors) == 1 else statistics.median(
            Limits(library, processors[:1]).rate(MULTIPLY_ADDS) for _ in range(9))  # multiply-adds of one thread

    def rate(self, limit, total_bytes=0, seconds=PROBE_SECONDS):
        threads = len(self.processors)
        return self.library.attune_limit(limit, total_bytes // threads, threads, self.processors, seconds)

    def products(self):
        """Multiply-adds a second: of f32, and of bf16 where there is an instruction for it."""
        rates = {"f32": self.rate(MULTIPLY_ADDS), "bf16": self.rate(BF16_PRODUCTS)}
        return {name: rate for name, rate in rates.items() if rate}

    def part_of_cores(self):
        """Of the instructions that these cores can take in, the part that they take from us: 1 unless other programs, of other
        guests of the machine perhaps, run on their other hardware threads. No clock and no table of the system shows those."""
        issued = self.rate(ISSUE, seconds=ISSUE_SECONDS)
        self.most_issued = max(self.most_issued, issued)
        return issued / self.most_issued

    def await_whole_cores(self, most=AWAIT_SECONDS):
        """The part of the cores that we have, after waiting for all of it for a while."""
        start = time.perf_counter()
        while (part := self.part_of_cores()) < WHOLE_CORE and time.perf_counter() - start < most:
            time.sleep(0.005)
        return part

    def all(self, rounds=5):
        """Medians of the rounds."""
        threads = len(self.processors)
        probes = {"f32": (MULTIPLY_ADDS, 0), "bf16": (BF16_PRODUCTS, 0), "exp": (EXPONENTIALS, 0),
                  **{name: (READ, min(size // 2, SHARED_MOST) if name == "L3" else size // 2) for name, size in caches(threads)}, "memory": (READ, 4 * caches(threads)[-1][1])}
        seen = {name: [] for name in probes}
        for _ in range(rounds):
            for name, probe in probes.items():
                self.await_whole_cores()
                seen[name].append(self.rate(*probe))
        return {name: statistics.median(rates) for name, rates in seen.items() if rates[0]}


CACHES = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")
USUAL_CACHES = {"L1": 32 << 10, "L2": 1 << 20, "L3": 16 << 20}


def cache_sizes():
    """Bytes of the caches of data; usual ones where the system does not say."""
    found = dict(USUAL_CACHES)
    for index in CACHES.glob("index*"):
        level, kind, size = ((index / name).read_text(encoding="ascii").strip() for name in ("level", "type", "size"))
        if kind != "Instruction" and f"L{level}" in found and size.endswith("K"):
            found[f"L{level}"] = int(size[:-1]) << 10
    return found


def caches(threads):
    """(name, bytes that `threads` cores have of it), the nearest first; the last level is shared."""
    return [(name, size * (1 if name == "L3" else threads)) for name, size in cache_sizes().items()]


#===----------------------------------------------------------------------------------------------------------------===#
# Processors and clocks
#===----------------------------------------------------------------------------------------------------------------===#


def busy_ticks():
    """Of each processor: ticks that it worked."""
    lines = pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines()
    rows = [line.split() for line in lines if line[:3] == "cpu" and line[3].isdigit()]
    return {int(row[0][3:]): sum(map(int, row[1:9])) - int(row[4]) - int(row[5]) for row in rows}


def least_busy(count, seconds=0.2):
    """Processors of this process, those first that others use least."""
    before = busy_ticks()
    time.sleep(seconds)
    after = busy_ticks()
    return sorted(sorted(os.sched_getaffinity(0)), key=lambda cpu: after[cpu] - before[cpu])[:count]


def tasks():
    """This process's threads."""
    return {int(folder.name) for folder in pathlib.Path("/proc/self/task").iterdir()}


def waited():
    """Seconds that threads of this process were ready but had no processor."""
    total = 0
    for folder in pathlib.Path("/proc/self/task").iterdir():
        try:
            total += int((folder / "schedstat").read_text(encoding="ascii").split()[1])
        except (OSError, IndexError):
            continue
    return total * 1e-9


class Clock:
    """One thread: its processor time, or that of the process where a peer works on threads of its own. Several: the wall
    clock, with what threads had to wait for a processor."""

    def __init__(self, processors):
        self.processors = processors
        self.main = os.getpid()
        self.loose = set()

    @contextlib.contextmanager
    def loosely(self, loose):
        """What makes threads of a peer. Threads inherit where they may run, so the caller goes everywhere first."""
        os.sched_setaffinity(self.main, set(self.processors))
        before = tasks()
        try:
            yield
        finally:
            self.loose |= tasks() - before if loose else set()

    def place(self, together):
        """Threads of fork-and-join pools each on a processor of its own; `together`: the caller where it likes, as XLA's
        threads, which are never bound, work while it sleeps."""
        if len(self.processors) == 1:
            return
        everywhere = set(self.processors)
        os.sched_setaffinity(self.main, everywhere if together else {self.processors[0]})
        for task in tasks() - self.loose - {self.main}:
            with contextlib.suppress(OSError):  # ended meanwhile
                os.sched_setaffinity(task, set(self.processors[1:]))

    def seconds(self, run, repeats, together):
        """(seconds a run, the part of them that threads waited)"""
        if len(self.processors) == 1:
            clock = time.process_time if together else time.thread_time
            start = clock()
            run(repeats)
            return (clock() - start) / repeats, 0.0
        before = waited()
        run(1)  # threads that fell asleep meanwhile
        start = time.perf_counter()
        run(repeats)
        taken = time.perf_counter() - start
        return taken / repeats, (waited() - before) / taken


class Others:
    """The share of this machine's processors that other programs take."""

    def __init__(self):
        self.start, self.busy, self.own = time.perf_counter(), sum(busy_ticks().values()), time.process_time()

    def share(self):
        taken = (sum(busy_ticks().values()) - self.busy) / os.sysconf("SC_CLK_TCK") - (time.process_time() - self.own)
        return max(0.0, taken / (time.perf_counter() - self.start) / os.cpu_count())


#===----------------------------------------------------------------------------------------------------------------===#
# Facts
#===----------------------------------------------------------------------------------------------------------------===#


def processor_line(key):
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith(key):
            return line.split(":", 1)[1].strip()
    return ""


def commit(source):
    said = subprocess.run(["git", "-C", str(source), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return said.stdout.strip()


def facts():
    flags = processor_line("flags").split()
    wanted = ["avx2", "fma", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16"]
    return {"processor": processor_line("model name") or platform.processor(), "processors": os.cpu_count(),
            "units": [name for name in wanted if name in flags], "missing": [name for name in wanted if name not in flags],
            "caches": dict(caches(1)), "system": platform.system()}
