"""Key lengths that change after a run has checked them: the host's parallel_for, which comes after the check and before the
work, writes numbers beyond the keys, and below 0. Keys and values end where memory does."""

import ctypes
import sys

import numpy as np

from library import Library, Options, opened

KEYS, PAGE = 200, 4096
BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32)
PARALLEL_FOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, BODY, ctypes.c_void_p)


def before_a_gap(array):
    """A copy that ends at a page which may not be read."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    pages = (array.nbytes + PAGE - 1) // PAGE * PAGE
    start = libc.mmap(None, pages + PAGE, 3, 0x22, -1, 0)
    assert libc.mprotect(start + pages, PAGE, 0) == 0
    memory = (ctypes.c_char * array.nbytes).from_address(start + pages - array.nbytes)
    copy = np.frombuffer(memory, array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Hosted(Library):
    """One whose work goes through `hook` to the calling thread."""

    def call(self, part, *arguments):
        if part == "create":
            options = Options(ctypes.sizeof(Options), 1, 2, 1, 0, ctypes.cast(self.hook, ctypes.c_void_p).value, None, None)
            arguments = (ctypes.byref(options), arguments[1])
        super().call(part, *arguments)


def main(folder):
    rng = np.random.default_rng(0)
    omega = rng.standard_normal((1, 512, 8), np.float32)
    q = rng.standard_normal((3, 1, KEYS, 8), np.float32)
    k, v = (before_a_gap(rng.standard_normal((3, 1, KEYS, 8), np.float32)) for _ in range(2))
    given, changed = np.array([KEYS, 17, 150], np.int32), np.array([2**31 - 1, -5, 10**6], np.int32)
    with opened(folder, "limits", "f32", {"omega": omega}) as library:
        expected = library(q, k, v, key_lengths=np.array([KEYS, 0, KEYS], np.int32))

    @PARALLEL_FOR
    def change(_, count, body, context):
        lengths[...] = changed
        for i in range(count):
            body(context, i)

    Hosted.hook = change
    lengths = given.copy()
    library = Hosted(folder, "limits", "f32", {"omega": omega})
    lengths[...] = given
    result = library(q, k, v, key_lengths=lengths)
    assert (lengths == changed).all(), "the library did not call back"
    assert np.array_equal(result, expected), "lengths beyond the keys are not taken for the keys"
    library.close()
    print("clamped")


main(sys.argv[1])
