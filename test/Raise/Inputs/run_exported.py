"""Raises every program that other tools printed. Says `NAME: equal` if it is raised and means the same, else why not."""

import pathlib
import re
import subprocess
import sys

from run_both import check

INLINED = ["-inline", "-symbol-dce", "-canonicalize"]

for file in sorted(pathlib.Path(sys.argv[1]).glob("*.mlir")):
    command = ["attn-opt", *INLINED, "-attn-raise", "--remarks-filter=attn-raise", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{file.name}: {done.stderr}")
    remarks = re.findall('Remark="(.*?)"', done.stderr)
    if any(remark.startswith("raised") for remark in remarks):
        check(file.read_text(encoding="utf-8"), INLINED)
        remarks = ["equal" if remark.startswith("raised") else remark for remark in remarks]
    print(f"{file.stem}: {'; '.join(dict.fromkeys(remarks)) or 'nothing found'}", flush=True)
