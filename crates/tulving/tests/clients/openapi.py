"""Lets schemathesis call every operation that `/openapi.json` describes, with data that fits the description and data that
does not, on a server of its own.

Usage: openapi.py BINARY. Ends with `N passed, N failed`: one for each operation that was called, and what is wrong.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import extent

BINARY = sys.argv[1]
ENVIRONMENT = {**os.environ, "TULVING_EMBEDDING_PROVIDER": "off"}
TOOL = Path(sys.executable).with_name("st")
# Streams that do not end, bodies that are not one JSON document, and protocols of their own: they have other tests.
OTHERS = "^/(mcp|v1/events/stream|v1/load|v1/dialects)"
# An operation that takes the caller's own token away is called last.
LAST = "revokeToken"
SETTINGS = f"""
[generation]
max-examples = {100 if extent.FULL else 8}

[checks]
# What depends on what is stored, such as a cursor, an id or a version, is refused although it fits its schema.
positive_data_acceptance.expected-statuses = [200, 201, 400, 404, 409, 412, 422]
"""


def called(folder, address, token, *selection):
    """Calls the selected operations; gives how many there were, and what was found."""
    (folder / "schemathesis.toml").write_text(SETTINGS)
    command = [TOOL, "run", f"{address}/openapi.json", "--header", f"Authorization: Bearer {token}", "--seed", "20261116",
               "--phases", "examples,coverage,fuzzing", "--no-color", "--continue-on-failure",
               "--exclude-path-regex", OTHERS, *selection]
    run = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=1200)
    tested = re.search(r"Tested: (\d+)", run.stdout)
    well = run.returncode == 0 and tested is not None
    if not well:
        print(run.stdout[-20000:], run.stderr[-2000:])
    return int(tested[1]) if tested else 0, well


def main():
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        server = subprocess.Popen([BINARY, "--home", home, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                                  text=True, env=ENVIRONMENT)
        address = server.stdout.readline().split()[-1]
        token = (home / "api-token").read_text().strip()
        passed = failed = 0
        for selection in (["--exclude-operation-id", LAST], ["--include-operation-id", LAST]):
            tested, well = called(Path(folder), address, token, *selection)
            passed += tested if well else 0
            failed += 0 if well else 1
        server.send_signal(signal.SIGTERM)
        failed += server.wait(30) != 0
        print(f"{passed} passed, {failed} failed")
        sys.exit(1 if failed else 0)


main()
