"""Who may put code into the cache: planted, damaged and foreign entries, and where there can be no cache."""

import contextlib
import json
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest
import warnings
from unittest import mock

import attune
from attune import cache
from cache_case import CacheCase
from support import linear, tokens

# Says that it was loaded, whoever loads it and whatever becomes of it.
HOSTILE = '#include <fcntl.h>\n__attribute__((constructor)) static void loaded() { creat("%s", 0600); }\n'


class Trust(CacheCase):
    """Every call gives its result, by code that was compiled here."""

    def setUp(self):
        super().setUp()
        self.marker = self.folder / "loaded"
        self.hostile = self.folder / "hostile.so"
        source = self.folder / "hostile.c"
        source.write_text(HOSTILE % self.marker)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(self.hostile), str(source)], check=True)

    def compiled(self):
        """Warnings of a compilation whose attention works; the hostile library has not been loaded."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            attune.compile(linear())(**tokens(8))
        self.assertFalse(self.marker.exists(), "the planted library was loaded")
        return [str(each.message) for each in caught]

    def plant(self, entry):
        """Puts the hostile library into an entry, with a manifest that fits it in every format that there was."""
        library = next(entry.glob("lib*.so"))
        shutil.copyfile(self.hostile, library)
        manifest = entry / "entry.json"
        written = json.loads(manifest.read_text())
        digest = subprocess.run(["sha256sum", str(library)], capture_output=True, text=True, check=True).stdout.split()[0]
        written.setdefault("sha256", {})[library.name] = digest
        written["sizes"] = {}
        manifest.write_text(json.dumps(written))

    def entry(self):
        return attune.compile(linear()).library.parent

    # Folders that others may write.

    def test_a_planted_entry_where_others_may_write(self):
        self.plant(self.entry())
        for mode, said in ((0o777, "777; chmod go-w"), (0o770, "770; chmod go-w"), (0o1777, "1777; chmod go-w")):
            cache.folder().chmod(mode)
            with mock.patch.object(cache, "_substitute", None):
                message, = self.compiled()
            self.assertIn(said, message)
            self.assertIn("set ATTUNE_CACHE_DIR to a folder of yours", message)

    def test_a_level_above_that_others_may_write(self):
        above = self.folder / "above"
        os.environ["ATTUNE_CACHE_DIR"] = str(above / "cache")
        self.plant(self.entry())
        above.chmod(0o777)
        with mock.patch.object(cache, "_substitute", None):
            message, = self.compiled()
        self.assertIn(f"others may write {above}", message)

    def test_below_a_sticky_folder_there_is_a_cache(self):
        self.folder.chmod(0o1777)
        self.assertEqual(self.compiled() + self.compiled(), [])
        self.assertEqual((self.entries(), self.calls()), (1, 1))

    @contextlib.contextmanager
    def another_users(self):
        """The cache is that of somebody who is neither this user nor root."""
        with mock.patch.object(cache, "_substitute", None):
            if os.getuid() == 0:
                os.chown(cache.folder(), 12345, -1)
                yield
            else:
                with mock.patch.object(os, "geteuid", lambda: os.getuid() + 1):
                    yield

    def test_a_cache_of_another_user(self):
        self.plant(self.entry())
        with self.another_users(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with contextlib.suppress(attune.LibraryError):  # where what this process makes is not that user's either
                attune.compile(linear())
        self.assertIn("belongs to another user", str(caught[0].message))
        self.assertFalse(self.marker.exists())

    # Levels below that others may write.

    def test_a_level_below_that_others_may_write(self):
        entry = self.entry()
        for level in (entry.parents[1], entry.parent, cache.folder() / "tmp", cache.folder() / "locks"):
            cache.clear()
            level.chmod(0o777)
            calls = self.calls()
            with mock.patch.object(cache, "_substitute", None):
                message, = self.compiled()
                self.assertEqual(self.compiled(), [])
            self.assertIn(f"others may write {level} (mode 777; chmod go-w {level} changes that)", message)
            self.assertEqual(self.calls(), calls + 1)
            level.chmod(0o700)

    def test_what_lies_elsewhere_is_not_removed(self):
        """A level was writable by others once, or still is: links lead to what is dear to this user."""
        cache.folder().mkdir(mode=0o700)
        project = self.folder / "project"
        for mode in (0o777, 0o755):
            for name in ("v1", cache.VERSION):
                for link, at in (((name, "ab"), 1), ((name,), 0)):
                    (project / "letters" / "ab").mkdir(parents=True, exist_ok=True)
                    os.utime(project / "letters", (1, 1))
                    shutil.rmtree(cache.folder() / name, ignore_errors=True)
                    place = cache.folder().joinpath(*link)
                    place.parent.mkdir(exist_ok=True)
                    place.symlink_to(project)
                    if at:
                        place.parent.chmod(mode)
                    self.assertEqual((cache.info().entries, cache.clear()), (0, 0))
                    self.assertTrue((project / "letters" / "ab").exists())
                    place.unlink()

    def test_folders_left_over_elsewhere_are_not_removed(self):
        project = self.folder / "project"
        (project / "old").mkdir(parents=True)
        os.utime(project / "old", (1, 1))
        cache.folder().mkdir(mode=0o700)
        (cache.folder() / "tmp").symlink_to(project)
        with mock.patch.object(cache, "_substitute", None):
            message, = self.compiled()
        self.assertIn("tmp is no folder", message)
        self.assertTrue((project / "old").exists())

    # Caches that are only read.

    def test_what_a_cache_has_that_may_not_be_written(self):
        first = self.entry()
        access = os.access
        def refuses(path, mode):
            return access(path, mode) and not (mode & os.W_OK and path == cache.folder())
        with mock.patch.object(os, "access", refuses):
            self.assertEqual(self.entry(), first)
            with mock.patch.object(cache, "_substitute", None), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                attune.compile(linear(heads=2))
        self.assertIn(f"{cache.folder()} may not be written", str(caught[0].message))
        self.assertEqual(self.calls(), 2)

    @unittest.skipUnless(os.getuid() == 0, "only root can make files of root")
    def test_what_a_cache_of_root_has(self):
        first = self.entry()
        with mock.patch.object(os, "geteuid", lambda: 12345):
            self.assertEqual(self.compiled(), [])
            self.assertEqual(self.entry(), first)

    def test_a_link_to_the_cache_is_followed_once(self):
        link = self.folder / "link"
        link.symlink_to(self.folder / "cache")
        first = self.entry()
        os.environ["ATTUNE_CACHE_DIR"] = str(link)
        self.assertEqual(self.entry(), first)
        self.assertEqual(self.calls(), 1)

    # Entries that are not as they were written.

    def changed(self, change):
        """The entry after `change` is made again, and is then found."""
        entry = self.entry()
        change(entry)
        calls = self.calls()
        self.assertEqual(self.compiled(), [])
        self.assertEqual(self.calls(), calls + 1)
        self.assertEqual(self.compiled(), [])
        self.assertEqual(self.calls(), calls + 1)

    def test_an_empty_manifest(self):
        for text in ('{"sizes": {}}', '{"sha256": {}}', "{}", "[]", "", "null", '{"sizes": {}, "sha256": {}, "key": ""}'):
            def empty(entry):
                shutil.copyfile(self.hostile, next(entry.glob("lib*.so")))
                (entry / "entry.json").write_text(text)
            self.changed(empty)

    def test_a_byte_that_changed(self):
        def change(entry):
            library = next(entry.glob("lib*.so"))
            content = bytearray(library.read_bytes())
            content[-1] ^= 1
            library.write_bytes(content)
        self.changed(change)

    def test_a_second_library_or_another_file(self):
        self.changed(lambda entry: shutil.copyfile(self.hostile, entry / "liba.so"))
        self.changed(lambda entry: (entry / "more").touch())
        self.changed(lambda entry: next(entry.glob("*.h")).unlink())

    def test_an_entry_of_another_key(self):
        other = attune.compile(linear(heads=2)).library.parent

        def exchange(entry):
            shutil.rmtree(entry)
            shutil.copytree(other, entry)
        self.changed(exchange)

    def test_links_and_pipes(self):
        def link_library(entry):
            library = next(entry.glob("lib*.so"))
            library.unlink()
            library.symlink_to(self.hostile)

        def link_entry(entry):
            entry.rename(self.folder / "moved")
            entry.symlink_to(self.folder / "moved")

        def make_pipe(entry):
            library = next(entry.glob("lib*.so"))
            library.unlink()
            os.mkfifo(library)
        for change in (link_library, link_entry, make_pipe):
            self.changed(change)

    def test_files_that_others_may_write(self):
        self.changed(lambda entry: next(entry.glob("lib*.so")).chmod(0o666))
        self.changed(lambda entry: entry.chmod(0o777))

    # What is written, and removed.

    def test_new_folders_are_this_users_whatever_the_umask(self):
        os.environ["ATTUNE_CACHE_DIR"] = str(self.folder / "new" / "newer" / "cache")
        former = os.umask(0)
        try:
            entry = self.entry()
        finally:
            os.umask(former)
        for place in (self.folder / "new", self.folder / "new" / "newer", cache.folder(), entry, *entry.iterdir()):
            self.assertEqual(stat.S_IMODE(place.stat().st_mode) & 0o077, 0, place)

    def test_clear_does_not_leave_the_cache(self):
        dear = self.folder / "dear" / "ab" / "letters"
        dear.mkdir(parents=True)
        cache.folder().mkdir(mode=0o777)
        cache.folder().chmod(0o777)
        for version in {"v1", cache.VERSION}:
            (cache.folder() / version).symlink_to(self.folder / "dear")
        self.assertEqual((cache.info().entries, cache.clear()), (0, 0))
        self.assertTrue(dear.exists())

    def test_entries_of_former_versions_go(self):
        former = self.folder / "cache" / "v1" / "ab" / "former"
        former.mkdir(parents=True)
        self.assertEqual((cache.clear(), former.exists()), (1, False))

    # Without a cache.

    def test_a_disk_that_is_full(self):
        full = OSError(28, "No space left on device")
        fill, calls = cache._fill, []

        def fail_once(*arguments):
            calls.append(arguments)
            if len(calls) == 1:
                raise full
            fill(*arguments)
        with mock.patch.object(cache, "_substitute", None), mock.patch.object(cache, "_fill", fail_once):
            message, = self.compiled()
        self.assertIn("No space left on device", message)

    def test_no_home(self):
        for name in ("ATTUNE_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
            os.environ.pop(name, None)
        os.environ["XDG_CACHE_HOME"] = "relative"
        with mock.patch("pwd.getpwuid", side_effect=KeyError):
            self.assertTrue(cache.folder().is_relative_to("/nonexistent"))

    def test_names_that_are_hard_to_print(self):
        for name in ("with space", "with\nline", "wïth ünicode", "with 'quotes\" %s {0}"):
            os.environ["ATTUNE_CACHE_DIR"] = str(self.folder / name)
            self.assertEqual(self.compiled(), [])
        self.assertEqual(self.calls(), 4)

    def test_a_name_that_is_no_utf8(self):
        os.environ["ATTUNE_CACHE_DIR"] = os.fsdecode(os.fsencode(self.folder) + b"/\xff")
        with mock.patch.object(cache, "_substitute", None):
            message, = self.compiled()
        self.assertIn("its name is not UTF-8", message)

    def test_where_nothing_may_be_executed(self):
        noexec = self.folder / "noexec"
        noexec.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "none", str(noexec)], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("this user may not mount")
        self.addCleanup(subprocess.run, ["umount", "--lazy", str(noexec)], check=True)
        os.environ["ATTUNE_CACHE_DIR"] = str(noexec / "cache")
        with self.assertRaisesRegex(attune.LibraryError, "mounted noexec: set ATTUNE_CACHE_DIR to a folder on another one"):
            attune.compile(linear())

    def test_nowhere(self):
        shared = self.folder / "shared"
        shared.mkdir()
        shared.chmod(0o777)
        os.environ["ATTUNE_CACHE_DIR"] = str(shared)
        with mock.patch.object(cache, "_substitute", None), mock.patch.object(tempfile, "tempdir", str(shared)):
            with self.assertRaisesRegex(attune.LibraryError, "set TMPDIR to another"):
                attune.compile(linear())


if __name__ == "__main__":
    unittest.main()
