"""Makes `model.onnx`: a model of the BERT kind that is as small as can be. Run it with the package `onnx`.

The vector of a word piece is the row of its id in the table, plus the row of its type, times its mask.
"""

from pathlib import Path

import numpy
from onnx import TensorProto, checker, helper, numpy_helper, save

table = numpy.array([[0, 0], [1, 0], [0, 1], [3, 4], [-1, 0], [0, -2]], dtype=numpy.float32)
types = numpy.array([[0, 0], [9, 9]], dtype=numpy.float32)
axes = numpy.array([2], dtype=numpy.int64)
names = ["input_ids", "attention_mask", "token_type_ids"]
graph = helper.make_graph(
    [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("Gather", ["types", "token_type_ids"], ["kinds"]),
        helper.make_node("Add", ["words", "kinds"], ["sum"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "axes"], ["wide_mask"]),
        helper.make_node("Mul", ["sum", "wide_mask"], ["last_hidden_state"]),
    ],
    "small",
    [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "pieces"]) for name in names],
    [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["texts", "pieces", 2])],
    [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(types, "types"),
        numpy_helper.from_array(axes, "axes"),
    ],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
checker.check_model(model)
save(model, Path(__file__).parent / "model.onnx")
