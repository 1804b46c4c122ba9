"""Fills the folder that `chroma run` serves: `FOLDER SIZE TEXTS VECTORS`."""

import os
import sys

os.environ["ANONYMIZED_TELEMETRY"] = "False"

import chromadb
import numpy

DIMENSIONS, BATCH = 384, 1000
folder, size, texts, vectors = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
client = chromadb.PersistentClient(folder)
collection = client.create_collection(
    "memories", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
)
vectors = numpy.memmap(vectors, dtype=numpy.float32, mode="r").reshape(-1, DIMENSIONS)
with open(texts, encoding="utf-8") as lines:
    for first in range(0, size, BATCH):
        numbers = range(first, min(size, first + BATCH))
        documents = [next(lines).rstrip("\n") for _ in numbers]
        collection.add(ids=[str(n) for n in numbers], embeddings=numpy.array(vectors[first : first + BATCH]),
                       documents=documents)
print(chromadb.__version__)
