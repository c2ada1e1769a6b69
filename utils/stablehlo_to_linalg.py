"""A program of StableHLO, text or a portable artifact, as linalg on tensors: what attn-raise reads.

    stablehlo_to_linalg.py FILE [-o FILE]

By the passes that JAX carries in jaxlib, so JAX is all that it takes. Of `jax.export`, `mlir_module()` is such a text and
`mlir_module_serialized` such an artifact.
"""

import argparse
import pathlib
import re
import sys

from jax.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

PASSES = "builtin.module(func.func(chlo-legalize-to-stablehlo),stablehlo-legalize-to-linalg,canonicalize,cse)"
BYTECODE = b"ML\xefR"


def to_linalg(program):
    """The text in linalg of a program, given as bytes."""
    with make_ir_context() as context:
        if program.startswith(BYTECODE):
            module = stablehlo.deserialize_portable_artifact(context, program)
        else:
            module = ir.Module.parse(program, context)
        stablehlo.register_stablehlo_passes()
        passmanager.PassManager.parse(PASSES).run(module.operation)
        # Notes of JAX's own, which nobody who reads linalg knows.
        text = re.sub(r"^(module .*?) attributes \{.*\} \{$", r"\1 {", str(module), flags=re.MULTILINE)
        return re.sub(r"\((tensor<[^()]*>) \{jax\.[^{}]*\}\)", r"\1", re.sub(r" \{jax\.[^{}]*\}(?!\))", "", text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("-o", dest="out", type=pathlib.Path, help="a file; without it the program is printed")
    args = parser.parse_args()
    try:
        text = to_linalg(args.file.read_bytes())
    except (OSError, ir.MLIRError) as error:
        sys.exit(f"{args.file}: expected a program of StableHLO, but got: {error}")
    if args.out:
        args.out.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
