"""The result of benchmarks/gpu.py as JSON and as a table in Markdown; the table is printed too."""

import json
import re

HEAD = ["family", "d", "dtype", "n", "batch", "ms", "spread", "of the limit", "limited by", "model ms", "best peer",
        "peer ms", "eager ms", "error"]


def milliseconds(entry, key="median"):
    return f"{entry[key] * 1e3:.3f}" if key in entry else "-"


def best_peer(peers):
    """(name, entry) of the fastest that is right, the plain definition apart; (-, {}) without one."""
    timed = {name: entry for name, entry in peers.items() if "median" in entry and name != "eager"}
    return min(timed.items(), key=lambda item: item[1]["median"]) if timed else ("-", {})


def cells(row):
    ours, (name, peer) = row["ours"], best_peer(row["peers"])
    limit = row.get("limit", {})
    share = f"{limit['seconds'] / ours['median']:.2f}" if limit and "median" in ours else "-"
    state = "wrong" if ours.get("wrong") else "failed" if ours.get("failed") else milliseconds(ours)
    error = f"{ours['error']:.1e}" if ours.get("error") is not None else "-"
    return [*(row[key] for key in ("family", "width", "dtype", "n", "batch")), state, milliseconds(ours, "spread"),
            share, limit.get("by", "-"), milliseconds(row["predicted"], "seconds"), name, milliseconds(peer),
            milliseconds(row["peers"].get("eager", {})), error]


def troubles(rows):
    """A line for each peer that is wrong or failed, with the number of cases and what the first of them says."""
    found = {}
    for row in rows:
        for name, peer in row["peers"].items():
            reason = f"wrong, error {peer['error']:.1e}" if peer.get("wrong") else peer.get("failed")
            if reason:
                found.setdefault(name, []).append(reason)
    return [f"{name} has no time in {len(reasons)} cases; the first: {reasons[0]}." for name, reasons in found.items()]


def table(report):
    facts = ", ".join(f"{key} {value}" for key, value in report.items()
                      if key not in ("rows", "left_out", "refused") and not key.endswith("per_second"))
    rates = (f"copies at {report['copy_bytes_per_second'] / 1e12:.2f} TB/s, products at "
             f"{report['product_operations_per_second'] / 1e12:.0f} Tflop/s, both measured in the same run")
    lines = ["# Times on a GPU", "", f"{facts}; {rates}.", "",
             "| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(map(str, cells(row))) + " |" for row in report["rows"]]
    for trouble in troubles(report["rows"]):
        lines += ["", trouble]
    if report["left_out"]:
        lines += ["", f"{report['left_out']} cases were left out: the time was up."]
    if report["refused"]:
        lines += ["", f"Not supported on the target yet: {', '.join(report['refused'])}."]
    return "\n".join(lines) + "\n"


def write(report, folder):
    """NAME.json and NAME.md, named after the device; prints the table."""
    folder.mkdir(parents=True, exist_ok=True)
    name = "gpu-" + re.sub(r"[^a-z0-9]+", "-", report["device"].lower()).strip("-")
    (folder / f"{name}.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    (folder / f"{name}.md").write_text(table(report), encoding="utf-8")
    print(table(report), end="", flush=True)
