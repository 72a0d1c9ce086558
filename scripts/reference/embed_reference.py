"""Vectors of real models as Python computes them, for test/adapters/onnx/reference-vectors.test.ts.

    pip install tokenizers onnxruntime numpy
    python scripts/reference/embed_reference.py .cache/models > test/fixtures/reference/vectors.json

The steps are those of sentence-transformers: prefix, tokenize, run, mean over the tokens, unit length. One text a run, since
the models are dynamically quantised. Written apart from src/, so that both cannot share a mistake.
"""
import base64
import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

MODELS = {
    "all-MiniLM-L6-v2": {"query": "", "passage": "", "max_tokens": 256},
    "e5-small-v2": {"query": "query: ", "passage": "passage: ", "max_tokens": 512},
}
TEXTS = [
    "CVE-2021-44228 reported for a jar that holds only log4j-api",
    "Server-side HTTP/2 floods in netty do not apply to programs that never listen on a port.",
    "parse_header() relies on its caller for the bounds check; look at the call site first.",
    "Überweisungen über 10.000 € müssen gemeldet werden, nicht die darunter.",
    "合同第七条的违约金不适用于试用期。",
    "🙂 emoji, tabs\tand\nlines",
    "a",
    "word " * 700,
]


def embed(session, tokenizer, text, max_tokens):
    tokenizer.enable_truncation(max_tokens)
    ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
    feeds = {
        "input_ids": ids,
        "attention_mask": np.ones_like(ids),
        "token_type_ids": np.zeros_like(ids),
    }
    hidden = session.run(None, {i.name: feeds[i.name] for i in session.get_inputs()})[0][0]
    vector = hidden.mean(axis=0)
    return ids.shape[1], vector / np.linalg.norm(vector)


def main(folder):
    out = []
    for name, spec in MODELS.items():
        session = onnxruntime.InferenceSession(str(folder / name / "onnx" / "model.onnx"))
        tokenizer = Tokenizer.from_file(str(folder / name / "tokenizer.json"))
        tokenizer.no_padding()
        for at, text in enumerate(TEXTS):
            for kind in ("query", "passage"):
                tokens, vector = embed(session, tokenizer, spec[kind] + text, spec["max_tokens"])
                packed = np.rint(vector / np.abs(vector).max() * 127).astype(np.int8)
                row = {"model": name, "kind": kind, "text": at, "tokens": tokens}
                out.append({**row, "vectorInt8": base64.b64encode(packed.tobytes()).decode()})
    print(json.dumps({"texts": TEXTS, "vectors": out}, ensure_ascii=False, indent=1))


main(Path(sys.argv[1]))
