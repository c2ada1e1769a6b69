"""Wrong outputs of a decoder, each of which the judge must refuse: outputs that are changed, and exact ones of tensors that are a
little wrong, as code would be that forgets a decay or begins a sequence one token late."""

import copy

import numpy as np

GATES = {"decay": ("g", "log_decay"), "write": ("w",), "erase": ("beta",), "alibi": ("slope",)}


def of_outputs(outputs):
    """(name, outputs) each."""
    main = "y" if "y" in outputs else "o"
    array = outputs[main]
    one = array.copy()
    one.reshape(-1, one.shape[-1])[-1] = np.nan
    changes = {"zero": np.zeros_like(array), "negated": -array, "a row NaN": one, "a token late": np.roll(array, 1, axis=-2)}
    yield from ((name, outputs | {main: changed}) for name, changed in changes.items())
    for name, array in outputs.items():
        if name.endswith("final_state.s"):
            yield "a state twice", outputs | {name: 2 * array}
        if name.endswith("position"):
            yield "a position late", outputs | {name: array + 1}
        if name == "lse":
            yield "lse of twice as much", outputs | {name: array + np.log(2).astype(array.dtype)}


def of_tensors(case, arrays):
    """(name, fields, arrays) of runs whose exact outputs are wrong."""
    for what, names in GATES.items():
        found = [name for name in arrays if name.split(".")[-1] in names]
        value = {"write": 1, "erase": 0.5}.get(what, 0)
        change = lambda array: np.full_like(array, 1) if what == "write" else array * value
        if found:
            yield f"{what} forgotten", case.fields, arrays | {name: change(arrays[name]) for name in found}
    if case.packed and not case.has_key_offsets and case.sequences > 1:
        yield "an offset late", case.fields, arrays | {"offsets": late(arrays["offsets"])}
    if "key_lengths" in arrays and arrays["key_lengths"].max() > 0:
        yield "a key too few", case.fields, arrays | {"key_lengths": np.maximum(arrays["key_lengths"] - 1, 0).astype(np.int32)}
    if "state.position" in arrays:
        yield "a position late", case.fields, arrays | {"state.position": arrays["state.position"] + 1}
        if states := [name for name in arrays if name.endswith("state.s")]:
            yield "an initial state forgotten", case.fields, arrays | {name: np.zeros_like(arrays[name]) for name in states}
    yield from of_fields(case, arrays)


def spoiled(what, arrays):
    """The tensors as a library would take them that forgets decays, or begins sequences a token late."""
    if what == "decay":
        return {name: 0 * array if name.split(".")[-1] in GATES["decay"] else array for name, array in arrays.items()}
    if what == "offset":
        return {name: late(array) if name in ("offsets", "key_offsets") else array for name, array in arrays.items()}
    return arrays


def late(offsets):
    """All but the first and the last one a token later."""
    return np.r_[0, np.minimum(offsets[1:-1] + 1, offsets[-1]), offsets[-1]].astype(np.int32)


def of_fields(case, arrays):
    def changed(name, change):
        fields = copy.deepcopy(case.fields)
        for m in [part["mechanism"] for part in fields.get("parts", [fields])]:
            change(m)
        return name, fields, arrays
    if any("last" in m.get("window", {}) for m in case.mechanisms()):
        yield changed("a window longer", lambda m: "last" in m.get("window", {}) and m["window"].update(last=m["window"]["last"] + 1))
    if any("softcap" in m for m in case.mechanisms()):
        yield changed("a cap forgotten", lambda m: m.pop("softcap", 0))
    if "rope" in case.fields:
        yield "rope forgotten", {name: value for name, value in case.fields.items() if name != "rope"}, arrays
