#!/usr/bin/env python3
"""A memory backend of Tulving that keeps its memories in one JSON file.

It needs nothing but the standard library of Python 3.8 or later. The guide to writing one is docs/plugins.md;
config.toml sets it up:

    [[backends]]
    name = "notes"
    role = "primary"                  # or "secondary", which is only read
    command = ["python3", "/path/to/notes.py", "/path/to/notes.json"]

One request a line comes on standard input, one answer a line goes to standard output. Nothing else may be written
there: what is for people goes to standard error.
"""

import contextlib
import fcntl
import json
import os
import sys
import tempfile

PROTOCOL = 1
VERSION = "1.0"


class Refused(Exception):
    """Something that was asked cannot be done; the text is shown to who asked."""


class Notes:
    """All memories, by id, as Tulving gave them.

    Every process of Tulving starts a plugin of its own, so the file is read anew for each request, and a change is made
    under a lock.
    """

    def __init__(self, path):
        self.path = path
        self.memories = {}

    def read(self):
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.memories = json.load(file)

    @contextlib.contextmanager
    def changing(self):
        """Lets no other process change the file meanwhile, and writes what was changed."""
        with open(self.path + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.read()
            yield self.memories
            self.write()

    def write(self):
        """Replaces the file as a whole, so that a crash leaves the old one or the new one."""
        folder = os.path.dirname(os.path.abspath(self.path))
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
            json.dump(self.memories, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, self.path)

    def within(self, params):
        """The memories of the spaces that are asked about, newest first, as far as the filter means them.

        Tulving filters once more, so a filter may be left out here; then fewer than `limit` may remain.
        """
        wanted = params.get("filter", {})
        found = [
            memory
            for memory in self.memories.values()
            if memory["hub_id"] in params["hub_ids"]
            and (memory["boundary"] != "private" or memory["owner_id"] == params["viewer"])
            and ("key" not in wanted or memory.get("key") == wanted["key"])
            and ("source_path" not in wanted or memory.get("source_path") == wanted["source_path"])
            and ("types" not in wanted or memory["type"] in wanted["types"])
            and ("text" not in wanted or holds(memory, wanted["text"]))
        ]
        return sorted(found, key=place, reverse=True)


def place(memory):
    """Where a memory stands in the order of creation. Times are of one length, so they sort as text."""
    return (memory["created_at"], memory["id"])


def holds(memory, text):
    """Whether a memory holds a text as it is, in any case."""
    parts = [memory["content"], memory.get("title") or "", memory.get("key") or ""]
    return any(text.lower() in part.lower() for part in parts)


def words(text):
    """The words of a text, in small letters."""
    return {word.strip(".,;:!?\"'()").lower() for word in text.split()} - {""}


def describe(_notes, params):
    if params.get("protocol") != PROTOCOL:
        raise Refused("this plugin speaks protocol %d" % PROTOCOL)
    return {"protocol": PROTOCOL, "version": VERSION, "verbs": ["save", "recall", "get", "list", "forget"]}


def save(notes, params):
    memory = params["memory"]
    with notes.changing() as memories:
        memories[memory["id"]] = memory
    return {"id": memory["id"]}


def recall(notes, params):
    found = notes.within(params)
    query, mode = params.get("query") or "", params["mode"]
    if mode == "question":
        asked = words(query)
        scored = [(len(asked & words(memory["content"])) / max(len(asked), 1), memory) for memory in found]
        # Sorting is stable: of two that fit as well, the newer comes first.
        scored = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
        return {"memories": [dict(memory, score=score) for score, memory in scored[: params["limit"]]]}
    if mode == "text":
        found = [memory for memory in found if holds(memory, query)]
    if mode == "important":
        found = sorted(found, key=lambda memory: -memory["importance"])
    return {"memories": found[: params["limit"]]}


def get(notes, params):
    memory = notes.memories.get(params["id"])
    if memory is None or memory["hub_id"] not in params["hub_ids"]:
        return {"memory": None}
    return {"memory": memory}


def list_memories(notes, params):
    found = notes.within(params)
    if params["order"] == "oldest":
        found.reverse()
    after = params.get("after")
    if after is not None:
        begin = (after["created_at"], after["id"])
        if params["order"] == "oldest":
            found = [memory for memory in found if place(memory) > begin]
        else:
            found = [memory for memory in found if place(memory) < begin]
    return {"memories": found[: params["limit"]], "more": len(found) > params["limit"]}


def forget(notes, params):
    with notes.changing() as memories:
        memory = memories.get(params["id"])
        if memory is None or memory["hub_id"] != params["hub_id"]:
            return {"forgotten": False}
        del memories[params["id"]]
    return {"forgotten": True}


METHODS = {
    "describe": describe,
    "save": save,
    "recall": recall,
    "get": get,
    "list": list_memories,
    "forget": forget,
}


def answer(notes, request):
    """The answer to one request."""
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] == "close":
        reply["result"] = {}
        return reply
    method = METHODS.get(request["method"])
    if method is None:
        reply["error"] = {"code": -32601, "message": "there is no method " + request["method"]}
        return reply
    try:
        notes.read()
        reply["result"] = method(notes, request.get("params", {}))
    except (Refused, OSError) as error:
        reply["error"] = {"code": -32000, "message": str(error)}
    return reply


def main():
    notes = Notes(sys.argv[1] if len(sys.argv) > 1 else "notes.json")
    # The end of standard input is the end of Tulving, however that came about.
    for line in sys.stdin:
        request = json.loads(line)
        sys.stdout.write(json.dumps(answer(notes, request)) + "\n")
        sys.stdout.flush()
        if request["method"] == "close":
            return


if __name__ == "__main__":
    main()
