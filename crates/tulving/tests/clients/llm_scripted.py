"""Lets the language models be played by aimock, which others wrote: scripted tool calls of all three services, and injected faults.

Usage: llm_scripted.py BINARY ASKER, the example `ask_llm`. Prints a line for each check that fails, and ends with
`N passed, N failed`.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import npm

BINARY, ASKER = sys.argv[1:]
MOCK = "@copilotkit/aimock"
VERSION = "1.43.0"
KEY = "sk-of-the-script"

# What comes after the port in the address of each service.
SERVICES = {"openai": "/v1", "anthropic": "", "ollama": ""}

SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"], "additionalProperties": False}
# What the passes in the background are about.
SAID, ANSWERED = "I prefer Postgres on Hetzner, not RDS.", "Understood, Postgres on Hetzner it is."
NOTED = "User prefers Postgres on Hetzner, not RDS."
MOVED = "I moved to Graz last year."
FOUND = {"statement": "User moved to Graz last year", "type": "identity", "quote": "I moved to Graz last year", "instruction": False}
NOTE = {"name": "note", "description": "Notes a word.", "schema": SCHEMA}
FIXTURES = {
    "fixtures": [
        {"match": {"userMessage": "note tulving", "hasToolResult": True}, "response": {"content": "Noted."}},
        {
            "match": {"userMessage": "note tulving"},
            "response": {"toolCalls": [{"id": "call_t", "name": "note", "arguments": {"word": "tulving"}}]},
        },
        {
            "match": {"userMessage": "both at once"},
            "response": {
                "toolCalls": [
                    {"id": "call_a", "name": "note", "arguments": {"word": "a"}},
                    {"id": "call_b", "name": "unknown_tool", "arguments": {"path": "../../etc/passwd"}},
                ]
            },
        },
        {
            "match": {"userMessage": "Hetzner", "hasToolResult": True},
            "response": {
                "toolCalls": [
                    {"id": "call_r", "name": "remember", "arguments": {"content": NOTED}},
                    {"id": "call_w", "name": "remember", "arguments": {"content": NOTED, "path": "../../MEMORY.md"}},
                ]
            },
        },
        {
            "match": {"userMessage": "Hetzner"},
            "response": {"toolCalls": [{"id": "call_s", "name": "memory_search", "arguments": {"query": "postgres", "limit": 5}}]},
        },
        {"match": {"userMessage": "moved to Graz"}, "response": {"content": json.dumps({"memories": [FOUND]})}},
        {"match": {"userMessage": "just words"}, "response": {"content": "Words — ünïcödé 🦀."}},
        {"match": {"userMessage": "in a form"}, "response": {"content": '{"word": "form"}'}},
        {"match": {"userMessage": "until cut"}, "response": {"content": "and so", "finishReason": "length"}},
        {"match": {"userMessage": "Call the tool"}, "response": {"toolCalls": [{"name": "check", "arguments": {"word": "ready"}}]}},
        {
            "match": {"userMessage": "write elsewhere"},
            "response": {"toolCalls": [{"name": "write_file", "arguments": {"path": "../../api-token", "content": "mine"}}]},
        },
        {
            "match": {"userMessage": "saffron on Mondays"},
            "response": {"toolCalls": [{"name": "rewrite_memory", "arguments": {"content": "- Saffron is bought on Mondays"}}]},
        },
        {
            "match": {"userMessage": "too often"},
            "response": {"error": {"message": "Rate limit exceeded", "type": "rate_limit_error"}, "status": 429},
        },
        {
            "match": {"userMessage": "no such model"},
            "response": {"error": {"message": "The model does not exist", "code": "model_not_found"}, "status": 404},
        },
    ]
}
passed, failed = 0, 0


def check(name, holds, told=None):
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name}: {told}")


@contextmanager
def mocked(*flags, key=None):
    """aimock with the script; gives its address."""
    with tempfile.TemporaryDirectory() as folder:
        fixtures = Path(folder) / "fixtures.json"
        fixtures.write_text(json.dumps(FIXTURES))
        environment = {**npm.ENVIRONMENT, **({"AIMOCK_API_KEYS": key} if key else {})}
        command = [npm.NODE, npm.installed(MOCK, VERSION) / "dist" / "cli.js", "-p", "0", "-f", fixtures, "--strict", *flags]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        try:
            said = ""
            for line in server.stdout:
                said += line
                if "http://" in line:
                    break
            assert "http://" in said, said
            # What it says further is nobody's concern, but must not fill the pipe.
            threading.Thread(target=server.stdout.read, daemon=True).start()
            yield "http://" + said.split("http://")[1].split()[0].rstrip("/.,")
        finally:
            server.terminate()
            server.wait(10)


def asked(service, url, *prompts, **more):
    """What the service answers to prompts, one after the other."""
    set_up = {"provider": service, "base_url": url + SERVICES[service], "model": "scripted", "key": KEY, **more}
    lines = []
    for prompt in prompts:
        prompt = {"messages": [{"role": "user", "text": prompt}]} if isinstance(prompt, str) else prompt
        lines.append(json.dumps({**set_up, **prompt}))
    run = subprocess.run([ASKER], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def heard(url):
    """How many requests it has heard."""
    with urllib.request.urlopen(f"{url}/__aimock/journal") as answer:
        return len([entry for entry in json.load(answer) if not entry["path"].startswith("/__aimock")])


def script(service, url):
    """Tools, words, forms and ends."""
    begin = [{"role": "system", "text": "Be brief."}, {"role": "user", "text": "note tulving"}]
    [first] = asked(service, url, {"messages": begin, "tools": [NOTE]})
    calls = first.get("calls", [])
    check(f"{service} calls a tool", [(call["name"], call.get("arguments")) for call in calls] == [("note", {"word": "tulving"})], first)
    check(f"{service} says that it calls one", first.get("ended") == "tool_calls", first)
    results = [{"role": "tool", "id": call["id"], "name": call["name"], "text": "done"} for call in calls]
    said = {"role": "assistant", "text": first.get("text", ""), "calls": calls}
    [second] = asked(service, url, {"messages": [*begin, said, *results], "tools": [NOTE]})
    check(f"{service} is told what the tool gave back", second.get("text") == "Noted.", second)

    [both] = asked(service, url, {"messages": [{"role": "user", "text": "both at once"}], "tools": [NOTE]})
    names = [call["name"] for call in both.get("calls", [])]
    check(f"{service} calls two, also one that was not offered", names == ["note", "unknown_tool"], both)
    check(f"{service} gives each call an id of its own", len({call["id"] for call in both.get("calls", [])}) == 2, both)

    [words] = asked(service, url, "just words")
    check(f"{service} answers in words", words.get("text") == "Words — ünïcödé 🦀." and words["ended"] == "stop", words)
    check(f"{service} counts tokens", words.get("tokens_in", 0) > 0 and words.get("tokens_out", 0) > 0, words)

    form = {"messages": [{"role": "user", "text": "in a form"}], "answer": SCHEMA}
    [form] = asked(service, url, form)
    check(f"{service} answers in a form", json.loads(form.get("text") or "null") == {"word": "form"}, form)

    [cut] = asked(service, url, "until cut")
    # aimock has one end for Ollama.
    ends = ["length", "stop"] if service == "ollama" else ["length"]
    check(f"{service} says where it was cut", cut.get("ended") in ends and cut["text"] == "and so", cut)

    [often] = asked(service, url, {"messages": [{"role": "user", "text": "too often"}], "within_ms": 3000})
    check(f"{service} asks for a pause", often.get("error") == "llm_rate_limited", often)
    [unknown] = asked(service, url, "no such model")
    check(f"{service} has no such model", unknown.get("error") == "llm_no_model", unknown)


def test_command(service, url):
    """`tulving llm test` against it."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "TULVING_HOME": home, "TULVING_EMBEDDING_PROVIDER": "off", "TULVING_LLM_PROVIDER": service,
            "TULVING_LLM_BASE_URL": url + SERVICES[service], "TULVING_LLM_MODEL": "scripted", "TULVING_LLM_API_KEY": KEY,
        }
        run = lambda *args: subprocess.run([BINARY, *args, "--json"], env=environment, capture_output=True, text=True, timeout=120)
        told = run("llm", "test")
        report = json.loads(told.stdout or "{}")
        check(f"{service} passes `tulving llm test`", told.returncode == 0 and report.get("tools") == "work", told)
        usage = json.loads(run("usage").stdout)["usage"]
        check(f"{service} is paid for", [(row["provider"], row["calls"]) for row in usage] == [(service, 1)], usage)


def consolidate(service, url):
    """Journals, taken over by it and undone; and what it may not do."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "TULVING_HOME": home, "TULVING_EMBEDDING_PROVIDER": "off", "TULVING_LLM_PROVIDER": service,
            "TULVING_LLM_BASE_URL": url + SERVICES[service], "TULVING_LLM_MODEL": "scripted", "TULVING_LLM_API_KEY": KEY,
        }
        run = lambda *args: subprocess.run([BINARY, *args, "--json"], env=environment, capture_output=True, text=True, timeout=120)
        memory = Path(home) / "workspace" / "memory" / "MEMORY.md"
        run("journal", "--note", "Bought saffron on Mondays, as ever")
        told = run("consolidate")
        report = json.loads(told.stdout or "{}")
        check(f"{service} rewrites MEMORY.md", report.get("written") and memory.read_text() == "- Saffron is bought on Mondays\n", told)
        undone = run("undo", report.get("pass_id") or "none")
        check(f"{service} is undone", undone.returncode == 0 and not memory.exists(), undone)
        token = (Path(home) / "api-token").read_text()
        run("journal", "--note", "write elsewhere")
        told = run("consolidate")
        report = json.loads(told.stdout or "{}")
        kept = (Path(home) / "api-token").read_text() == token and not memory.exists()
        check(f"{service} writes nothing else", kept and "unknown tool" in (report.get("stays") or ""), told)


def passes(service, url):
    """What it does in the background: reads turns, and keeps the journal."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "TULVING_HOME": home, "TULVING_EMBEDDING_PROVIDER": "off", "TULVING_LLM_PROVIDER": service,
            "TULVING_LLM_BASE_URL": url + SERVICES[service], "TULVING_LLM_MODEL": "scripted", "TULVING_LLM_API_KEY": KEY,
            "TULVING_SHADOW_JOURNAL_ENABLED": "true",
        }

        def run(*args, **more):
            ended = subprocess.run([BINARY, *args, "--json"], env={**environment, **more}, capture_output=True, text=True, timeout=120)
            return json.loads(ended.stdout or "{}")

        def until(holds):
            """Waits: a process of its own does it."""
            begun = time.monotonic()
            while not holds() and time.monotonic() - begun < 30:
                time.sleep(0.1)
            return holds()

        run("turn", "log", "user", MOVED)
        kept = lambda: [memory["content"] for memory in run("list").get("memories", [])]
        check(f"{service} reads turns", until(lambda: kept() == [FOUND["statement"]]), kept())
        run("turn", "log", "user", SAID, TULVING_PROACTIVE_BY="rules")
        run("turn", "log", "assistant", ANSWERED)
        written = lambda: {file.name: file.read_text() for file in Path(home).glob("workspace/memory/*")}
        check(f"{service} keeps the journal", until(lambda: list(written().values()) == [f"{NOTED}\n"]), written())
        check(f"{service} leaves no work", until(lambda: run("jobs").get("jobs") == []), run("jobs"))
        calls = {row["pass"]: row["calls"] for row in run("usage")["usage"]}
        check(f"{service} is asked as often as it may be", calls == {"proactive": 1, "shadow_journal": 2}, calls)


def fault(service, flags, code, requests, within=20000):
    """What a fault is called, and how often it is tried."""
    with mocked(*flags) as url:
        [told] = asked(service, url, {"messages": [{"role": "user", "text": "just words"}], "within_ms": within})
        check(f"{service} with {' '.join(flags)}", told.get("error") in code, told)
        if requests is not None:
            check(f"{service} with {' '.join(flags)} is asked {requests} times", heard(url) == requests, heard(url))
        return told


def main():
    with mocked() as url:
        for service in SERVICES:
            script(service, url)
            test_command(service, url)
            passes(service, url)
            consolidate(service, url)
    with mocked(key="another-key") as url:
        for service in SERVICES:
            [told] = asked(service, url, "just words")
            check(f"{service} does not take a wrong key", told.get("error") == "llm_wrong_key", told)
            check(f"{service} does not repeat it", KEY not in json.dumps(told), told)
    for service in SERVICES:
        fault(service, ["--chaos-drop", "1"], ["llm_failing"], 3)
        fault(service, ["--chaos-malformed", "1"], ["llm_malformed"], 1)
        fault(service, ["--chaos-disconnect", "1"], ["llm_unreachable", "llm_cut_off"], 1)
        fault(service, ["--chaos-ratelimit", "1"], ["llm_rate_limited"], None, within=4000)
        begun = time.monotonic()
        fault(service, ["--chaos-latency", "20000"], ["llm_timeout"], None, within=700)
        check(f"{service} that hangs is left", time.monotonic() - begun < 15, time.monotonic() - begun)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
