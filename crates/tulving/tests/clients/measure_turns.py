"""Measures what a language model takes of turns that were labelled by hand, by the binary: the model of `smollm2.py`, or the one that the
environment names (TULVING_LLM_PROVIDER and the others).

Usage: measure_turns.py BINARY EVERY SET..., each a file of labelled turns, of which every so many-th one is taken. Each turn is logged in a home of its own. What rules read, since the
model gave no answer that can be used, is not counted as the model's. Which turns were wrong is not printed, so that nobody tunes to them.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

BINARY, EVERY, *SETS = sys.argv[1:]
OWN = "TULVING_LLM_PROVIDER" in os.environ


def run(home, settings, *args):
    # The weak model may take its time.
    environment = {**os.environ, **settings, "TULVING_HOME": home, "TULVING_EMBEDDING_PROVIDER": "off", "TULVING_LLM_TIMEOUT_SECONDS": "600"}
    done = subprocess.run([BINARY, *args, "--json"], env=environment, capture_output=True, text=True, timeout=660)
    assert done.returncode == 0, (args, done.stderr)
    return json.loads(done.stdout or "null")


def taken(settings, said):
    """What the model found in a turn: type, content and whether it waits for review; how much rules found in its place; and how often it was asked."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        run(home, settings, "turn", "log", "user", said)
        # A process of its own asks the model.
        while run(home, settings, "jobs")["jobs"]:
            time.sleep(0.2)
        kept = [(memory, False) for memory in run(home, settings, "list")["memories"]]
        kept += [(memory, True) for memory in run(home, settings, "review")["memories"]]
        rows = run(home, settings, "usage")["usage"]
    by_model = lambda memory: "by a language model" in (memory.get("source_note") or "")
    asked = sum(row["calls"] for row in rows if row["pass"] == "proactive")
    found = [(m["type"], m["content"], aside) for m, aside in kept if by_model(m)]
    return found, len(kept) - len(found), asked


def is_due(due, one):
    kind, content, aside = one
    return kind in due["types"] and aside == due.get("quarantine", False) and all(text in content for text in due["has"])


def measure(settings, path):
    turns = tomllib.loads(Path(path).read_text())["turn"][:: int(EVERY)]
    due = proposed = right = by_rules = asked = 0
    begun = time.monotonic()
    for turn in turns:
        found, rest, calls = taken(settings, turn["said"])
        wanted = turn.get("gives", [])
        due, proposed, by_rules, asked = due + len(wanted), proposed + len(found), by_rules + rest, asked + calls
        right += sum(any(is_due(one, kept) for kept in found) for one in wanted)
    share = lambda part, whole: f"{part / whole:.2f}" if whole else "-"
    took = (time.monotonic() - begun) / max(len(turns), 1)
    print(
        f"{Path(path).name}: {len(turns)} turns, {asked} calls, {took:.1f} s each; right {right} of {proposed} taken, of {due} due; "
        f"precision {share(right, proposed)}, recall {share(right, due)}; {by_rules} taken by rules where the model was of no use",
        flush=True,
    )


def main():
    settings, server = {}, None
    if not OWN:
        import smollm2

        server, url = smollm2.serve()
        settings = {"TULVING_LLM_PROVIDER": "openai", "TULVING_LLM_BASE_URL": url, "TULVING_LLM_MODEL": "smollm2", "TULVING_LLM_API_KEY": "none"}
    for path in SETS:
        measure(settings, path)
    os._exit(0)


main()
