"""bear_version.py IN FROM TO OUT: the bytecode of IN with the version of its first versioned dialect changed.

The version stands in a section of its own: the section's number 7, its length 1, and the version as a varint of one byte.
Dialects come before everything in which these bytes may stand for something else.
"""

import pathlib
import sys

source, old, new, out = sys.argv[1:]
section = [bytes([7, 1 << 1 | 1, int(version) << 1 | 1]) for version in (old, new)]
data = pathlib.Path(source).read_bytes()
if section[0] not in data:
    sys.exit(f"expected a dialect of version {old} in {source}, but got none")
pathlib.Path(out).write_bytes(data.replace(*section, 1))
