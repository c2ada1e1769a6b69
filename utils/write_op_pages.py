"""What the language server says of each op: a table in C++, from the pages that `mlir-tblgen -gen-op-doc` makes.

    write_op_pages.py OUT PAGE...     writes lines `{"attn.softmax", R"page(...)page"},` in the order of names
"""

import pathlib
import re
import sys

# Of use to those who write passes in C++, not to a reader of IR.
LEFT_OUT = re.compile(r"^(Traits|Interfaces|Effects): .*\n", re.MULTILINE)
ATTRIBUTE = re.compile(r"<tr><td><code>(\w+)</code></td><td>[^<]*</td><td>(.*?)</td></tr>", re.DOTALL)


def plain(body):
    """Editors show no HTML: attributes as a list, and the syntax behind the meaning."""
    body = LEFT_OUT.sub("", body)
    body = re.sub(r"<table>.*?</table>",
                  lambda table: "\n".join(f"* `{name}`: {what}" for name, what in ATTRIBUTE.findall(table[0])), body,
                  flags=re.DOTALL)
    syntax = re.search(r"Syntax:\n\n```\n.*?\n```\n", body, re.DOTALL)
    if syntax:
        body = body.replace(syntax[0], "") + "\n" + syntax[0]
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"^#### (.*)$", r"**\1**", body, flags=re.MULTILINE)).strip()


def pages(text):
    """Name and page of each op."""
    for section in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        name = re.match(r"`([\w.]+)` \(", title)
        if not name or not re.search(r"^_.+_$", body, re.MULTILINE):
            sys.exit(f"expected an op with a summary, but got {title}")
        yield name[1], f"**{name[1]}**\n\n{plain(body)}"


def main():
    out, *sources = map(pathlib.Path, sys.argv[1:])
    found = dict(page for source in sources for page in pages(source.read_text(encoding="utf-8")))
    out.write_text("".join(f'{{"{name}", R"page({page})page"}},\n' for name, page in sorted(found.items())),
                   encoding="utf-8")


if __name__ == "__main__":
    main()
