"""A decoder's loop in Python: a prompt in one call, then a token a call, with the state of examples/gated_delta_state.yaml in
place; the same outputs as of all tokens in one call.

    python3 examples/programs/decode.py            # with the package attune installed
"""

import pathlib
import time

import attune
import numpy as np

HEADS, PROMPT, TOKENS, WIDTH = 8, 300, 1300, 64

attend = attune.compile(pathlib.Path(__file__).parents[1] / "gated_delta_state.yaml")
random = np.random.default_rng(0)
q, k, v = random.standard_normal((3, 1, HEADS, TOKENS, WIDTH), np.float32)
g, beta = -0.1 * random.random((1, HEADS, TOKENS), np.float32), random.random((1, HEADS, TOKENS), np.float32)
state = {"state.s": np.zeros((1, HEADS, WIDTH, WIDTH), np.float32), "state.position": np.zeros(1, np.int32)}
final = {"final_" + name: array for name, array in state.items()}
o = np.empty_like(v)


def step(first, end):
    """Tokens first … end − 1, read and written where they lie; the state becomes that after them."""
    span = slice(first, end)
    attend(q=q[:, :, span], k=k[:, :, span], v=v[:, :, span], g=g[:, :, span], beta=beta[:, :, span], **state,
           out={"o": o[:, :, span], **final})


step(0, PROMPT)
start = time.perf_counter()
for t in range(PROMPT, TOKENS):
    step(t, t + 1)
took = time.perf_counter() - start
whole = attend(q=q, k=k, v=v, g=g, beta=beta)["o"]
difference = np.abs(o - whole).max()
print(f"{(TOKENS - PROMPT) / took:.0f} tokens a second of {HEADS} heads, after {state['state.position'][0]} tokens, with a state of "
      f"{state['state.s'].nbytes} bytes")
print(f"largest difference from one call for all tokens {difference:.1e}")
assert difference < 1e-4 and state["state.position"] == TOKENS
