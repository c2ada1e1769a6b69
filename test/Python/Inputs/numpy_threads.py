"""Many threads at once."""

import threading
import time
import types
import unittest
from unittest import mock

import attune
import numpy as np
from attune import _native
from support import Spy, linear, performer, tokens

THREADS = 8


def together(work):
    """Runs work(i) in threads that start at the same time; what they returned, in order."""
    barrier, results = threading.Barrier(THREADS), [None] * THREADS

    def body(i):
        barrier.wait()
        results[i] = work(i)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class Threads(unittest.TestCase):
    def test_one_attention_serves_all(self):
        attend = attune.compile(linear())
        inputs = [tokens(64 + 13 * i, seed=i) for i in range(THREADS)]
        alone = [attend(**given) for given in inputs]
        for got in together(lambda i: [attend(**inputs[i]) for _ in range(20)]):
            for one in got:
                self.assertTrue(any(one.shape == a.shape and np.array_equal(one, a) for a in alone))
        for i, got in enumerate(together(lambda i: attend(**inputs[i]))):
            np.testing.assert_array_equal(got, alone[i])

    def test_parameters_of_a_call_are_its_own(self):
        attend, given = attune.compile(performer()), tokens()
        drawn = [attune.init(performer(), seed=i) for i in range(THREADS)]
        alone = [attend(**given, **parameters) for parameters in drawn]
        for i, got in enumerate(together(lambda i: [attend(**given, **drawn[i]) for _ in range(10)])):
            for one in got:
                np.testing.assert_array_equal(one, alone[i])

    def test_threads_compile_at_once(self):
        attends = together(lambda i: attune.compile(linear(attention="at_once"), threads=1))
        self.assertEqual(len({attend.library for attend in attends}), 1)

    def test_python_goes_on_while_the_library_works(self):
        """The library waits for a word that only another thread of Python can give."""
        spy, q = Spy(), np.zeros((2, 8), np.float32)
        spy.attention.prepare(omega=q)
        spy.waits().value = 1

        def release():
            while spy.runs().value == 0:
                time.sleep(0.001)
            spy.waits().value = 0

        thread = threading.Thread(target=release)
        thread.start()
        spy.attention(q=q, k=q)  # would fail after 20 seconds
        thread.join()


class FakeHandle:
    """Of a device that is not there: remembers what was done, slowly."""

    def __init__(self):
        self.done, self.slow = [], threading.Event()

    def prepare(self, row):
        self.slow.wait(0.05)
        self.done.append(("prepare", row))

    def workspace_bytes(self, views):
        self.slow.wait(0.05)
        return 0

    def run_in(self, views, start, size, stream):
        self.done.append(("run", views))


class Memory:
    def data_ptr(self):
        return 0


class FakeTorch:
    """What a call on a GPU asks of PyTorch."""

    uint8 = None
    cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=0))
    empty = staticmethod(lambda size, dtype, device: Memory())


class Devices(unittest.TestCase):
    def setUp(self):
        self.attend = attune.compile(performer())
        patch = mock.patch.object(self.attend, "_parameter_row", lambda given: given["omega"])
        patch.start()
        self.addCleanup(patch.stop)

    def test_parameters_of_a_call_on_a_gpu_are_its_own(self):
        handle = self.attend._handles[(2, 0)] = FakeHandle()
        framework, first = types.SimpleNamespace(torch=FakeTorch), types.SimpleNamespace(device=None)
        together(lambda i: self.attend._run_on_device((2, 0), framework, first, i, {"omega": i}))
        self.assertEqual(len(handle.done), 2 * THREADS)
        for (what, row), (then, views) in zip(handle.done[::2], handle.done[1::2]):
            self.assertEqual((what, then, row), ("prepare", "run", views))

    def test_a_device_that_is_opened_while_parameters_change(self):
        """The first handle is slow to take them; meanwhile another thread opens a second one."""
        first, second = FakeHandle(), FakeHandle()
        self.attend._handles = {(2, 0): first}
        self.attend._parameters, self.attend._ready = {"omega": "old"}, True
        with self.assertRaises(attune.CompileError):
            self.attend.backward  # which is asked for now, and not again while the library is a fake
        thread = threading.Thread(target=lambda: self.attend.prepare(omega="new"))
        with mock.patch.object(_native, "Handle", lambda *arguments: second):
            thread.start()
            time.sleep(0.01)
            self.attend._handle((2, 1))
            thread.join()
        self.assertEqual([first.done[-1], second.done[-1]], [("prepare", "new")] * 2)


if __name__ == "__main__":
    unittest.main()
