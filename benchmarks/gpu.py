"""Times the libraries of a bundle on a GPU, beside PyTorch and Triton: verified first, then timed.

A time is the median over samples of runs that take their inputs in turn from several sets, so that no set stays in the
cache; its spread is half of the middle half. The device's own copy bandwidth and GEMM rate are measured in the same
run; from them comes the limit: the time that the bytes of inputs and outputs or the useful products need at those
rates, whichever is more. Rows are kept as they come: one that ends the process or hangs is a failure, and the table is
written all the same; started again, the run adds what the time had left out. With --dry-run the bundle is one for the
CPU, so that tests know that the flow works.
"""

import argparse
import hashlib
import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

import gpu_definitions
import gpu_peers
import gpu_report
import gpu_specs

here = pathlib.Path(__file__).resolve().parent
sys.path.append(str(here.parent / "utils" / "python"))

from journal import BROKEN, NO_DEVICE, TIME_UP, Journal, supervise  # noqa: E402
from library import opened  # noqa: E402
from memory import Cuda, Host, why_not  # noqa: E402
from storage import from_storage, to_storage  # noqa: E402

TOLERANCE = {"f32": 2e-5, "f16": 4e-3, "bf16": 2e-2}
PEER_SLACK = 5  # peers keep intermediate results in the storage type
ROWS = 64       # of the output, that are verified
CACHE_BYTES = 128 << 20
SILENCE = 120   # seconds after which a row is taken to hang: one compiles FlexAttention
LAST = 40       # seconds that the last one may take


class OnGpu:
    """Times by events."""

    def __init__(self):
        self.memory = Cuda()
        self.torch = self.memory.torch
        self.xp = self.torch

    def sample(self, calls):
        """Seconds of the calls, one after another."""
        torch = self.torch
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for call in calls:
            call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3

    def exact(self, tensor):
        return tensor.double()

    def normal(self, shape, dtype, seed):
        generator = self.torch.Generator(device=self.memory.device).manual_seed(seed)
        return self.torch.randn(shape, generator=generator, device=self.memory.device).to(self.memory.dtypes[dtype])

    def rows(self, n):
        return self.torch.linspace(0, n - 1, min(n, ROWS), device=self.memory.device).long()

    def read(self, tensor):
        return tensor.double().cpu().numpy()

    def describe(self):
        asked = "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit,temperature.gpu"
        run = subprocess.run(["nvidia-smi", f"--query-gpu={asked}", "--format=csv,noheader"], capture_output=True,
                             text=True, check=False)
        facts = dict(zip(asked.split(","), run.stdout.splitlines()[0].split(", "))) if run.returncode == 0 else {}
        return {"device": self.torch.cuda.get_device_name(), "torch": self.torch.__version__, **facts}

    def copy_rate(self):
        """Bytes a second, read and written."""
        source = self.torch.empty(1 << 29, dtype=self.torch.uint8, device=self.memory.device)
        target = self.torch.empty_like(source)
        return 2 * source.numel() / measure(self, [lambda: target.copy_(source)])["median"]

    def product_rate(self):
        """Operations a second of a large product in bf16."""
        a = self.torch.randn(8192, 8192, device=self.memory.device).bfloat16()
        return 2 * 8192 ** 3 / measure(self, [lambda: a @ a])["median"]


class OnCpu:
    """The same by the clock, for a dry run."""
    xp = np

    def __init__(self):
        self.memory = Host()

    def sample(self, calls):
        start = time.perf_counter()
        for call in calls:
            call()
        return time.perf_counter() - start

    def exact(self, tensor):
        return np.asarray(tensor, np.float64)

    def normal(self, shape, dtype, seed):
        return to_storage(np.random.default_rng(seed).standard_normal(shape).astype(np.float32), dtype)

    def rows(self, n):
        return np.linspace(0, n - 1, min(n, ROWS)).astype(int)

    def read(self, tensor):
        return np.asarray(tensor, np.float64)

    def describe(self):
        return {"device": "CPU (a dry run)"}

    def copy_rate(self):
        source = np.zeros(1 << 22, np.uint8)
        target = np.empty_like(source)
        return 2 * source.nbytes / measure(self, [lambda: np.copyto(target, source)])["median"]

    def product_rate(self):
        a = np.ones((256, 256), np.float32)
        return 2 * 256 ** 3 / measure(self, [lambda: a @ a])["median"]


def measure(machine, runs, samples=15, seconds=0.12):
    """Median and spread in seconds of one of `runs`, which are taken in turn."""
    machine.sample(runs[:1])
    once = max(machine.sample(runs) / len(runs), 1e-7)
    inner = max(len(runs), min(200, int(300e-6 / once)))
    samples = max(5, min(samples, int(seconds / (once * inner))))
    taken = []
    for i in range(samples):
        calls = [runs[(i * inner + j) % len(runs)] for j in range(inner)]
        taken.append(machine.sample(calls) / inner)
    quarters = statistics.quantiles(taken, n=4)
    return {"median": statistics.median(taken), "spread": (quarters[2] - quarters[0]) / 2}


#===----------------------------------------------------------------------------------------------------------------===#
# One library at one length
#===----------------------------------------------------------------------------------------------------------------===#


def draw_parameters(machine, folder, library, n):
    """f32 arrays by name; what has the length in its shape is drawn here, the rest was when the bundle was made."""
    arrays, drawn = {}, {path.stem.replace(".", "_"): path for path in folder.glob("*.npy")}
    for name, member in library.parameters.items():
        if all(size.isdigit() for size in member.sizes):
            arrays[name] = np.load(drawn[name])
            continue
        shape = [int(size) if size.isdigit() else n for size in member.sizes]
        arrays[name] = (np.random.default_rng(5).standard_normal(shape) * shape[-2] ** -0.5).astype(np.float32)
    return arrays


def rounded_parameters(machine, arrays, dtype):
    """What the library computes with: in float64, and indices."""
    stored = {name: array.astype(np.int64) if array.dtype == np.int32 else
              from_storage(to_storage(array, dtype), dtype).astype(np.float64) for name, array in arrays.items()}
    if machine.xp is np:
        return stored
    return {name: machine.torch.from_numpy(array).to(machine.memory.device) for name, array in stored.items()}


class Bench:
    """A library at one length, with several sets of inputs."""

    def __init__(self, machine, spec, library, folder, n):
        self.machine, self.spec, self.library, self.n = machine, spec, library, n
        arrays = draw_parameters(machine, folder, library, n)
        library.prepare(arrays)
        self.parameters = rounded_parameters(machine, arrays, spec.dtype)
        heads, width = spec.fields["heads"], spec.fields["head_dim"]
        shape = (spec.batch(n), heads, n, width)
        self.bytes = 4 * int(np.prod(shape)) * (4 if spec.dtype == "f32" else 2)
        self.sets = [[machine.normal(shape, spec.dtype, 10 * i + j) for j in range(3)]
                     for i in range(max(1, min(4, 1 + CACHE_BYTES // self.bytes)))]
        self.outputs, self.runs = [], []
        for q, k, v in self.sets:
            name, out = library.output(q=q, k=k, v=v)
            self.outputs.append(out)
            self.runs.append(library.runner(q=q, k=k, v=v, **{name: out})[0])

    def expected(self):
        """(rows, float64 result of the first set's first batch entry there)."""
        rows = self.machine.rows(self.n)
        q, k, v = (self.machine.exact(x[:1]) for x in self.sets[0])
        result = gpu_definitions.reference(self.machine.xp, self.spec, q, k, v, self.parameters, rows)
        return rows, self.machine.read(result)

    def error(self, output, rows, expected):
        got = self.machine.read(output[:1][:, :, rows])
        difference = np.linalg.norm((got - expected).ravel()) / np.linalg.norm(expected.ravel())
        return float(difference) if np.isfinite(difference) else float("inf")


def time_ours(bench, expected):
    rows, result = expected
    bench.runs[0]()
    bench.machine.memory.wait()
    entry = {"error": bench.error(bench.outputs[0], rows, result)}
    if not entry["error"] <= TOLERANCE[bench.spec.dtype]:
        return {**entry, "wrong": True}
    return {**entry, **measure(bench.machine, bench.runs)}


def time_peer(bench, make, expected):
    """The entry of a peer; the reason as a text where it cannot do the case."""
    rows, result = expected
    torch = bench.machine.torch
    try:
        runs = [make(torch, bench.spec, *inputs, bench.parameters) for inputs in bench.sets]
        error = bench.error(runs[0](), rows, result)
        if error > PEER_SLACK * TOLERANCE[bench.spec.dtype]:
            return {"error": error, "wrong": True}
        return {"error": error, **measure(bench.machine, runs, samples=9, seconds=0.08)}
    except gpu_peers.Unavailable as reason:
        return {"skip": str(reason)}
    except Exception as failure:  # a peer's own failure (no memory, no such backend) is a result, not an end
        torch.cuda.empty_cache()
        return {"failed": f"{type(failure).__name__}: {str(failure).splitlines()[0] if str(failure) else ''}"[:160]}


def time_library(machine, args, spec, entry, n):
    folder = args.bundle / "bench" / spec.name
    row = {"family": spec.family, "width": spec.fields["head_dim"], "dtype": spec.dtype, "n": n, "batch": spec.batch(n),
           "predicted": entry.get("predicted", {}).get(str(n), {})}
    with opened(folder, spec.name, spec.dtype, parameters=None, threads=1, memory=machine.memory) as library:
        bench = Bench(machine, spec, library, folder, n)
        expected = bench.expected()
        row["bytes"], row["ours"] = bench.bytes, time_ours(bench, expected)
        row["peers"] = {} if machine.xp is np else \
            {name: time_peer(bench, make, expected) for name, make in gpu_peers.PEERS.items()}
    return row


#===----------------------------------------------------------------------------------------------------------------===#
# All of them
#===----------------------------------------------------------------------------------------------------------------===#


def add_limits(rows, copy_rate, product_rate):
    for row in rows:
        products = 2 * row["predicted"].get("useful_multiply_adds", 0) / product_rate
        bytes_time = row["bytes"] / copy_rate
        row["limit"] = {"seconds": max(products, bytes_time), "by": "products" if products > bytes_time else "bytes"}


def planned(args, manifest):
    """(key, spec, length) of every row, in order: all libraries at one length, then the next, so that what the time
    leaves out is a length, and not a family."""
    known = {entry["name"] for entry in manifest["bench"] if "predicted" in entry}
    specs = [spec for spec in gpu_specs.all_specs(args.dry_run, TOLERANCE) if spec.name in known]
    return [(f"{spec.name} at {n}", spec, n) for dtype in dict.fromkeys(spec.dtype for spec in specs)
            for n in dict.fromkeys(n for spec in specs for n in spec.lengths)
            for spec in specs if spec.dtype == dtype and n in spec.lengths]


def failed_row(spec, n, reason):
    return {"family": spec.family, "width": spec.fields["head_dim"], "dtype": spec.dtype, "n": n, "batch": spec.batch(n),
            "bytes": 0, "predicted": {}, "peers": {}, "ours": {"failed": reason}}


def works(machine):
    """Whether the device still answers: after an access out of bounds it takes nothing more from this process."""
    try:
        machine.memory.wait()
        return True
    except Exception:  # whatever PyTorch raises
        return False


def time_all(machine, args, manifest, journal):
    """The worker: times what the journal does not have, until the time is up. Exit status."""
    entries = {entry["name"]: entry for entry in manifest["bench"]}
    if "facts" not in journal.results:
        journal.finish("facts", {**machine.describe(), "commit": manifest["commit"],
                                 "copy_bytes_per_second": machine.copy_rate(),
                                 "product_operations_per_second": machine.product_rate()})
    for key, spec, n in planned(args, manifest):
        if key in journal.results:
            continue
        if time.time() > args.until:
            return 0
        journal.begin(key)
        try:
            journal.finish(key, time_library(machine, args, spec, entries[spec.name], n))
        except Exception as error:  # of the library, of PyTorch, of the files: the row failed, the others follow
            reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            print(f"FAIL: {key}: {reason}", flush=True)
            journal.finish(key, failed_row(spec, n, reason))
        if not works(machine):
            return BROKEN
    return 0


def collect(args, manifest, journal):
    """The report of what the journal has."""
    rows, left = [], 0
    for key, spec, n in planned(args, manifest):
        row = journal.results.get(key)
        left += row is None
        if row is not None:
            rows.append(failed_row(spec, n, row["died"]) if "died" in row else row)
    facts = journal.results["facts"]
    add_limits(rows, facts["copy_bytes_per_second"], facts["product_operations_per_second"])
    refused = [entry["name"] for entry in manifest["bench"] if "refused" in entry]
    rows.sort(key=lambda row: (row["dtype"], row["width"], list(gpu_specs.FAMILIES).index(row["family"]), row["n"]))
    return {**facts, "rows": rows, "left_out": left, "refused": refused}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundle", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, default=here / "results", help="folder of the JSON and the table")
    parser.add_argument("--minutes", type=float, default=7, help="no further case is begun after them")
    parser.add_argument("--dry-run", action="store_true", help="on the CPU, with a bundle for it")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, default=float("inf"), help=argparse.SUPPRESS)
    return parser.parse_args()


def died(key, reason):
    print(f"FAIL: {key}: {reason}", flush=True)
    return {"died": reason}


def time_supervised(args, path, stamp):
    """The journal of a worker in another process."""
    until = time.time() + args.minutes * 60
    command = [sys.executable, __file__, *sys.argv[1:], "--worker", "--until", until]
    status, rest = supervise(command, path, stamp, SILENCE, died, until + LAST)
    if rest:
        print(f"{'SKIP: the last case' if rest == TIME_UP else 'FAIL'}: {rest}", flush=True)
    return Journal(path, stamp), status


def work(args, manifest, path, stamp):
    try:
        machine = OnCpu() if args.dry_run else OnGpu()
    except (ImportError, RuntimeError, AssertionError) as error:
        print(f"SKIP: no GPU that PyTorch can use: {why_not(error)}")
        return NO_DEVICE
    if args.dry_run:
        print("SKIP: a dry run on the CPU: no peers, no device times")
    return time_all(machine, args, manifest, Journal(path, stamp))


def main():
    args = parse()
    sys.stdout.reconfigure(line_buffering=True)
    text = (args.bundle / "manifest.json").read_bytes()
    manifest, stamp = json.loads(text), hashlib.sha256(text).hexdigest()[:16]
    path = args.out / "timed.jsonl"
    if args.worker:
        return work(args, manifest, path, stamp)
    journal, status = time_supervised(args, path, stamp)
    if status == NO_DEVICE:
        return 0
    if "facts" not in journal.results:
        print("FAIL: no table: the device's own rates could not be measured")
        return 1
    report = collect(args, manifest, journal)
    gpu_report.write(report, args.out)
    return bool(status or not report["rows"] or
                any(row["ours"].get("wrong") or row["ours"].get("failed") for row in report["rows"]))


if __name__ == "__main__":
    sys.exit(main())
