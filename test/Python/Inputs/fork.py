"""What a child of a fork finds."""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import unittest
import warnings
from unittest import mock

import attune
import numpy as np
from attune import _lock, cache
from cache_case import CacheCase
from forked import SECONDS, Meanwhile, in_child, until
from support import Spy, linear, performer, tokens


class Calls(unittest.TestCase):
    def test_while_another_thread_runs(self):
        spy, q = Spy(), np.zeros((2, 8), np.float32)
        spy.attention.prepare(omega=q)
        spy.waits().value = 1
        thread = threading.Thread(target=lambda: spy.attention(q=q, k=q))
        thread.start()
        until(lambda: spy.runs().value)

        def call():
            spy.waits().value = 0
            spy.attention(q=q, k=q)
            spy.attention(q=q, k=q, omega=q)
            spy.attention.prepare(omega=q)
        status = in_child(call)
        spy.waits().value = 0
        thread.join()
        self.assertEqual(status, 0)

    def test_while_another_thread_opens_a_device(self):
        attend = attune.compile(linear())

        def call():
            attend._handles.clear()
            attend._cpu = None
            attend(**tokens(8))
        with Meanwhile(attend._making):
            self.assertEqual(in_child(call), 0)
        self.assertEqual(in_child(lambda: attend(**tokens(8))), 0)  # the lock is a lock again

    def test_while_other_threads_call(self):
        attend = attune.compile(performer(), parameters=attune.init(performer()))
        given, stop = tokens(300), threading.Event()
        right = attend(**given)

        def calls():
            while not stop.is_set():
                attend(**given)
        threads = [threading.Thread(target=calls) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(20):
                self.assertEqual(in_child(lambda: np.testing.assert_allclose(attend(**given), right, rtol=1e-5)), 0)
        finally:
            stop.set()
            for thread in threads:
                thread.join()


class Keys(unittest.TestCase):
    def test_programs_of_xla_know_an_attention_of_one_process_only(self):
        """The numbers that the child and the parent draw next."""
        first, attend = attune.compile(linear()), attune.compile(linear())
        first._cpu.xla_key()
        read, write = os.pipe()
        self.assertEqual(in_child(lambda: os.write(write, b"%d" % attend._cpu.xla_key())), 0)
        self.assertNotEqual(int(os.read(read, 40)), attend._cpu.xla_key())


class Child:
    """A child that was made inside of `context` and goes on after it."""

    def __init__(self, context):
        self.context = context

    def __enter__(self):
        self.read, self.write = os.pipe()
        with self.context:
            self.child = os.fork()
            if self.child == 0:
                os.close(self.write)
                os.read(self.read, 1)
                os._exit(0)

    def __exit__(self, *error):
        os.close(self.write)
        os.waitpid(self.child, 0)


class Caches(CacheCase):
    def lock(self):
        return self.folder / "lock"

    def taken_elsewhere(self):
        """Whether another process can take the lock at once."""
        return subprocess.run(["flock", "--nonblock", str(self.lock()), "true"], check=False).returncode == 0

    def test_a_child_does_not_keep_what_its_parent_gives_back(self):
        with Child(_lock.locked(self.lock())):
            self.assertTrue(self.taken_elsewhere())

    def test_a_child_that_outlives_its_parent_keeps_nothing(self):
        (ready, say_ready), (dies, end_parent), (goes, end_child) = os.pipe(), os.pipe(), os.pipe()
        parent = os.fork()
        if parent == 0:
            signal.alarm(SECONDS)
            os.close(end_parent), os.close(end_child)
            with _lock.locked(self.lock()):
                if os.fork() == 0:
                    signal.alarm(SECONDS)
                    os.write(say_ready, b".")
                    os.read(goes, 1)
                    os._exit(0)
                os.read(dies, 1)
                os._exit(0)  # while it holds the lock
        os.read(ready, 1)
        held = not self.taken_elsewhere()
        os.close(end_parent)
        os.waitpid(parent, 0)
        free = self.taken_elsewhere()
        os.close(end_child)
        self.assertEqual((held, free), (True, True))

    def test_a_lock_that_is_never_free(self):
        made = cache.folder() / "locks"
        made.mkdir(parents=True, mode=0o700)
        cache.folder().chmod(0o700)
        with contextlib.ExitStack() as stack, mock.patch.object(_lock, "MOST_SECONDS", 0.2):
            for name in range(256):
                stack.enter_context(_lock.locked(made / f"{name:02x}"))
            with mock.patch.object(cache, "_substitute", None), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                attune.compile(linear())(**tokens(8))
        message, = [str(each.message) for each in caught]
        self.assertRegex(message, r"another process has held the lock \S+/locks/[0-9a-f]{2} for 0.2 s")

    def test_a_child_makes_a_substitute_of_its_own(self):
        cache.folder().mkdir(mode=0o700)
        cache.folder().chmod(0o777)
        with mock.patch.object(cache, "_substitute", None), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first = attune.compile(linear()).library

            def another():
                assert attune.compile(linear()).library != first
                shutil.rmtree(cache._substitute)
            self.assertEqual(in_child(another), 0)


if __name__ == "__main__":
    unittest.main()
