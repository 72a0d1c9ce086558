"""Tiny models of real architectures with random weights, and what PyTorch makes of them, for test/adapters/onnx.

    pip install torch transformers onnx onnxscript
    python scripts/reference/tiny_models.py test/fixtures/models

Three cross-encoders (BERT with WordPiece and one logit; XLM-R with Unigram and one logit; ModernBERT, that is rotary positions
and local attention, with byte-level BPE and two logits) and two embedders (BERT with CLS pooling, XLM-R with mean pooling and
prompts), each as the directory that a publisher would upload, plus reference.json: token ids, logits and vectors by
transformers and tokenizers. Weights are scaled up, so that the numbers differ by more than rounding.
"""
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    ModernBertConfig,
    ModernBertForSequenceClassification,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
    XLMRobertaModel,
)

CORPUS = [
    "CVE-2021-44228 sits in log4j-core; log4j-api alone on the class path is not affected.",
    "Server-side HTTP/2 floods in netty do not apply to programs that never listen on a port.",
    "parse_header() relies on its caller for the bounds check; look at the call site before reporting it.",
    "A clause that limits liability to gross negligence is void towards consumers in Germany.",
    "Überweisungen über zehntausend Euro müssen der Bank gemeldet werden, andere nicht.",
    "Les remboursements de plus de trente jours suivent une autre règle que les échanges.",
    "合同第七条的违约金不适用于试用期内的解除。",
    "Пользователь может вернуть товар в течение четырнадцати дней.",
    "The reviewer said that the answer was wrong because the library is only used in tests.",
    "Invoices in Swiss francs are converted at the rate of the day of delivery, not of payment.",
]
QUERIES = [
    "log4j-api without log4j-core, is it affected?",
    "netty HTTP/2 flood in a desktop program",
    "违约金 试用期",
    "Überweisung melden",
    "",
    "bounds check " * 60,
]


def tokenizer_of(kind):
    if kind == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(
            vocab_size=500, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        )
        tokenizer.train_from_iterator(CORPUS, trainer)
        special = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=special
        )
        tokenizer.decoder = decoders.WordPiece()
    elif kind == "unigram":
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" {2,}", " ")])
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=500, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], unk_token="<unk>"
        )
        tokenizer.train_from_iterator(CORPUS, trainer)
        special = [(name, tokenizer.token_to_id(name)) for name in ("<s>", "</s>")]
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=special
        )
        tokenizer.decoder = decoders.Metaspace()
    else:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(
            vocab_size=600,
            special_tokens=["[PAD]", "[CLS]", "[SEP]", "[UNK]"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )
        tokenizer.train_from_iterator(CORPUS, trainer)
        special = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=special
        )
        tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


SIZE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}


def scaled(model):
    """Random weights of a fresh model give nearly equal outputs; eight times larger ones do not."""
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "norm" not in name.lower():
                weights.mul_(8)
    return model.eval()


class Outputs(torch.nn.Module):
    """Only tensors in, one tensor out: what ONNX files of publishers have."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *tensors):
        output = self.model(**dict(zip(self.names, tensors)), return_dict=True)
        return output.logits if hasattr(output, "logits") else output.last_hidden_state


def export(model, names, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    example = tuple(torch.ones((2, 7), dtype=torch.int64) for _ in names)
    axes = {name: {0: "batch", 1: "sequence"} for name in names}
    output = "logits" if hasattr(model, "classifier") else "last_hidden_state"
    torch.onnx.export(
        Outputs(model, names).eval(),
        example,
        str(path),
        input_names=names,
        output_names=[output],
        dynamic_axes={**axes, output: {0: "batch"} if output == "logits" else {0: "batch", 1: "sequence"}},
        opset_version=17,
        dynamo=False,
    )


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def inputs(encoding, names):
    fields = {
        "input_ids": encoding.ids,
        "attention_mask": encoding.attention_mask,
        "token_type_ids": encoding.type_ids,
    }
    return {name: torch.tensor([fields[name]]) for name in names}


def cross_encoder(folder, name, kind, model, names, max_tokens):
    torch.manual_seed(0)
    tokenizer = tokenizer_of(kind)
    config = model.config.to_dict()
    keep = ("architectures", "model_type", "hidden_size", "max_position_embeddings", "pad_token_id", "id2label")
    directory = folder / name
    write(directory / "config.json", {**{k: config.get(k) for k in keep}, "architectures": [type(model).__name__]})
    write(directory / "tokenizer_config.json", {"model_max_length": max_tokens})
    tokenizer.save(str(directory / "tokenizer.json"))
    export(model, names, directory / "onnx" / "model.onnx")
    tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    rows = []
    for query in QUERIES:
        for passage in [*CORPUS, "", "word " * 90]:
            encoding = tokenizer.encode(query, passage)
            with torch.no_grad():
                logits = model(**inputs(encoding, names)).logits[0].tolist()
            rows.append({"query": query, "passage": passage, "ids": encoding.ids, "logits": logits})
    return rows


def embedder(folder, name, kind, model, names, spec):
    tokenizer = tokenizer_of(kind)
    config = model.config.to_dict()
    directory = folder / name
    keep = ("model_type", "hidden_size", "max_position_embeddings", "pad_token_id")
    write(directory / "config.json", {**{k: config.get(k) for k in keep}, "architectures": [type(model).__name__]})
    kinds = ["Transformer", "Pooling", "Normalize"]
    prefix = "sentence_transformers.models."
    paths = ["", "1_Pooling", "2_Normalize"]
    write(directory / "modules.json", [{"idx": i, "name": str(i), "path": p, "type": prefix + k} for i, (p, k) in enumerate(zip(paths, kinds))])
    write(directory / "1_Pooling" / "config.json", {
        "word_embedding_dimension": 32,
        "pooling_mode_cls_token": spec["pooling"] == "cls",
        "pooling_mode_mean_tokens": spec["pooling"] == "mean",
        "pooling_mode_lasttoken": spec["pooling"] == "last",
    })
    write(directory / "sentence_bert_config.json", {"max_seq_length": spec["max_tokens"], "do_lower_case": False})
    write(directory / "config_sentence_transformers.json", {"prompts": spec["prompts"], "default_prompt_name": None})
    tokenizer.save(str(directory / "tokenizer.json"))
    export(model, names, directory / "onnx" / "model.onnx")
    tokenizer.enable_truncation(spec["max_tokens"])
    rows = []
    for kind_name, prompt in (("query", "query"), ("passage", "document")):
        for text in [*CORPUS, *QUERIES]:
            encoding = tokenizer.encode(spec["prompts"].get(prompt, "") + text)
            with torch.no_grad():
                hidden = model(**inputs(encoding, names)).last_hidden_state[0]
            pooled = {"cls": hidden[0], "mean": hidden.mean(0), "last": hidden[-1]}[spec["pooling"]]
            vector = (pooled / pooled.norm()).numpy().astype(np.float64)
            rows.append({"kind": kind_name, "text": text, "tokens": len(encoding.ids), "vector": [round(x, 6) for x in vector]})
    return rows


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(20)
    eager = {"attn_implementation": "eager"}
    three = ["input_ids", "attention_mask", "token_type_ids"]
    two = three[:2]
    bert = {**SIZE, "vocab_size": 500, "max_position_embeddings": 64, **eager}
    xlmr = {**SIZE, "vocab_size": 500, "max_position_embeddings": 66, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "type_vocab_size": 1, **eager}
    modern = {**SIZE, "vocab_size": 600, "max_position_embeddings": 64, "local_attention": 16, "global_attn_every_n_layers": 2, "pad_token_id": 0, "bos_token_id": 1, "cls_token_id": 1, "eos_token_id": 2, "sep_token_id": 2, **eager}
    reference = {
        "tiny-bert-reranker": cross_encoder(folder, "tiny-bert-reranker", "wordpiece", scaled(BertForSequenceClassification(BertConfig(**bert, num_labels=1))), three, 48),
        "tiny-xlmr-reranker": cross_encoder(folder, "tiny-xlmr-reranker", "unigram", scaled(XLMRobertaForSequenceClassification(XLMRobertaConfig(**xlmr, num_labels=1))), two, 48),
        "tiny-modernbert-reranker": cross_encoder(folder, "tiny-modernbert-reranker", "bpe", scaled(ModernBertForSequenceClassification(ModernBertConfig(**modern, num_labels=2))), two, 48),
        "tiny-bert-cls": embedder(folder, "tiny-bert-cls", "wordpiece", scaled(BertModel(BertConfig(**bert))), three, {"pooling": "cls", "max_tokens": 40, "prompts": {}}),
        "tiny-xlmr-mean": embedder(folder, "tiny-xlmr-mean", "unigram", scaled(XLMRobertaModel(XLMRobertaConfig(**xlmr))), two, {"pooling": "mean", "max_tokens": 40, "prompts": {"query": "query: ", "document": "passage: "}}),
    }
    (folder / "reference.json").write_text(json.dumps(reference, ensure_ascii=False, separators=(",", ":")) + "\n")


main(Path(sys.argv[1]))
