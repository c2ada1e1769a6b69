"""ONNX models without the package: the messages of onnx.proto as bytes.

    onnx_file.py FILE KIND      writes one of the models below
"""

import pathlib
import struct
import sys


def varint(value):
    digits = [value >> shift & 0x7F for shift in range(0, max(value.bit_length(), 1), 7)]
    return bytes([*(digit | 0x80 for digit in digits[:-1]), digits[-1]])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, *content):
    joined = b"".join(content)
    return varint(field << 3 | 2) + varint(len(joined)) + joined


def text(field, value):
    return message(field, value.encode())


def attribute(name, value):
    if isinstance(value, str):
        stored = text(4, value) + number(20, 3)
    elif isinstance(value, float):
        stored = varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    else:
        stored = number(3, value) + number(20, 2)
    return message(5, text(1, name), stored)


def tensor(name, *shape, element=1):
    """An input; sizes of 0 are open."""
    sizes = b"".join(message(1, number(1, size) if size else text(2, "open")) for size in shape)
    return message(11, text(1, name), message(2, message(1, number(1, element), message(2, sizes))))


def node(operator, name, inputs, outputs, **attributes):
    return message(1, *(text(1, each) for each in inputs), *(text(2, each) for each in outputs), text(3, name), text(4, operator),
                   *(attribute(*each) for each in attributes.items()))


def model(*graph, opset=27):
    return number(1, 11) + message(8, number(2, opset)) + message(7, text(2, "graph"), *graph)


def linear(rule="gated_delta", gates=("decay", "beta"), **more):
    inputs = ["query", "key", "value", "past", *(gate if gate in gates else "" for gate in ("decay", "beta"))]
    return node("LinearAttention", "layers.0/mixer", inputs, ["output", "present"], q_num_heads=4, kv_num_heads=2, update_rule=rule, **more)


TENSORS = (tensor("query", 0, 0, 64), tensor("key", 0, 0, 32), tensor("value", 0, 0, 48), tensor("past", 0, 2, 16, 24),
           tensor("decay", 0, 0, 2), tensor("beta", 0, 0, 2))
EXACT = (node("Attention", "/layers.1/attention", ["q", "k", "v"], ["y"], is_causal=1, left_window_size=7, scale=0.25),
         tensor("q", 0, 4, 0, 16), tensor("k", 0, 2, 0, 16), tensor("v", 0, 2, 0, 16))
MODELS = {
    "linear": model(linear(), *TENSORS),
    "exact": model(*EXACT),
    "both": model(linear(), *TENSORS, *EXACT),
    "wrong_rule": model(linear("other"), *TENSORS),
    "wrong_decay": model(linear(), *TENSORS, tensor("decay", 0, 0, 3)),
    "old": model(*EXACT, opset=22),
    "uneven": model(*EXACT, tensor("k", 0, 3, 0, 16), tensor("v", 0, 3, 0, 16)),
    "broken": model(linear(), *TENSORS)[:-3],
}

if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_bytes(MODELS[sys.argv[2]])
