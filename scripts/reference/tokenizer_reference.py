"""Tokenizers of the other kinds and what Python's library makes of texts and pairs, for test/adapters/onnx/tokenizer-parity.test.ts.

    pip install tokenizers sentencepiece protobuf
    python scripts/reference/tokenizer_reference.py

Trains on the generated texts of test/fixtures/tokenizer/texts.mjs, with the parts that published models have: `unigram` as XLM-R
(SentencePiece's nmt_nfkc rules as Precompiled normaliser, Metaspace), `byte-bpe` as RoBERTa and ModernBERT (byte-level BPE),
`fallback-bpe` as SentencePiece's BPE (bytes for what is unknown, no pre-tokenizer). `wordpiece` is that of tiny-bert-reranker.

Writes kinds/NAME.json.gz and kinds.json: for every text and every pair (heads of a text and the next one, the longer cut first) four base64
characters of SHA-256 over "truncated|id:start:end|…" (offsets in UTF-16 units) and over "id:type|…", and the first ids in clear.
"""

import base64
import gzip
import hashlib
import io
import json
import subprocess
from pathlib import Path

import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

MAX_TOKENS = 64
VOCABULARY = 2_000
KEPT_WHOLE = 80
# Words of many scripts; behind them are strings of random characters, which nothing can be learned from.
TRAINED_ON = 1_700
# Of each text of a pair: the reference keeps every combination of what it cut off, which fills gigabytes for longer ones.
PAIR_HEAD = 300
FOLDER = Path(__file__).resolve().parents[2] / "test" / "fixtures" / "tokenizer"


def unigram(texts):
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for text in texts for line in text.split("\n") if 0 < len(line) < 4_000]),
        model_writer=trained,
        vocab_size=VOCABULARY,
        model_type="unigram",
        normalization_rule_name="nmt_nfkc",
        character_coverage=0.98,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
        bos_id=0,
        pad_id=1,
        eos_id=2,
        unk_id=3,
    )
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(trained.getvalue())
    tokenizer = Tokenizer(models.Unigram([(piece.piece, piece.score) for piece in proto.pieces], unk_id=3))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap),
            normalizers.Replace(tokenizers.Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    return tokenizer


def byte_bpe(texts):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def fallback_bpe(texts):
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    # Bytes before training, so that they are in the vocabulary; they are made special for it only.
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=special, limit_alphabet=600, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    # As published: no pre-tokenizer, so that a whole text is one word, and no special bytes.
    whole = json.loads(tokenizer.to_str())
    whole["pre_tokenizer"] = None
    whole["added_tokens"] = [token for token in whole["added_tokens"] if token["content"] in special[:3]]
    tokenizer = Tokenizer.from_str(json.dumps(whole))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]
    )
    return tokenizer


def digest(line):
    return base64.b64encode(hashlib.sha256(line.encode()).digest()[:3]).decode()


def utf16(text):
    """Places of code points in UTF-16 units."""
    places, at = [], 0
    for character in text:
        places.append(at)
        at += 2 if ord(character) > 0xFFFF else 1
    return [*places, at]


def measure(tokenizer, texts):
    tokenizer.no_padding()
    tokenizer.no_truncation()
    lengths = [len(encoding.ids) for encoding in tokenizer.encode_batch(texts)]
    tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
    singles, encodings = [], tokenizer.encode_batch(texts)
    for text, encoding, length in zip(texts, encodings, lengths):
        places = utf16(text)
        rows = [f"{i}:{places[a]}:{places[b]}" for i, (a, b) in zip(encoding.ids, encoding.offsets)]
        singles.append(digest("|".join([str(int(length > MAX_TOKENS)), *rows])))
    pairs = [
        digest("|".join(f"{i}:{t}" for i, t in zip(encoding.ids, encoding.type_ids)))
        for encoding in (
            tokenizer.encode(a[:PAIR_HEAD], b[:PAIR_HEAD]) for a, b in zip(texts, texts[1:])
        )
    ]
    return {
        "truncated": sum(length > MAX_TOKENS for length in lengths),
        "distinctIds": len({i for encoding in encodings for i in encoding.ids}),
        "texts": "".join(singles),
        "pairs": "".join(pairs),
        "firstIds": [" ".join(map(str, encoding.ids[:12])) for encoding in encodings[:KEPT_WHOLE]],
    }


def main():
    printed = subprocess.run(["node", FOLDER / "texts.mjs"], check=True, capture_output=True).stdout
    texts = json.loads(printed)
    tiny = FOLDER.parent / "models" / "tiny-bert-reranker" / "tokenizer.json"
    kinds = {"wordpiece": Tokenizer.from_file(str(tiny))}
    for name, train in [("unigram", unigram), ("byte-bpe", byte_bpe), ("fallback-bpe", fallback_bpe)]:
        kinds[name] = train(texts[:TRAINED_ON])
        # mtime 0: the same bytes each time.
        text = kinds[name].to_str()
        (FOLDER / "kinds" / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
        # As it is read from the file: its scores have fewer digits than those in memory, which decide between equally likely pieces.
        kinds[name] = Tokenizer.from_str(text)
    out = {
        "reference": f"tokenizers {tokenizers.__version__}, sentencepiece {sentencepiece.__version__} (Python)",
        "textsSha256": hashlib.sha256(printed).hexdigest(),
        "texts": len(texts),
        "maxTokens": MAX_TOKENS,
        "pairHead": PAIR_HEAD,
        "kinds": {name: measure(tokenizer, texts) for name, tokenizer in kinds.items()},
    }
    (FOLDER / "kinds.json").write_text(json.dumps(out, indent=2, ensure_ascii=False) + "\n")
    for name, kind in out["kinds"].items():
        print(name, "truncated", kind["truncated"], "distinct ids", kind["distinctIds"])


main()
