"""Makes a folder with a multilingual model that is as small as can be: `model.onnx` and `tokenizer.json`.

Run it with the package `onnx`. A word in English, German or Chinese has the vector of its concept; all other pieces have the
zero vector. The inputs are those of the XLM-R family, and a vector has 768 dimensions (16, repeated).
"""

import json
from pathlib import Path

import numpy
from onnx import TensorProto, checker, helper, numpy_helper, save

here = Path(__file__).parent
CONCEPTS = [
    "meeting besprechung termin 会议",
    "moved verschoben postponed 改到",
    "takes place findet statt",
    "friday freitag 星期五",
    "marta 玛尔塔",
    "cannot keine not 不能",
    "eat eats verträgt isst 吃",
    "shellfish seafood meeresfrüchte 海鲜 贝类",
    "deploy deployment ausrollen 部署",
    "server rechner 服务器",
    "password passwort kennwort 密码",
    "holiday urlaub vacation 假期",
    "train zug 火车",
    "coffee kaffee 咖啡",
]
DIMENSIONS, REPEATS = 16, 48
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
OTHERS = ["▁", "▁query:", "▁passage:", "▁the", "▁was", "▁to", "▁on", "▁now", "▁die", "▁wurde", "▁auf", ".", "?", "。", "了", "!"]

pieces, rows = [[name, 0.0] for name in SPECIAL], []
ends = numpy.zeros(DIMENSIONS, dtype=numpy.float32)
# No text has the zero vector.
ends[DIMENSIONS - 1] = 0.05
rows += [ends, 0 * ends, ends, 0 * ends]
for name in OTHERS:
    pieces.append([name, -2.0])
    rows.append(0 * ends)
for at, words in enumerate(CONCEPTS):
    for word in words.split():
        vector = numpy.zeros(DIMENSIONS, dtype=numpy.float32)
        vector[at] = 1
        for piece in [word] if ord(word[0]) > 0x2E80 else ["▁" + word]:
            pieces.append([piece, -4.0])
            rows.append(vector)
# The letters, so that an unknown word becomes pieces and no unknown token.
for char in "abcdefghijklmnopqrstuvwxyzäöüß0123456789,;:'-":
    pieces.append([char, -9.0])
    rows.append(0 * ends)

names = ["input_ids", "attention_mask"]
graph = helper.make_graph(
    [
        helper.make_node("Gather", ["table", "input_ids"], ["small"]),
        helper.make_node("Tile", ["small", "repeats"], ["words"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "axes"], ["wide_mask"]),
        helper.make_node("Mul", ["words", "wide_mask"], ["last_hidden_state"]),
    ],
    "multilingual",
    [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "pieces"]) for name in names],
    [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["texts", "pieces", DIMENSIONS * REPEATS])],
    [
        numpy_helper.from_array(numpy.array(rows, dtype=numpy.float32), "table"),
        numpy_helper.from_array(numpy.array([1, 1, REPEATS], dtype=numpy.int64), "repeats"),
        numpy_helper.from_array(numpy.array([2], dtype=numpy.int64), "axes"),
    ],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
checker.check_model(model)
save(model, here / "model.onnx")

tokenizer = {
    "version": "1.0",
    "added_tokens": [{"id": at, "content": name, "special": True, "normalized": False} for at, name in enumerate(SPECIAL)],
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}]},
    "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "post_processor": {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "</s>"}}],
    },
    "model": {"type": "Unigram", "unk_id": 3, "vocab": pieces},
}
(here / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False).replace("], [", "],\n[") + "\n")
