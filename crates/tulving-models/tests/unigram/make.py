"""Makes `tokenizers.json`: Unigram tokenizers in variants, and the ids that the package `tokenizers` gives `texts.json`.

Run it with the packages `tokenizers` and `sentencepiece`; the argument is the `tokenizer.json` of a model with the vocabulary
of XLM-R, such as intfloat/multilingual-e5-small (MIT licence). That file has 17 MB. What it does to a text depends only on
the pieces and the rules whose characters the text has, so the fixture keeps those alone; `make.py` checks that each text
is cut into the same pieces as with the whole file. No text has a character of Unicode 12 or later, because `tokenizers` has
older tables for NFKC.
"""

import base64
import copy
import json
import struct
import sys
import tempfile
import unicodedata
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer

here = Path(__file__).parent
texts = json.loads((here / "texts.json").read_text())
whole = json.loads(Path(sys.argv[1]).read_text())
METASPACE = whole["pre_tokenizer"]
MAP, SPACES = whole["normalizer"]["normalizers"]


def rules(charsmap):
    """Every rule of a precompiled map: the characters and their replacement, both as text."""
    blob = base64.b64decode(charsmap)
    size = struct.unpack_from("<I", blob)[0]
    units = struct.unpack_from(f"<{size // 4}I", blob, 4)
    normalized = blob[4 + size :]
    offset = lambda unit: (unit >> 10) << ((unit & (1 << 9)) >> 6)
    found, waiting = {}, [(offset(units[0]), b"")]
    while waiting:
        node, prefix = waiting.pop()
        for byte in range(1, 256):
            at = node ^ byte
            if at < len(units) and units[at] & 0x800000FF == byte:
                child, key = at ^ offset(units[at]), prefix + bytes([byte])
                if units[at] >> 8 & 1:
                    value = units[child] & 0x7FFFFFFF
                    found[key.decode()] = normalized[value : normalized.index(0, value)].decode()
                waiting.append((child, key))
    return found


def compiled(kept):
    """A precompiled map of these rules, made by sentencepiece itself."""
    code = lambda text: " ".join(f"{ord(char):X}" for char in text)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        lines = [f"{code(old)}\t{code(new)}" for old, new in sorted(kept.items())]
        (folder / "rules.tsv").write_text("\n".join(lines) + "\n")
        (folder / "texts.txt").write_text("a b c d\n" * 9)
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "texts.txt"),
            model_prefix=str(folder / "m"),
            vocab_size=8,
            model_type="char",
            normalization_rule_tsv=str(folder / "rules.tsv"),
            minloglevel=9,
        )
        model = sentencepiece_model_pb2.ModelProto.FromString((folder / "m.model").read_bytes())
        return base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()


def variant(**parts):
    return {**small, **parts}


def encoded(file, all_texts):
    tokenizer = Tokenizer.from_str(json.dumps(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return [tokenizer.encode(text) for text in all_texts]


every = rules(MAP["precompiled_charsmap"])
in_texts = set("".join(texts))
kept_rules = {old: new for old, new in every.items() if set(old) <= in_texts}

forms = [text for text in texts]
forms += [unicodedata.normalize(form, text) for text in texts for form in ["NFC", "NFD", "NFKC", "NFKD"]]
forms += ["".join(char.lower() for char in text) for text in forms]
forms += ["".join(every.get(char, char) for char in text) for text in forms]
joined = "\n".join("▁" + form.replace(" ", "▁").replace("\n", "▁").replace("\t", "▁") for form in forms)
vocabulary = whole["model"]["vocab"]
special = {token["content"] for token in whole["added_tokens"]}
lowest = min(vocabulary, key=lambda piece: piece[1])
kept = [piece for piece in vocabulary if piece[0] in joined or piece[0] in special or piece == lowest]
ids = {piece: at for at, (piece, _) in enumerate(kept)}

small = copy.deepcopy({name: whole[name] for name in ["version", "added_tokens", "post_processor", "decoder"]})
for token in small["added_tokens"]:
    token["id"] = ids[token["content"]]
for name, token in small["post_processor"]["special_tokens"].items():
    token["ids"] = [ids[name]]
small["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": compiled(kept_rules)}
small["pre_tokenizer"] = METASPACE
small["model"] = {"type": "Unigram", "unk_id": ids["<unk>"], "vocab": kept}
smaller_map = small["normalizer"]
assert rules(smaller_map["precompiled_charsmap"]) == kept_rules

old, new = encoded(whole, texts), encoded(variant(normalizer={"type": "Sequence", "normalizers": [smaller_map, SPACES]}), texts)
for text, one, other in zip(texts, old, new):
    assert one.tokens == other.tokens, (text, one.tokens, other.tokens)

sequence = lambda *parts: {"type": "Sequence", "normalizers": list(parts)}
split = lambda *parts: {"type": "Sequence", "pretokenizers": list(parts)}
metaspace = lambda **parts: {"type": "Metaspace", "replacement": "▁", **parts}
strip = {"type": "Strip", "strip_left": False, "strip_right": True}
lstrip = copy.deepcopy(small["added_tokens"])
lstrip[-1]["lstrip"] = True
lstrip[0]["rstrip"] = True
template = copy.deepcopy(small["post_processor"])
template["single"] = template["single"][1:]
variants = {
    "multilingual-e5": {"normalizer": sequence(smaller_map, SPACES)},
    "paraphrase-multilingual": {"pre_tokenizer": split({"type": "WhitespaceSplit"}, metaspace(add_prefix_space=True))},
    "bge-m3": {
        "normalizer": sequence(smaller_map, strip, {**SPACES, "content": "▁"}),
        "pre_tokenizer": metaspace(prepend_scheme="always", split=True),
        "added_tokens": lstrip,
    },
    "nfkc": {"normalizer": sequence({"type": "NFKC"}, {"type": "Lowercase"}), "post_processor": template},
    "plain": {
        "normalizer": None,
        "pre_tokenizer": metaspace(prepend_scheme="first", split=False),
        "post_processor": {"type": "RobertaProcessing", "cls": ["<s>", ids["<s>"]], "sep": ["</s>", ids["</s>"]]},
    },
    "nfd": {
        "normalizer": sequence({"type": "NFD"}, {"type": "Replace", "pattern": {"String": "``"}, "content": '"'}, {"type": "Strip", "strip_left": True, "strip_right": True}),
        "pre_tokenizer": metaspace(prepend_scheme="never"),
    },
}
answers = {name: [one.ids for one in encoded(variant(**parts), texts)] for name, parts in variants.items()}
lines = lambda rows: "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows) + "\n]"
names = lambda rows: "{\n" + ",\n".join(f"{json.dumps(name)}: {row}" for name, row in rows) + "\n}"
compact = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
vocabulary = small["model"].pop("vocab")
(here / "tokenizers.json").write_text(
    names(
        [
            ("tokenizer", compact(small)),
            ("vocab", lines(vocabulary)),
            ("variants", names([(name, compact(parts)) for name, parts in variants.items()])),
            ("ids", names([(name, lines(rows)) for name, rows in answers.items()])),
        ]
    )
    + "\n"
)
print(len(kept), "pieces,", len(kept_rules), "rules,", len(texts), "texts,", len(variants), "variants")
