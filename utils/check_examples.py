"""Reads the examples in the descriptions of ops and passes with attn-opt, so that they cannot drift from the ops.

An example names values that it does not define. Each is first defined after its use with a type that cannot be right, and
attn-opt then says which type the example means; with that, the definitions are put before it and all is verified.
"""

import argparse
import re
import subprocess
import sys

from generate_docs import pages

WRONG_TYPE = "none"
# Shown inside the examples of the ops that they end.
TERMINATORS = ("tile.yield", "tile.return")


def examples():
    """(title, code) of every example of ops and passes."""
    for _, text in pages():
        for section in re.split(r"^### ", text, flags=re.M)[1:]:
            title = section.split("\n", 1)[0]
            for code in re.findall(r"^```mlir\n(.*?)^```", section, re.S | re.M):
                if not code.lstrip().startswith(("#", *TERMINATORS)):
                    yield title, code


def undefined_values(code):
    """Values used but not defined as a result or as an argument of a block or function."""
    results = {name for line in re.findall(r"^\s*(%[\w, :%]+?)\s*=(?!=)", code, re.M)
               for name in re.findall(r"%\w+", line)}
    arguments = set(re.findall(r"(?<! of )(%\w+)\s*(?::\s*(?:memref|tensor|index)\S|=\s*%)", code)) if "{\n" in code else set()
    return [name for name in dict.fromkeys(re.findall(r"%[A-Za-z_]\w*|%\d+", code)) if name not in results | arguments]


def program(code, types, before):
    """The example as a module, its undefined values defined before or after it."""
    given = "\n".join(f'{name} = "given.value"() : () -> {kind}' for name, kind in types.items())
    body = f"{given}\n{code}" if before else f"{code}\n{given}"
    if re.match(r"\s*(func\.func|tile\.kernel)", code):
        return code
    if "tile." in code and "tile.launch" not in code:
        return f"tile.kernel @around() grid(batch, head, query_block) {{\n{body}\ntile.return\n}}"
    return body


def read(attn_opt, text):
    command = [attn_opt, "--allow-unregistered-dialect", "-o", "/dev/null"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def revealed(errors):
    """The value and the type that the parser says it was used with."""
    match = re.search(r"definition of SSA value '(%\w+)#0' has type.*?previously used here with type '(.*?)'\n", errors,
                      re.S)
    return match.groups() if match else None


def check(attn_opt, code, callee):
    """What attn-opt says against an example, or nothing."""
    types = {name: WRONG_TYPE for name in undefined_values(code)}
    prefix = callee if "@copy" in code and "tile.kernel" not in code else ""
    for _ in types:
        found = revealed(read(attn_opt, prefix + program(code, types, before=False)).stderr)
        if found is None:
            break
        types[found[0]] = found[1]
    return read(attn_opt, prefix + program(code, types, before=True)).stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attn-opt", default="attn-opt")
    args = parser.parse_args()
    found = list(examples())
    callee = next((code for _, code in found if "tile.kernel @copy" in code), "")
    failed = 0
    for title, code in found:
        errors = check(args.attn_opt, code, callee)
        if errors:
            failed += 1
            print(f"{title}:\n{code}{errors}")
    print(f"{len(found) - failed} of {len(found)} examples are read")
    sys.exit(failed > 0 or not found)


if __name__ == "__main__":
    main()
