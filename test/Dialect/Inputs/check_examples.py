"""Checks that every op has an example in its description, and that the example stands in a test, word for word.

usage: check_examples.py FOLDER_OF_TD OPS_MLIR...

Lines of the test beyond those of the example may not come between them; indentation is free. Attributes stand within
lines, in any order.
"""

import pathlib
import re
import sys


def examples(td):
    """(name, lines) of each fenced example; (name, None) for an op without one."""
    text = td.read_text(encoding="utf-8")
    for definition in re.split(r"^(?=def |class )", text, flags=re.M):
        name = re.match(r"def (\w+)", definition)
        if not name or "summary =" not in definition:
            continue
        blocks = re.findall(r"```mlir\n(.*?)```", definition, flags=re.S)
        if not blocks and re.match(r"def \w+Op ", definition):
            yield name.group(1), None
        for block in blocks:
            yield name.group(1), [line.strip() for line in block.strip().splitlines()]


def stands_in(example, test):
    if all(line.startswith("#") for line in example):
        return all(any(line in tested for tested in test) for line in example)
    count = len(example)
    return any(test[start:start + count] == example for start in range(len(test) - count + 1))


def main():
    folder, tests = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    lines = [line.strip() for test in tests for line in test.read_text(encoding="utf-8").splitlines()]
    lines = [line for line in lines if not line.startswith("// CHECK")]
    found = failed = 0
    for td in sorted(folder.glob("*.td")):
        for name, example in examples(td):
            found += 1
            if example is None or not stands_in(example, lines):
                failed += 1
                print(f"{td.name}: {name}: " + ("no example" if example is None else "example not in " + ", ".join(test.name for test in tests)))
    print(f"{found} examples, {failed} missing")
    sys.exit(failed > 0 or not found)


main()
