"""Speaks to attn-lsp-server as an editor does, and prints what it says on hovering over some words."""

import json
import subprocess
import sys

SHAPE = "tensor<1x2x8x4xf32>"
# The comment has a letter of two UTF-16 units before the op.
TEXT = f"""func.func @f(%q: {SHAPE}) -> {SHAPE} {{
  %o = attn.softmax %q, %q, %q {{scale = 0.5 : f64}} : {SHAPE}, {SHAPE}, {SHAPE} -> {SHAPE}
  %r = "attn.effatt"(%o, %q, %q) {{note = "𝜑", also = "attn.state"}} : ({SHAPE}, {SHAPE}, {SHAPE}) -> {SHAPE}
  %s = arith.addf %o, %r : {SHAPE}
  return %s : {SHAPE}
}}
"""
ADDRESS = "file:///tmp/hover.mlir"


class Server:
    def __init__(self):
        self.process = subprocess.Popen(["attn-lsp-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.asked = 0

    def send(self, method, params, **more):
        text = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}, ensure_ascii=False).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def receive(self):
        size = int(self.process.stdout.readline().split(b":")[1])
        self.process.stdout.readline()
        return json.loads(self.process.stdout.read(size))

    def ask(self, method, params):
        """The answer to a question; notifications before it are dropped."""
        self.asked += 1
        self.send(method, params, id=self.asked)
        while (message := self.receive()).get("id") != self.asked:
            pass
        return message["result"]

    def hover(self, line, word):
        units = self.text.splitlines()[line].partition(word)[0].encode("utf-16-le")
        place = {"line": line, "character": len(units) // 2 + 1}
        return self.ask("textDocument/hover", {"textDocument": {"uri": ADDRESS}, "position": place})

    def open(self, text):
        self.text = text
        self.send("textDocument/didOpen",
                  {"textDocument": {"uri": ADDRESS, "languageId": "mlir", "version": 1, "text": text}})

    def replace(self, old, new):
        """A change of one word, as an editor sends it: the range alone."""
        before, _, _ = self.text.partition(old)
        line, character = before.count("\n"), len(before) - before.rfind("\n") - 1
        where = {"start": {"line": line, "character": character},
                 "end": {"line": line, "character": character + len(old)}}
        self.send("textDocument/didChange", {"textDocument": {"uri": ADDRESS, "version": 2},
                                             "contentChanges": [{"range": where, "text": new}]})
        self.text = self.text.replace(old, new, 1)


def show(title, hover):
    print(f"== {title}\n{hover['contents']['value'] if hover else 'nothing'}")


server = Server()
server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
server.open(TEXT)
show("custom form", server.hover(1, "attn.softmax"))
show("generic form", server.hover(2, "attn.effatt"))
show("behind wide letters", server.hover(2, "attn.state"))
show("another dialect", server.hover(3, "arith.addf"))
show("a value", server.hover(1, "%q, %q, %q"))
server.replace("attn.softmax", "attn.kernel")
show("changed, and wrong", server.hover(1, "attn.kernel"))
server.send("textDocument/didClose", {"textDocument": {"uri": ADDRESS}})
server.ask("shutdown", None)
server.send("exit", None)
sys.exit(server.process.wait(60))
