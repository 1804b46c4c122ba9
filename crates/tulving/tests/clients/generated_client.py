"""Generates a Python client from `/openapi.json` with openapi-python-client and lets it save, recall, list, read and delete.

Usage: generated_client.py BINARY. Also checks that the description is valid OpenAPI 3.1, and that the client stays small: types that
operations share are described once. Prints a line for each check that fails, and ends with `N passed, N failed`.
"""

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from openapi_spec_validator import OpenAPIV31SpecValidator

BINARY = sys.argv[1]
ENVIRONMENT = {**os.environ, "TULVING_EMBEDDING_PROVIDER": "off"}
GENERATOR = Path(sys.executable).with_name("openapi-python-client")
# One file for each type. It was 734 when every place had a type of its own.
MOST_MODELS = 260
# What the generator cannot make: bodies and answers that are no JSON document.
NOT_GENERATED = {"POST /v1/load"}
passed, failed = 0, 0


def check(name, holds, told=None):
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name}: {told}")


def generated(folder, description):
    """The package that is made from a description."""
    (folder / "openapi.json").write_text(json.dumps(description))
    command = [GENERATOR, "generate", "--path", "openapi.json", "--meta", "none", "--output-path", "tulving_client"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    check("a client is generated", run.returncode == 0, run.stdout + run.stderr)
    left_out = set(re.findall(r"parsing (\w+ \S+) within \w+\. Endpoint will not be generated", run.stdout + run.stderr))
    check("every operation is generated", left_out == NOT_GENERATED, left_out)
    models = [path.name for path in (folder / "tulving_client" / "models").glob("*.py") if path.name != "__init__.py"]
    check("the client has few types", len(models) <= MOST_MODELS, len(models))
    numbered = [name for name in models if re.search(r"\d", name)]
    check("no type is told from another by a number", not numbered, numbered)
    print(f"the generated client has {len(models)} types")
    sys.path.insert(0, str(folder))
    return importlib.import_module("tulving_client")


def used(package, address, token):
    """Calls the operations that every program needs."""
    models = importlib.import_module("tulving_client.models")
    call = lambda group, name: importlib.import_module(f"tulving_client.api.{group}.{name}")
    client = package.AuthenticatedClient(base_url=address, token=token)
    content = "Deploys go through make ship"
    body = models.SaveMemoryRequest(content=content, type_=models.MemoryType.DECISION, tags=["deploy"])
    saved = call("memories", "save_memory").sync(client=client, body=body)
    check("a memory is saved", isinstance(saved, models.SaveResultResponse), saved)
    check("what was saved is a memory", saved.data.content == content and saved.data.type_ == "decision", saved)
    found = call("recall", "recall").sync(client=client, body=models.RecallRequest(query="how are deploys done?"))
    [hit] = found.data.memories
    check("it is found again", isinstance(hit, models.RecallHit) and hit.content == content, found)
    listed = call("memories", "list_memories").sync(client=client, types=[models.MemoryType.DECISION])
    [memory] = listed.data.memories
    check("it is listed", isinstance(memory, models.Memory) and memory.tags == ["deploy"], listed)
    read = call("memories", "get_memory").sync(memory.id, client=client)
    check("it is read", read.data == memory, read)
    gone = call("memories", "delete_memory").sync(memory.id, client=client)
    check("it is deleted", gone.data.deleted is True, gone)
    absent = call("memories", "get_memory").sync(memory.id, client=client)
    check("it is gone", isinstance(absent, models.Problem) and absent.code == "not_found", absent)
    wrong = call("memories", "save_memory").sync(client=client, body=models.SaveMemoryRequest(content=""))
    check("what is refused is a problem", isinstance(wrong, models.Problem) and wrong.status == 400, wrong)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        server = subprocess.Popen([BINARY, "--home", folder / "home", "serve", "--listen", "127.0.0.1:0"],
                                  stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        try:
            address = server.stdout.readline().split()[-1]
            token = (folder / "home" / "api-token").read_text().strip()
            description = json.load(urllib.request.urlopen(f"{address}/openapi.json", timeout=30))
            wrong = [error.message for error in OpenAPIV31SpecValidator(description).iter_errors()]
            check("the description is valid OpenAPI 3.1", not wrong, wrong)
            used(generated(folder, description), address, token)
        finally:
            server.send_signal(signal.SIGTERM)
            check("the server ends well", server.wait(30) == 0)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
