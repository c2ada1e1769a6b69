"""Whether each of the files stands in a page as a block of code: stands_in.py PAGE FILE..."""

import pathlib
import sys

page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
count = 0
for name in sys.argv[2:]:
    text = pathlib.Path(name).read_text(encoding="utf-8")
    if text and f"```\n{text}```\n" in page:
        count += 1
    else:
        print(f"expected this block in the page, but did not find it:\n```\n{text}```")
print(f"{count} blocks stand in the page")
