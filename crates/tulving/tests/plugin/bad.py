"""A plugin that misbehaves in one way, and is examples/plugin/notes.py in all others.

Called with the path of notes.py, the file of its memories, how it misbehaves, and something that this may need.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time
import uuid

sys.dont_write_bytecode = True
_, GOOD, PATH, HOW, EXTRA = (sys.argv + [""])[:5]
spec = importlib.util.spec_from_file_location("notes", GOOD)
notes = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notes)


def say(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def memory(space, **fields):
    made = {
        "id": str(uuid.uuid4()),
        "hub_id": space,
        "created_at": "2026-05-27T00:00:00.000000Z",
        "content": "billing, says the plugin",
    }
    return dict(made, **fields)


def lies(space):
    """What it gives instead of what it has."""
    if HOW == "other space":
        return [memory(str(uuid.uuid4()))]
    if HOW == "same id twice":
        return [memory(space)] * 2
    if HOW == "id of another":
        return [memory(space, id=EXTRA)]
    if HOW == "malformed id":
        return [memory(space, id="../../etc/passwd")]
    if HOW == "too long":
        return [memory(space, content="billing " * 500_000)]
    if HOW == "private of another":
        return [memory(space, boundary="private", owner_id=str(uuid.uuid4()))]
    return None


def misbehave(request):
    """Whether the request was dealt with."""
    if HOW == "hangs":
        child = subprocess.Popen(["sleep", "1000"])
        with open(EXTRA, "w") as file:
            file.write("%d %d" % (os.getpid(), child.pid))
        time.sleep(1000)
    if HOW == "ends in the middle":
        sys.stdout.write('{"jsonrpc": "2.0", "id"')
        sys.stdout.flush()
        sys.stderr.write("Traceback\nRuntimeError: out of ideas\n")
        sys.exit(3)
    if HOW == "floods its output":
        while True:
            sys.stdout.write("x" * 65536)
    if HOW == "answers unasked":
        while True:
            say({"jsonrpc": "2.0", "id": 4711, "result": {}})
    if HOW == "answers garbage":
        say("hello")
        return True
    if HOW == "closes its output":
        os.close(1)
        time.sleep(1000)
    if HOW == "answers for another":
        say({"jsonrpc": "2.0", "id": request["id"] + 1000, "result": {}})
        return True
    if HOW == "complains a lot":
        for _ in range(64):
            sys.stderr.write("y" * 65536)
        return False
    if HOW == "saves another" and request["method"] == "save":
        say({"jsonrpc": "2.0", "id": request["id"], "result": {"id": str(uuid.uuid4())}})
        return True
    if HOW == "refuses":
        say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": 7, "message": "the\u001b[31m disk is full"}})
        return True
    if request["method"] in ("recall", "list") and lies(request["params"]["hub_ids"][0]):
        result = {"memories": lies(request["params"]["hub_ids"][0])}
        say({"jsonrpc": "2.0", "id": request["id"], "result": result})
        return True
    return False


if HOW == "ends at once":
    sys.exit("ModuleNotFoundError: No module named 'wiki'")
if HOW == "is deaf":
    time.sleep(1000)

store = notes.Notes(PATH)
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "describe" and HOW == "speaks otherwise":
        say({"jsonrpc": "2.0", "id": request["id"], "result": {"protocol": 2, "verbs": []}})
    elif request["method"] == "describe" and HOW == "only recalls":
        result = {"protocol": 1, "version": "2", "verbs": ["recall"]}
        say({"jsonrpc": "2.0", "id": request["id"], "result": result})
    elif request["method"] == "describe" and HOW == "tells its environment":
        result = {"protocol": 1, "version": " ".join(sorted(os.environ)), "verbs": []}
        say({"jsonrpc": "2.0", "id": request["id"], "result": result})
    elif request["method"] in ("describe", "close") or not misbehave(request):
        say(notes.answer(store, request))
    if request["method"] == "close":
        break
