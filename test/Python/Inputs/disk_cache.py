"""The cache of compiled specs."""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import attune
from attune import _compiler, cache
from cache_case import CacheCase
from support import SOURCE, linear, tokens

PROCESSES = 8
ONE = """
import sys, attune, numpy as np
sys.stdin.readline()
attend = attune.compile({spec!r}, threads=1)
q = np.ones((1, 4, 8, 32), np.float32)
assert np.allclose(attend(q=q, k=q, v=q), 1, atol=1e-5)
"""


class Cache(CacheCase):
    def test_processes_that_compile_at_once_make_one_entry(self):
        program = ONE.format(spec=linear())
        processes = [subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE) for _ in range(PROCESSES)]
        for process in processes:  # all have started Python; now all compile
            process.stdin.write(b"go\n")
            process.stdin.flush()
        for process in processes:
            process.communicate()
            self.assertEqual(process.returncode, 0)
        self.assertEqual((self.entries(), self.calls()), (1, 1))
        self.assertEqual(list((cache.folder() / "tmp").iterdir()), [])

    def test_what_does_not_count_hits(self):
        text = ("attention: a\ndtype: f32\nbatch: '?'\nqueries: '?'   # open\nheads: 2\nhead_dim: 16\n"
                "mechanism: {kind: softmax}\n")
        attune.compile(text)
        attune.compile("# a comment with '\n\n" + text.replace("   # open", "").replace("\n", " \r\n"))
        path = self.folder / "a.yaml"
        path.write_text(text)
        attune.compile(path)
        attune.compile(str(path), threads=1)
        self.assertEqual((self.entries(), self.calls()), (1, 1))
        attune.compile(linear())
        attune.compile(dict(reversed(list(linear().items()))))
        self.assertEqual((self.entries(), self.calls()), (2, 2))

    def test_what_counts_misses(self):
        attune.compile(linear())
        attune.compile(linear(heads=2))
        attune.compile(linear(), target="cpu,sm_80")
        attune.compile(linear(), device="x86-64-avx2")
        self.assertEqual(self.entries(), 4)
        with mock.patch.object(_compiler, "host_cpu", lambda: "another"):
            attune.compile(linear())
        self.assertEqual(self.entries(), 5)
        os.environ["ATTUNE_ATTNC"] = str(self.counting_compiler("newer", "another version"))
        attune.compile(linear())
        self.assertEqual((self.entries(), self.calls()), (6, 6))

    def test_another_number_of_processors_misses(self):
        attune.compile(linear())
        with mock.patch.object(os, "sched_getaffinity", lambda process: set(range(7))):
            attune.compile(linear())  # prices assume 7 threads
            attune.compile(linear(), device="x86-64-avx2")
        attune.compile(linear(), device="x86-64-avx2")  # those of the device, wherever that is
        self.assertEqual((self.entries(), self.calls()), (3, 3))

    def test_another_assembler_misses(self):
        assembler = self.folder / "bin" / "ptxas"
        assembler.parent.mkdir()
        os.environ["CUDA_HOME"] = str(self.folder)
        for remark in ("first", "second"):
            assembler.write_text(f"#!/bin/sh\n# {remark}\necho no release\n")  # the library then holds PTX alone
            assembler.chmod(0o755)
            attune.compile(linear())
            attune.compile(linear(), target="sm_80")
            attune.compile(linear(), target="sm_80")
        self.assertEqual((self.entries(), self.calls()), (3, 3))

    def test_another_part_of_the_compiler_misses(self):
        """All that `attnc --version` names: here the linker, and libraries that lie elsewhere than beside the program."""
        parts = {name: self.folder / name for name in ("library", "linker", "runtime")}
        for name, path in parts.items():
            path.write_text("first")
        lines = "".join(f"{name}: {path}\\n" for name, path in parts.items())
        path = self.folder / "wrapped"
        path.write_text(f"#!/bin/sh\n[ $1 = --version ] && printf '{lines}' && exit\nexec {self.compiler} \"$@\"\n")
        path.chmod(0o755)
        os.environ["ATTUNE_ATTNC"] = str(path)
        for calls, name in enumerate([None, *parts], 1):
            if name:
                parts[name].write_text("second")
            attune.compile(linear())
            attune.compile(linear())
            self.assertEqual(self.calls(), calls, name)

    def test_the_compiler_names_its_parts(self):
        named = {fact: _compiler._named(_compiler.find(), (fact,)) for fact in _compiler.PARTS}
        for fact, paths in named.items():
            for path in paths:
                self.assertTrue(os.path.isfile(path), fact + path)
        self.assertTrue(all(named[fact] for fact in ("program: ", "linker: ", "runtime: ")), named)
        loaded = subprocess.run(["ldd", named["program: "][0]], capture_output=True, text=True, check=True).stdout
        wanted = {line.split()[0] for line in loaded.splitlines() if line.strip().startswith(("libLLVM", "libMLIR"))}
        self.assertEqual({os.path.basename(path) for path in named["library: "]}, wanted)

    def test_a_name_is_no_path(self):
        """A file of whatever content that is called as a device is."""
        attune.compile(linear(), device="x86-64-avx2")
        folder = os.getcwd()
        self.addCleanup(os.chdir, folder)
        os.chdir(self.folder)
        (self.folder / "x86-64-avx2").write_bytes(b"\xff")
        attune.compile(linear(), device="x86-64-avx2")
        self.assertEqual(self.calls(), 1)

    def test_a_description_counts_by_its_content(self):
        path = self.folder / "mine.yaml"
        source = next((SOURCE / "lib" / "Cost").rglob("x86-64-avx2.yaml"))
        for calls, text in ((1, source.read_text()), (2, source.read_text() + "# another\n")):
            path.write_text(text)
            attune.compile(linear(), device=str(path))
            attune.compile(linear(), device=str(path))
            self.assertEqual(self.calls(), calls)

    def test_a_size_that_is_none_is_said_before_anything_is_compiled(self):
        os.environ["ATTUNE_CACHE_SIZE"] = "1 GiB"
        for call in (lambda: attune.compile(linear()), cache.info):
            with self.assertRaisesRegex(attune.ArgumentError, "ATTUNE_CACHE_SIZE: expected a number of bytes, but got '1 GiB'"):
                call()
        self.assertEqual(self.calls(), 0)

    def test_a_field_twice_is_refused_although_the_last_is_known(self):
        attune.compile(linear(heads=2))
        text = json.dumps(linear(heads=2))
        twice = text.replace('"heads"', '"heads": 4, "heads"')
        for wrong in (twice, {**linear(heads=2), 1: 2, "1": 2}, text.replace('"kind"', '"kind": "softmax", "kind"')):
            with self.assertRaisesRegex(attune.SpecError, "once, but got it again"):
                attune.compile(wrong)

    def test_texts_that_read_otherwise_are_others(self):
        text = ("attention: a\ndtype: f32\nbatch: '?'\nqueries: '?'\nheads: 2\nhead_dim: 16\nmechanism: {kind: softmax}\n")
        attune.compile(text)
        for wrong in (text.replace("heads: 2\n", "heads: 2\x0c"), text.replace("f32\n", "'f32\n # '\n")):
            with self.assertRaises(attune.SpecError):
                attune.compile(wrong)

    def test_what_is_no_text_is_an_error_of_the_spec(self):
        for wrong in ("attention: \udc80\n", "a\0b.yaml", "{" * 100000):
            with self.assertRaises(attune.SpecError):
                attune.compile(wrong)

    def test_a_failure_leaves_nothing(self):
        for _ in range(2):
            with self.assertRaises(attune.SpecError):
                attune.compile(linear(heads=0))
        self.assertEqual((self.entries(), list((cache.folder() / "tmp").iterdir())), (0, []))

    def test_a_damaged_entry_is_made_again(self):
        library = attune.compile(linear()).library
        library.write_bytes(library.read_bytes()[:1000])
        attune.compile(linear())(**tokens(8))
        self.assertEqual((self.entries(), self.calls()), (1, 2))

    def test_clear_and_open_attentions(self):
        attend = attune.compile(linear())
        self.assertEqual(cache.clear(), 1)
        self.assertEqual(self.entries(), 0)
        attend(**tokens(8))
        attune.compile(linear())
        self.assertEqual((self.entries(), self.calls()), (1, 2))

    def test_what_was_used_least_recently_goes(self):
        first = attune.compile(linear(attention="first")).library.parent
        second = attune.compile(linear(attention="second")).library.parent
        os.utime(first, (1, 1))
        os.utime(second, (2, 2))
        attune.compile(linear(attention="first"))  # marks it used
        size = cache.info().bytes
        os.environ["ATTUNE_CACHE_SIZE"] = str(size + size // 4)
        third = attune.compile(linear(attention="third")).library.parent
        self.assertEqual([first.exists(), second.exists(), third.exists()], [True, False, True])

    def test_nobody_else_may_write(self):
        library = attune.compile(linear()).library
        for folder in (library.parent, cache.folder()):
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode) & 0o077, 0)

    def test_where_it_cannot_be_written(self):
        os.environ["ATTUNE_CACHE_DIR"] = str(self.counter / "below a file")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            attune.compile(linear())(**tokens(8))
        self.assertIn("set ATTUNE_CACHE_DIR", str(caught[0].message))


class Compiler(unittest.TestCase):
    def test_named_wrongly(self):
        with mock.patch.dict(os.environ, {"ATTUNE_ATTNC": "/nowhere/attnc"}):
            with self.assertRaisesRegex(attune.CompilerNotFoundError, "ATTUNE_ATTNC: expected the path of attnc"):
                attune.compile(linear())

    def test_not_there(self):
        nowhere = mock.patch.object(_compiler, "INSIDE", pathlib.Path("/nowhere"))
        with nowhere, mock.patch.dict(os.environ, {"PATH": ""}):
            with self.assertRaisesRegex(attune.CompilerNotFoundError, "expected the compiler attnc, but got none"):
                attune.compile(linear())

    def test_its_libraries_are_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "attnc"
            path.write_text("#!/bin/sh\necho 'error while loading shared libraries: libMLIR.so.22.1' >&2\nexit 127\n")
            path.chmod(0o755)
            with mock.patch.dict(os.environ, {"ATTUNE_ATTNC": str(path), "ATTUNE_CACHE_DIR": folder}):
                with self.assertRaisesRegex(attune.CompilerNotFoundError, "libmlir-22"):
                    attune.compile(linear())

    def test_it_makes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "attnc"
            path.write_text("#!/bin/sh\nexit 0\n")
            path.chmod(0o755)
            with mock.patch.dict(os.environ, {"ATTUNE_ATTNC": str(path), "ATTUNE_CACHE_DIR": folder}):
                with self.assertRaisesRegex(attune.CompileError, "expected the compiler to make one library, but got nothing"):
                    attune.compile(linear())

    def test_it_dies(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "attnc"
            path.write_text("#!/bin/sh\nkill -9 $$\n")
            path.chmod(0o755)
            with mock.patch.dict(os.environ, {"ATTUNE_ATTNC": str(path), "ATTUNE_CACHE_DIR": folder}):
                with self.assertRaisesRegex(attune.CompileError, "attnc compile ended with status -9"):
                    attune.compile(linear())


if __name__ == "__main__":
    unittest.main()
