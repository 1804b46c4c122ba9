"""What `cargo xtask bench recall` compares with. Each peer gets the same texts, vectors, spaces and questions.

`NAME load SET FOLDER SIZE SECONDS` loads one and prints what that came to; what would take longer is given up.
`NAME serve SET FOLDER SIZE` answers questions, a line of JSON for each. Nobody embeds: vectors are given.

A memory's space is its number modulo 100. Asked without a space, a peer searches everything it has; sqlite-vec, whose
partitions must be chosen when a table is made, has one database for each layout. Each answer has ten texts.
"""

import json
import logging
import os
import sys
import time
from pathlib import Path

# Nobody calls home while being measured.
os.environ |= {"ANONYMIZED_TELEMETRY": "False", "MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}
# One thread for the runtimes that read these.
os.environ |= {"LANCE_CPU_THREADS": "1", "TOKIO_WORKER_THREADS": "1", "LANCEDB_LOG": "error"}

import numpy

logging.disable(logging.WARNING)

DIMENSIONS, SPACES, NEAREST, BATCH = 384, 100, 10, 1000
# How many each lane gives where we fuse them ourselves, and the constant of reciprocal rank fusion.
DEPTH, RANK = 100, 60


class NotReached(Exception):
    pass


def space(number):
    return f"space{number % SPACES:02}"


class Set:
    def __init__(self, folder: Path, size: int) -> None:
        self.folder, self.size = folder, size
        self.questions = json.loads((folder / "questions.json").read_text())
        self.asked = numpy.fromfile(folder / "questions.f32", dtype=numpy.float32).reshape(-1, DIMENSIONS)

    def batches(self, seconds):
        """Numbers, texts and vectors; gives up as soon as loading all would take longer than that."""
        vectors = numpy.memmap(self.folder / "vectors.f32", dtype=numpy.float32, mode="r").reshape(-1, DIMENSIONS)
        began = time.perf_counter()
        with open(self.folder / "texts.txt", encoding="utf-8") as texts:
            for first in range(0, self.size, BATCH):
                numbers = range(first, min(self.size, first + BATCH))
                yield numbers, [next(texts).rstrip("\n") for _ in numbers], numpy.array(vectors[first : first + BATCH])
                spent = time.perf_counter() - began
                if spent > 30 and spent * self.size / (first + BATCH) > seconds:
                    share = (first + BATCH) / self.size
                    raise NotReached(f"loading all would take {spent / share / 60:.0f} min or more")


class SqliteVec:
    """vec0 of sqlite-vec and FTS5 in one database, the best hundred of each fused by their ranks."""

    name = "sqlite-vec"
    columns = f"embedding float[{DIMENSIONS}] distance_metric=cosine"
    nearest_sql = "SELECT rowid FROM vectors WHERE embedding MATCH :vector AND k = :depth{}"

    def __init__(self, folder: Path) -> None:
        import pysqlite3
        import sqlite_vec

        self.folder, self.databases = folder, {}
        self.connect, self.extend = pysqlite3.connect, sqlite_vec.load
        self.version = f"{sqlite_vec.__version__} + FTS5 of SQLite {pysqlite3.sqlite_version}"

    def database(self, layout):
        if layout not in self.databases:
            database = self.connect(self.folder / f"{layout}.db")
            database.enable_load_extension(True)
            self.extend(database)
            self.databases[layout] = database
        return self.databases[layout]

    def load(self, memories, seconds):
        began = time.perf_counter()
        for layout in ("one", "spaces"):
            database = self.database(layout)
            partition = "space text partition key, " if layout == "spaces" else ""
            database.executescript(f"""
                PRAGMA journal_mode = WAL;
                CREATE TABLE memories (id INTEGER PRIMARY KEY, space TEXT NOT NULL, text TEXT NOT NULL);
                CREATE VIRTUAL TABLE vectors USING vec0({partition}{self.columns});
                CREATE VIRTUAL TABLE words USING fts5(text, space, content=memories, content_rowid=id,
                                                      tokenize='porter unicode61');
            """)
            for numbers, texts, vectors in memories.batches(seconds / 2):
                rows = [(n, space(n), text) for n, text in zip(numbers, texts)]
                with database:
                    database.executemany("INSERT INTO memories VALUES (?, ?, ?)", rows)
                    self.insert(database, layout, numbers, vectors)
                    database.executemany("INSERT INTO words (rowid, space, text) VALUES (?, ?, ?)", rows)
            with database:
                database.execute("INSERT INTO words (words) VALUES ('optimize')")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.close()
            if layout == "one":
                said = {"seconds": time.perf_counter() - began, "bytes": (self.folder / "one.db").stat().st_size}
        return said

    def insert(self, database, layout, numbers, vectors):
        if layout == "spaces":
            rows = [(n, space(n), vector.tobytes()) for n, vector in zip(numbers, vectors)]
            database.executemany("INSERT INTO vectors (rowid, space, embedding) VALUES (?, ?, ?)", rows)
        else:
            rows = [(n, vector.tobytes()) for n, vector in zip(numbers, vectors)]
            database.executemany("INSERT INTO vectors (rowid, embedding) VALUES (?, ?)", rows)

    def nearest(self, vector, within=None, count=NEAREST):
        database = self.database("one" if within is None else "spaces")
        sql = self.nearest_sql.format("" if within is None else " AND space = :space")
        values = {"vector": vector.tobytes(), "depth": count, "coarse": 4 * DEPTH, "space": within}
        return [row[0] for row in database.execute(sql, values)]

    def recall(self, question, vector, within):
        database = self.database("one" if within is None else "spaces")
        words = " OR ".join(f'"{word}"' for word in question.split())
        # The space is a term like others, which FTS5 is quicker with than with a condition on the row.
        match = f"text : ({words})" if within is None else f"space : {within} AND text : ({words})"
        sql = f"SELECT rowid FROM words WHERE words MATCH ? AND rank MATCH 'bm25(1.0, 0.0)' ORDER BY rank LIMIT {DEPTH}"
        lanes = [self.nearest(vector, within, DEPTH), [row[0] for row in database.execute(sql, (match,))]]
        scores = {}
        for lane in lanes:
            for rank, number in enumerate(lane, 1):
                scores[number] = scores.get(number, 0) + 1 / (RANK + rank)
        best = sorted(scores, key=scores.get, reverse=True)[:NEAREST]
        holes = ",".join("?" * len(best))
        return database.execute(f"SELECT id, text FROM memories WHERE id IN ({holes})", best).fetchall()


class SqliteVecBits(SqliteVec):
    """The same by sign bits: the 400 nearest by Hamming distance, ordered by the cosines of vectors in a plain table."""

    name = "sqlite-vec-bits"
    columns = f"coarse bit[{DIMENSIONS}]"
    nearest_sql = (
        "WITH near AS MATERIALIZED (SELECT rowid FROM vectors WHERE coarse MATCH vec_quantize_binary(:vector) "
        "AND k = :coarse{}) SELECT exact.id FROM near JOIN exact ON exact.id = near.rowid "
        "ORDER BY vec_distance_cosine(exact.embedding, :vector) LIMIT :depth"
    )

    def insert(self, database, layout, numbers, vectors):
        database.execute("CREATE TABLE IF NOT EXISTS exact (id INTEGER PRIMARY KEY, embedding BLOB NOT NULL)")
        rows = [{"n": n, "space": space(n), "vector": vector.tobytes()} for n, vector in zip(numbers, vectors)]
        column, value = (", space", ", :space") if layout == "spaces" else ("", "")
        database.executemany("INSERT INTO exact VALUES (:n, :vector)", rows)
        database.executemany(f"INSERT INTO vectors (rowid, coarse{column}) "
                             f"VALUES (:n, vec_quantize_binary(:vector){value})", rows)


class Chroma:
    """A collection on disk with given embeddings. It has no ranking by words, only a filter: vectors alone."""

    name = "chromadb"

    def __init__(self, folder: Path) -> None:
        import chromadb

        self.folder, self.collection, self.connect = folder, None, chromadb.PersistentClient
        self.version = f"{chromadb.__version__} (vectors only)"

    def open(self):
        if self.collection is None:
            client = self.connect(str(self.folder / "chroma"))
            space = {"hnsw": {"space": "cosine"}}
            self.collection = client.get_or_create_collection("memories", configuration=space, embedding_function=None)
        return self.collection

    def load(self, memories, seconds):
        for numbers, texts, vectors in memories.batches(seconds):
            self.open().add(ids=[str(n) for n in numbers], embeddings=vectors, documents=texts,
                            metadatas=[{"space": space(n)} for n in numbers])

    def nearest(self, vector):
        found = self.open().query(query_embeddings=[vector], n_results=NEAREST, include=[])
        return [int(number) for number in found["ids"][0]]

    def recall(self, question, vector, within):
        return self.open().query(query_embeddings=[vector], n_results=NEAREST, include=["documents", "distances"],
                                 where=None if within is None else {"space": within})["documents"][0]


class Lance:
    """Vectors and its own full-text index, its own hybrid query with reciprocal rank fusion, spaces by a bitmap index.

    From 100,000 on with its vector index, refined by exact distances; below, its documentation advises none.
    """

    name = "lancedb"

    def __init__(self, folder: Path) -> None:
        import lancedb
        from lancedb.rerankers import RRFReranker

        self.folder, self.table, self.reranker = folder, None, RRFReranker()
        self.connect, self.version = lancedb.connect, lancedb.__version__

    def open(self):
        if self.table is None:
            self.table = self.connect(str(self.folder / "lance")).open_table("memories")
        return self.table

    def load(self, memories, seconds):
        import pyarrow
        from lancedb.index import FTS, Bitmap, IvfPq

        database = self.connect(str(self.folder / "lance"))
        for numbers, texts, vectors in memories.batches(seconds):
            flat = pyarrow.array(vectors.reshape(-1))
            rows = pyarrow.table({"id": pyarrow.array(numbers, pyarrow.int64()), "text": texts,
                                  "space": [space(n) for n in numbers],
                                  "vector": pyarrow.FixedSizeListArray.from_arrays(flat, DIMENSIONS)})
            if self.table is None:
                self.table = database.create_table("memories", rows)
            else:
                self.table.add(rows)
        self.table.optimize()
        self.table.create_index("space", config=Bitmap())
        self.table.create_index("text", config=FTS())
        if memories.size >= 100_000:
            self.table.create_index("vector", config=IvfPq(distance_type="cosine"))

    def tuned(self, query):
        return query.distance_type("cosine").refine_factor(10)

    def nearest(self, vector):
        found = self.tuned(self.open().search(vector)).limit(NEAREST).select(["id"]).to_arrow()
        return found["id"].to_pylist()

    def recall(self, question, vector, within):
        query = self.tuned(self.open().search(query_type="hybrid").vector(vector).text(question))
        if within is not None:
            query = query.where(f"space = '{within}'", prefilter=True)
        found = query.rerank(self.reranker).limit(NEAREST).select(["id", "text"]).to_arrow()
        return found["text"].to_pylist()


class Mem0:
    """`Memory.search` over its default local store, Qdrant in a folder, with an embedder that says what is laid ready.

    Loaded as `add(infer=False)` stores, but many at a time. Its search by words needs a model from a hub that is
    not a package, so that it ranks by vectors alone. Everything has one user; the space is the agent.
    """

    name = "mem0"

    def __init__(self, folder: Path) -> None:
        import mem0
        from importlib.metadata import version

        self.folder, self.memory, self.ready = folder, None, None
        self.make = mem0.Memory.from_config
        self.version = f"{version('mem0ai')} with local Qdrant {version('qdrant-client')} (vectors only)"

    def open(self):
        if self.memory is None:
            store = {"provider": "qdrant", "config": {"path": str(self.folder / "qdrant"), "on_disk": True,
                                                      "embedding_model_dims": DIMENSIONS}}
            self.memory = self.make({"vector_store": store, "history_db_path": str(self.folder / "history.db")})
            self.memory.embedding_model = self
            self.memory.vector_store._bm25_encoder = False
        return self.memory

    def embed(self, text, act=None):
        return self.ready

    def embed_batch(self, texts, act=None):
        return [self.ready for _ in texts]

    def load(self, memories, seconds):
        import uuid

        for numbers, texts, vectors in memories.batches(seconds):
            payloads = [{"data": text, "text_lemmatized": text, "user_id": "user", "agent_id": space(n), "hash": str(n),
                         "created_at": "2025-01-01T00:00:00+00:00"} for n, text in zip(numbers, texts)]
            self.open().vector_store.insert(vectors.tolist(), payloads, [str(uuid.UUID(int=n)) for n in numbers])

    def nearest(self, vector):
        import uuid

        found = self.open().vector_store.search("", vector.tolist(), top_k=NEAREST)
        return [uuid.UUID(point.id).int for point in found]

    def recall(self, question, vector, within):
        self.ready = vector.tolist()
        filters = {"user_id": "user"} if within is None else {"agent_id": within}
        return self.open().search(question, filters=filters, top_k=NEAREST, threshold=0.0)["results"]


PEERS = {peer.name: peer for peer in (SqliteVec, SqliteVecBits, Chroma, Lance, Mem0)}


def load(peer, memories, folder, seconds):
    began = time.perf_counter()
    said = peer.load(memories, seconds)
    if said is None:
        files = (path for path in folder.rglob("*") if path.is_file())
        said = {"seconds": time.perf_counter() - began, "bytes": sum(path.stat().st_size for path in files)}
    return {"index_seconds": 0.0} | said


def row(peer, memories, asked):
    began, times = time.perf_counter(), []
    for number in range(asked["from"], asked["to"]):
        question = memories.questions[asked["row"]["words"]][number]
        within = None if asked["row"]["layout"] == "one" else space(memories.questions["spaces"][number])
        started = time.perf_counter()
        found = peer.recall(question, memories.asked[number], within)
        ended = time.perf_counter()
        assert len(found) == NEAREST, f"{len(found)} found"
        times.append((ended - started) * 1000)
        if ended - began > asked["seconds"]:
            break
    return times


def memory():
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    size = {name: int(fields[name].split()[0]) for name in ("RssAnon", "RssFile", "RssShmem")}
    return {"own": size["RssAnon"], "files": size["RssFile"] + size["RssShmem"]}


def main() -> None:
    name, act, set_folder, folder, size = sys.argv[1:6]
    peer, memories = PEERS[name](Path(folder)), Set(Path(set_folder), int(size))
    if act == "load":
        try:
            said = load(peer, memories, Path(folder), float(sys.argv[6]))
        except NotReached as why:
            said = {"seconds": 0.0, "index_seconds": 0.0, "bytes": 0, "not_reached": str(why)}
        print(json.dumps(said))
        return
    print(json.dumps(peer.version), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["ask"] == "open":
            answer = row(peer, memories, {"row": {"words": "common", "layout": "one"}, "from": 0, "to": 1, "seconds": 0})
            answer = answer[0] / 1000
        elif asked["ask"] == "row":
            answer = row(peer, memories, asked)
        elif asked["ask"] == "memory":
            answer = memory()
        else:
            answer = [peer.nearest(vector) for vector in memories.asked[: asked["count"]]]
        print(json.dumps(answer), flush=True)


main()
