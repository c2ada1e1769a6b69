"""Of each spec's object code: every function that it calls and does not define is the runtime's or moves bytes."""

import pathlib
import re
import subprocess
import sys
import tempfile

# What a kernel would call if a function of its mathematics were not expanded (expf, exp2f, log1pf, cosf, fmaf, __extendhfsf2 …)
# is not among these, so it fails the test.
ALLOWED = re.compile(r"attune_rt_\w+|mem(cpy|set|move)")


def undefined(spec, folder):
    code = pathlib.Path(folder) / "code.o"
    subprocess.run(["attnc", "compile", spec, "--emit", "obj", "-o", code], check=True, capture_output=True)
    names = subprocess.run(["llvm-nm", "--undefined-only", "--format=just-symbols", code], check=True, capture_output=True,
                           text=True).stdout.split()
    assert any(name.startswith("attune_rt_") for name in names), f"{spec}: expected calls of the runtime, found {names}"
    return sorted(name for name in names if not ALLOWED.fullmatch(name))


def main():
    specs = sorted(path for argument in sys.argv[1:] for path in pathlib.Path(argument).glob("*.yaml"))
    with tempfile.TemporaryDirectory() as folder:
        found = {spec: names for spec in specs if (names := undefined(spec, folder))}
    for spec, names in found.items():
        print(f"{spec}: calls {', '.join(names)}")
    print(f"{len(specs)} specs, {len(found)} with calls")


main()
