"""What the original model answers to `texts.json`, for the tests to compare with.

Run by `cargo xtask model --reference` in an environment with the package that the built-in model is made from; the first
argument is the folder of the model in it. Writes `vectors.f32` (a normalised vector for each sentence, 384 f32, little-endian)
and `pieces.json` (the ids of the word pieces of every text, sentences first).
"""

import json
import sys
from pathlib import Path

from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer

here = Path(__file__).parent
texts = json.loads((here / "texts.json").read_text())

model = SentenceTransformer(sys.argv[1], device="cpu")
vectors = model.encode(texts["sentences"], batch_size=1, normalize_embeddings=True, convert_to_numpy=True)
vectors.astype("<f4").tofile(here / "vectors.f32")

tokenizer = Tokenizer.from_file(str(Path(sys.argv[1]) / "tokenizer.json"))
tokenizer.no_padding()
tokenizer.enable_truncation(max_length=256)
pieces = [tokenizer.encode(text).ids for text in texts["sentences"] + texts["tricky"]]
(here / "pieces.json").write_text(json.dumps(pieces, separators=(",", ":")).replace("],[", "],\n[") + "\n")
