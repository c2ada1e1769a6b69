"""A vision transformer that reads handwritten digits, trained from scratch on the images that scikit-learn carries, with compiled attention.

    pip install scikit-learn                                                              # beside the package attune and PyTorch: for its file of images
    python3 examples/training/image_classifier.py --attention elfatt --out elfatt.json
    python3 examples/training/image_classifier.py --plot curves.svg elfatt.json plain.json

    attention     what computes each layer's core
    exact         attune.torch.Softmax
    elfatt        half of the heads see the whole image by efficient attention, half see windows of 4 x 4 tokens exactly; LePE in both
    linformer     attune.torch.Linformer: keys and values compressed to a quarter of the tokens
    flurka        attune.torch.Flurka: elu + 1 over such keys and values
    plain         PyTorch's scaled_dot_product_attention, with the weights that `exact` has

The images are 8 x 8 pixels; they are enlarged to `--grid` pixels a side, of which each is a token, with its neighbours. The last fifth of them is held out.
Runs of one seed see the same images in the same order, and begin with the same weights but for those that one kind alone has: LePE's and E, which are learned
too. The loss is in nats an image: ln 10 = 2.30 by chance. The last line says loss and accuracy on images that no step has seen.
"""

import gzip
import importlib.util
import pathlib
import sys

import numpy as np
import torch
from curves import command, trained
from layers import Around, Own, blocks
from torch import nn
from torch.nn.functional import cross_entropy, interpolate, scaled_dot_product_attention

import attune
import attune.torch as at

DIGITS = 10
SIDE = 8 # of an image, in pixels
HELD_OUT = 1 / 5 # of the images, the last
WINDOW = 4 # tokens a side


def file_of_images():
    """The path of scikit-learn's file of images, or None where it is not installed. Nothing of it is imported: only this file is needed."""
    found = importlib.util.find_spec("sklearn")
    path = pathlib.Path(found.origin).parent / "datasets" / "data" / "digits.csv.gz" if found and found.origin else None
    return path if path and path.is_file() else None


def images(grid):
    """1797 images [images, 1, grid, grid], of mean 0 and variance 1 together, and their digits [images]."""
    path = file_of_images()
    if path is None:
        sys.exit("image_classifier: expected scikit-learn, whose file of handwritten digits is read, but it is not installed; pip install scikit-learn")
    with gzip.open(path, "rt") as file:
        table = torch.from_numpy(np.loadtxt(file, np.float32, delimiter=","))       # [images, 64 pixels and the digit]
    pixels = interpolate(table[:, :-1].unflatten(-1, (1, SIDE, SIDE)), (grid, grid), mode="bilinear")
    return (pixels - pixels.mean()) / pixels.std(), table[:, -1].long()


class Elfatt(nn.Module):
    """ELFATT's core of a grid of tokens."""

    def __init__(self, width, heads, grid, seed):
        super().__init__()
        self.spec = {"attention": "elfatt", "dtype": "f32", "batch": "?", "queries": grid * grid, "heads": heads, "head_dim": width // heads, "parts": [
            {"heads": heads // 2, "mechanism": {"kind": "effatt", "lepe": {"grid": [grid, grid]}}},
            {"heads": heads - heads // 2, "mechanism": {"kind": "softmax", "window": {"grid": [grid, grid], "size": [WINDOW, WINDOW]}, "lepe": {}}}]}
        drawn = attune.init(self.spec, seed=seed)
        self.lepe = nn.ParameterDict({name.replace(".", "_"): nn.Parameter(torch.from_numpy(weights)) for name, weights in drawn.items()})

    def forward(self, q, k, v):
        return at.attend(self.spec, q=q, k=k, v=v, **self.lepe)


def compressed(kind, width, heads, grid, seed, **more):
    return Own(kind(width, heads, rank=grid * grid // 4, keys=grid * grid, seed=seed, **more))


ATTENTION = {
    "exact": lambda width, heads, grid, seed: Own(at.Softmax(width, heads)),
    "elfatt": lambda width, heads, grid, seed: Around(width, heads, Elfatt(width, heads, grid, seed)),
    "linformer": lambda *sizes: compressed(at.Linformer, *sizes),
    "flurka": lambda *sizes: compressed(at.Flurka, *sizes, feature_map={"kind": "elu1"}),
    "plain": lambda width, heads, grid, seed: Around(width, heads, scaled_dot_product_attention),
}


class Encoder(nn.Module):
    def __init__(self, attention, layers, width, heads, grid, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.pixel, self.places, self.digit = nn.Conv2d(1, width, 3, padding=1), nn.Embedding(grid * grid, width), nn.Linear(width, DIGITS)
        nn.init.normal_(self.places.weight, std=0.5)
        self.blocks, self.last = blocks(layers, width, seed, lambda of_layer: ATTENTION[attention](width, heads, grid, of_layer)), nn.LayerNorm(width)

    def forward(self, pixels):
        x = self.pixel(pixels).flatten(2).transpose(1, 2) + self.places.weight      # [batch, tokens, width]
        return self.digit(self.last(self.blocks(x)).mean(1))                        # [batch, 10]


def train(args):
    pixels, digits = images(args.grid)
    cut = round(len(digits) * (1 - HELD_OUT))
    model = Encoder(args.attention, args.layers, args.width, args.heads, args.grid, args.seed)
    order = torch.Generator().manual_seed(args.seed)

    def next_loss():
        rows = torch.randint(cut, (args.batch,), generator=order)
        return cross_entropy(model(pixels[rows]), digits[rows])

    tokens = args.grid * args.grid
    run = trained(model, next_loss, args, args.batch * tokens)
    with torch.no_grad():
        scores = torch.cat([model(part) for part in pixels[cut:].split(args.batch)])
    return {**run, "images_per_second": run["tokens_per_second"] / tokens, "held_out": cross_entropy(scores, digits[cut:]).item(),
            "accuracy": (scores.argmax(-1) == digits[cut:]).float().mean().item()}


def told(run):
    return (f"on images not seen {run['held_out']:.3f}, {100 * run['accuracy']:.1f} % of them right; {run['images_per_second']:.0f} images, "
            f"{run['tokens_per_second']:.0f} tokens a second")


if __name__ == "__main__":
    command(__doc__.splitlines()[0], ATTENTION, {"layers": 3, "width": 64, "heads": 4, "grid": 16, "batch": 32, "steps": 600, "seed": 0, "rate": 2e-3},
            train, told, "loss, nats an image")
