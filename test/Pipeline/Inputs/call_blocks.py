"""Asks a library of softmax in blocks for its workspace at two lengths: call_blocks.py LIBRARY. Prints the status of each."""

import ctypes
import sys


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


class Tensors(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("tensor", ctypes.POINTER(Tensor) * 4)]


def tensor(length):
    shape = (ctypes.c_int64 * 4)(1, 2, length, 16)
    return Tensor(None, 1, 0, 4, 2, 32, 1, shape, None, 0)


library = ctypes.CDLL(sys.argv[1])
library.blocks_message.restype = ctypes.c_char_p
handle = ctypes.c_void_p()
assert library.blocks_create(None, ctypes.byref(handle)) == 0, library.blocks_message()
assert library.blocks_prepare(handle, None) == 0, library.blocks_message()
for length in (64, 33):
    each = tensor(length)
    tensors = Tensors(ctypes.sizeof(Tensors), (ctypes.POINTER(Tensor) * 4)(*[ctypes.pointer(each)] * 4))
    size = ctypes.c_size_t()
    status = library.blocks_workspace(handle, ctypes.byref(tensors), ctypes.byref(size))
    print(f"{length}: {status}", library.blocks_message().decode() if status else "")
library.blocks_destroy(handle)
