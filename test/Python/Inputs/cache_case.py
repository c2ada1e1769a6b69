"""What the tests of the cache share."""

import os
import pathlib
import tempfile
import unittest
from unittest import mock

from attune import _compiler, cache


class CacheCase(unittest.TestCase):
    """Each test has a cache of its own, and a compiler that counts its compilations."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.counter = self.folder / "calls"
        self.counter.touch()
        self.compiler = self.counting_compiler("attnc")
        environment = {"ATTUNE_CACHE_DIR": str(self.folder / "cache"), "ATTUNE_ATTNC": str(self.compiler),
                       "ATTUNE_RUNTIME_ARCHIVE": str(_compiler.INSIDE.parents[1] / "lib" / "libattune_rt.a")}
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)

    def counting_compiler(self, name, remark=""):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n# {remark}\n[ \"$1\" = compile ] && echo call >> {self.counter}\n"
                        f"exec {_compiler.INSIDE} \"$@\"\n")
        path.chmod(0o755)
        return path

    def calls(self):
        return len(self.counter.read_text().splitlines())

    def entries(self):
        return cache.info().entries
