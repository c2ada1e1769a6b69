"""A decoder's tokens cut into runs that go on from one another, and their outputs put together again."""

import numpy as np

from decoder_rows import offsets_of

# The dimension of tokens: 1 of a layer's, 2 of heads'.
LAYER = ("x", "y", "context")


def is_state(name):
    return "state." in name


def is_of_tokens(name):
    return name in ("q", "k", "v", "o", "lse") + LAYER or name.split(".")[-1] in ("g", "beta", "w")


def axis(name):
    return 1 if name in LAYER else 2


def draw_cuts(choices, case, arrays):
    """Where the runs end but the last one, a row for each cut and an entry for each sequence; no cut is past an entry's length."""
    last = case.lengths if case.packed else np.minimum(case.lengths, arrays.get("key_lengths", case.lengths).min(initial=10 ** 9))
    def cut():
        share = choices.pick([0, 1, choices.rng.random(), choices.rng.random(), None])
        if share is None:
            return np.minimum(last, choices.pick([1, 16, 32, 33, 64]))
        places = (share * (last + 1)).astype(int) if not case.packed or choices.once(2) else (choices.rng.random(len(last)) * (last + 1)).astype(int)
        return np.minimum(places, last)
    return np.sort([cut() for _ in range(choices.pick([1, 1, 2, 3]))], axis=0)


def places_of(case, begin, end):
    """Of the tokens, along their dimension."""
    if not case.packed:
        return np.arange(begin[0], end[0])
    offsets = offsets_of(case.lengths)
    return np.concatenate([np.arange(offset + first, offset + last) for offset, first, last in zip(offsets, begin, end)])


def piece(case, arrays, begin, end):
    """The tensors of the tokens from `begin` to `end` of each sequence."""
    places, taken = places_of(case, begin, end), {}
    for name, array in arrays.items():
        if name == "key_lengths":
            array = np.clip(array - begin, 0, end - begin).astype(np.int32)
        elif name in ("offsets", "key_offsets"):
            array = offsets_of(end - begin)
        elif is_of_tokens(name):
            array = np.take(array, places, axis(name))
        taken[name] = array
    return taken


def going_on(outputs):
    return {name.replace("final_state.", "state."): array for name, array in outputs.items() if is_state(name)}


def run_in_pieces(case, arrays, cuts, run, short=0):
    """The outputs of run(arrays) of one piece after another, put together. `short`: states are those of so many tokens fewer, as a
    wrong run would leave them."""
    ends = [*cuts, case.lengths]
    begins, joined = [0 * case.lengths, *cuts], {}
    state = {name: array for name, array in arrays.items() if is_state(name)}
    tokens = {name: array for name, array in arrays.items() if not is_state(name)}
    for begin, end in zip(begins, ends):
        outputs = run(piece(case, tokens, begin, end) | state)
        if short:
            last = np.maximum(end - short, begin)
            state = going_on(run(piece(case, tokens, begin, last) | state)) | {"state.position": outputs["final_state.position"]}
        else:
            state = going_on(outputs)
        for name, array in outputs.items():
            if not is_of_tokens(name):
                joined[name] = array
                continue
            shape = list(array.shape)
            shape[axis(name)] = case.queries
            whole = joined.setdefault(name, np.full(shape, np.nan, array.dtype))
            whole[(slice(None),) * axis(name) + (places_of(case, begin, end),)] = array
    return joined
