"""Reports from timings that are made up: what the table says of a fast row, a wrong one, and one that ended its process."""
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[4] / place) for place in ("benchmarks", "utils/python")]
import gpu  # noqa: E402
import gpu_report  # noqa: E402


def row(family, n, ours, peers, products, size):
    return {"family": family, "width": 64, "dtype": "bf16", "n": n, "batch": 1, "bytes": size, "ours": ours,
            "peers": peers, "predicted": {"seconds": 3e-3, "useful_multiply_adds": products}}


rows = [
    # 1 Tflop at 500 Tflop/s: 2 ms; 1 GB at 2 TB/s: 0.5 ms. Half of 2 / 4.
    row("softmax", 1024, {"median": 4e-3, "spread": 1e-4, "error": 1e-3},
        {"eager": {"median": 1e-3, "error": 0.0}, "flex": {"median": 6e-3}, "sdpa flash": {"median": 5e-3},
         "sdpa cudnn": {"error": 0.5, "wrong": True}, "triton": {"skip": "causal linear attention only"}}, 5e11, 1e9),
    # 0.01 Tflop: 20 us; 1 GB: 0.5 ms, a quarter of 2 ms.
    row("elu1", 2048, {"median": 2e-3, "spread": 1e-5, "error": 2e-3}, {"eager": {"failed": "OutOfMemoryError: no memory"}}, 5e9, 1e9),
    row("agent", 4096, {"error": 0.3, "wrong": True}, {}, 5e9, 1e9),
    gpu.failed_row(gpu.gpu_specs.bench_spec("eva", 64, "bf16", [8192]), 8192, "no answer for 120 s"),
]
gpu.add_limits(rows, 2e12, 5e14)
gpu_report.write({"device": "A Device, 80 GB", "commit": "0123", "copy_bytes_per_second": 2e12,
                  "product_operations_per_second": 5e14, "rows": rows, "left_out": 7, "refused": ["effatt_d64_bf16"]},
                 pathlib.Path(sys.argv[1]))
