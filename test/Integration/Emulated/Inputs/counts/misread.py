#!/usr/bin/env python3
"""attnc, but for one number: MISREAD names a key of `work`, of which `explain` prints 6 % more for every kernel."""

import json
import os
import subprocess
import sys

MORE = 1.06

run = subprocess.run(["attnc", *sys.argv[1:]], capture_output=True, text=True, check=False)
if run.returncode == 0 and sys.argv[1] == "explain":
    said = json.loads(run.stdout)
    for kernel in said["functions"][0]["kernels"]:
        kernel["work"][os.environ["MISREAD"]] *= MORE
    run.stdout = json.dumps(said)
sys.stdout.write(run.stdout)
sys.stderr.write(run.stderr)
sys.exit(run.returncode)
