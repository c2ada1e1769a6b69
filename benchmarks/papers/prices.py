"""Prices of attention by the cost model: `attnc explain --json` of specs that are written here."""

import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Prices:
    """Asks attnc for prices, each once; of a device, or with None of the processor that it runs on."""

    def __init__(self, attnc, dtype="bf16", threads=None):
        self.attnc, self.dtype = attnc, dtype
        self.options = ["--threads", str(threads)] if threads else []
        self.folder = tempfile.TemporaryDirectory(prefix="attune-papers-")
        self.known = {}

    def device(self, name, **changes):
        """A path to the description of a device with other numbers in it."""
        text = (SOURCE / "lib" / "Cost" / "devices" / f"{name}.yaml").read_text(encoding="utf-8")
        lines = []
        for line in text.splitlines():
            key = line.split(":")[0]
            changed = f'{key}: {{value: {changes.get(key)}, source: "changed for a comparison"}}'
            lines.append(changed if key in changes else line)
        path = pathlib.Path(self.folder.name) / f"{name}-changed.yaml"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)

    def plan(self, device, **spec):
        """The function of a spec as `explain --json` has it; None if the device has no plan for it."""
        spec = {"attention": "paper", "dtype": self.dtype, "batch": 1, **spec}
        text = json.dumps(spec, sort_keys=True)
        key = (device, text)
        if key not in self.known:
            path = pathlib.Path(self.folder.name) / "spec.yaml"
            path.write_text(text, encoding="utf-8")
            options = [*self.options, *(["--device", device] if device else [])]
            run = subprocess.run([self.attnc, "explain", str(path), *options, "--json"], capture_output=True, text=True,
                                 check=False)
            if run.returncode == 2:  # a mistake of this script, never of the device
                sys.exit(f"attnc refused {text}\n{run.stderr}")
            self.known[key] = json.loads(run.stdout)["functions"][0] if run.returncode == 0 else None
        return self.known[key]

    def seconds(self, device, **spec):
        """Predicted seconds of one forward pass; None if there is no plan."""
        plan = self.plan(device, **spec)
        return plan["seconds"] if plan else None


def ratio(above, below):
    return above / below if above is not None and below is not None else None


def total(*parts):
    """The sum; None if a part is."""
    return sum(parts) if all(part is not None for part in parts) else None


def number(value, digits=2):
    return "–" if value is None else f"{value:.{digits}f}"


def table(header, rows, words=0):
    """A table in Markdown; the first column and the last `words` to the left, the others to the right."""
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join(["---"] + ["---:"] * (len(header) - 1 - words) + ["---"] * words) + "|"]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"
