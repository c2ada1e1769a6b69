"""Tensor files of which little lies on the disk: sparse.py FOLDER DESCR q=1,4,8,64 k=… [FILE.safetensors]

Each is as large as its header says; 4 TiB take a few KiB.
"""

import json
import math
import pathlib
import sys


def write_npy(path, descr, shape):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape},), }}\n"
    bytes_of = int(descr[2:]) * math.prod(map(int, shape.split(",")))
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header.encode())
        file.truncate(file.tell() + bytes_of)


def write_archive(path, shapes):
    header, end = {}, 0
    for name, shape in shapes:
        sizes = list(map(int, shape.split(",")))
        header[name] = {"dtype": "F32", "shape": sizes, "data_offsets": [end, end + 4 * math.prod(sizes)]}
        end += 4 * math.prod(sizes)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(file.tell() + end)


def main(folder, descr, *tensors):
    shapes = [tensor.split("=") for tensor in tensors]
    place = pathlib.Path(folder)
    if place.suffix == ".safetensors":
        return write_archive(place, shapes)
    place.mkdir(parents=True, exist_ok=True)
    for name, shape in shapes:
        write_npy(place / f"{name}.npy", descr, shape)


main(*sys.argv[1:])
