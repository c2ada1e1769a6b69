"""python3 -m attune.onnx MODEL [NODE]: prints the spec of a node, which `attnc compile` reads; sizes that the model does not state are
inferred, which `attnc import` leaves to its caller."""

import json
import sys

from .._errors import ArgumentError
from . import spec


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python3 -m attune.onnx MODEL [NODE]")
    try:
        print(json.dumps(spec(*sys.argv[1:]), indent=1))
    except ArgumentError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"{sys.argv[1]}: {error}")


main()
