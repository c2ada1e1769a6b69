"""Many threads at once."""

import threading
import time
import unittest

import attune
import numpy as np
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


if __name__ == "__main__":
    unittest.main()
