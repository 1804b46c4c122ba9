"""Lets a real, small and weak model be asked: the one of `smollm2.py`. What it says is of no matter; that it is taken in is.

Usage: llm_real.py BINARY ASKER, the example `ask_llm`. Prints a line for each check that fails, and ends with
`N passed, N failed`.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time

import extent
import smollm2

BINARY, ASKER = sys.argv[1:]
# A busy machine makes few tokens in a second.
PATIENCE = 240
SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "maxLength": 12}, "warm": {"type": "boolean"}},
    "required": ["colour", "warm"],
    "additionalProperties": False,
}
NOTE = {
    "name": "note",
    "description": "Notes a word.",
    "schema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
}
passed, failed = 0, 0


def check(name, holds, told=None):
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name}: {told}")


def asked(url, *prompts, **more):
    set_up = {"provider": "openai", "base_url": url, "model": "smollm2", "within_ms": PATIENCE * 1000, "max_tokens": 24, **more}
    lines = [json.dumps({**set_up, **prompt}) for prompt in prompts]
    run = subprocess.run([ASKER], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=4 * PATIENCE)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def said(text, **more):
    return {"messages": [{"role": "system", "text": "Be brief."}, {"role": "user", "text": text}], **more}


def basics(url):
    [words] = asked(url, said("What is the capital of France?"))
    check("it answers in words", bool(words.get("text")), words)
    check("it counts tokens", words.get("tokens_in", 0) > 10 and 0 < words.get("tokens_out", 0) <= 24, words)
    [cut] = asked(url, said("Tell a long story about a king.", max_tokens=5))
    check("it says that it was cut", cut.get("ended") == "length" and cut.get("tokens_out") == 5, cut)
    [unknown] = asked(url, said("Hello."), model="gpt")
    check("another model is unknown", unknown.get("error") == "llm_no_model", unknown)


def protocol(url):
    basics(url)
    [form] = asked(url, said("Name a colour.", answer=SCHEMA, max_tokens=60))
    try:
        fits = sorted(json.loads(form.get("text", ""))) == ["colour", "warm"]
    except ValueError:
        fits = False
    check("it keeps to a schema", fits, form)
    [tool] = asked(url, said("Call the tool note with the word tea.", tools=[NOTE], max_tokens=32))
    taken = "error" not in tool and (tool["text"] or tool["calls"])
    check("a tool may be offered to it", bool(taken), tool)
    check("calls are whole or an error of their own", all("arguments" in c or "garbled" in c for c in tool.get("calls", [])), tool)
    results = [
        *said("Which word was noted?")["messages"],
        {"role": "assistant", "text": "", "calls": [{"id": "7", "name": "note", "arguments": {"word": "tea"}}]},
        {"role": "tool", "id": "7", "name": "note", "text": "noted: tea"},
    ]
    [after] = asked(url, {"messages": results, "tools": [NOTE]})
    check("it is told what a tool gave back", "error" not in after, after)
    [large] = asked(url, said("word " * 6000))
    check("a prompt that is too long is told as such", large.get("error") in ["llm_prompt_too_large", "llm_refused"], large)
    [nowhere] = asked(url.removesuffix("/v1"), said("Hello."))
    check("an address without /v1 is a wrong one", nowhere.get("error") == "llm_wrong_address", nowhere)


def bad_json(url):
    [reply] = asked(url.replace("/v1", "/garbled/v1"), said("Say something about tea.", tools=[NOTE]))
    [call] = reply.get("calls") or [{}]
    check("arguments that are no JSON are an error of the call", "garbled" in call and "error" not in reply, reply)


def cancellation(url):
    begun = time.monotonic()
    long = said("Tell a long story about a king.", max_tokens=2000, within_ms=1000)
    late, again = asked(url, long, said("What is tea?"))
    check("an answer that takes too long is left", late.get("error") == "llm_timeout" and late["took_ms"] < 5000, late)
    check("the next one is answered", bool(again.get("text")), (again, time.monotonic() - begun))


def together(url):
    replies = []
    ask = lambda: replies.extend(asked(url, said("What is tea?", max_tokens=8)))
    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("several processes are answered at once", len(replies) == 3 and all(reply.get("text") for reply in replies), replies)


def commands(url):
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "TULVING_HOME": home, "TULVING_EMBEDDING_PROVIDER": "off", "TULVING_LLM_PROVIDER": "openai",
            "TULVING_LLM_BASE_URL": url, "TULVING_LLM_MODEL": "smollm2", "TULVING_LLM_TIMEOUT_SECONDS": "600",
        }
        run = lambda *args: subprocess.run([BINARY, *args, "--json"], env=environment, capture_output=True, text=True, timeout=660)
        told = run("llm", "test")
        report = json.loads(told.stdout or "{}")
        check("`tulving llm test` comes to its end", told.returncode == 0 and report.get("tools") in ["work", "garbled", "not_called"], told)
        check("and says what a weak model does", report.get("tools") == "work" or "tool" in told.stderr, told)
        usage = json.loads(run("usage").stdout)
        [row] = usage["usage"]
        check("what it cost is kept", row["tokens_in"] == report.get("tokens_in") and row["calls"] == 1, usage)


def main():
    server, url = smollm2.serve()
    try:
        # The model is slow: in the short form it answers twice.
        for checks in [protocol, bad_json, together, commands, cancellation] if extent.FULL else [basics]:
            checks(url)
    finally:
        server.shutdown()
    print(f"{passed} passed, {failed} failed", flush=True)
    # The model may still be telling its story.
    os._exit(1 if failed else 0)


main()
