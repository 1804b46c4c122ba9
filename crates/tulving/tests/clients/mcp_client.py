"""Speaks to the binary with the Python client of the Model Context Protocol: both revisions, both transports.

Usage: mcp_client.py BINARY. Prints a line for each check that fails, and ends with `N passed, N failed`.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import extent

BINARY = sys.argv[1]
REVISIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
TOOLS = {
    "native": ["save", "recall", "list", "update", "forget", "done", "associate", "context", "log_turn", "archive_conversation"],
    "max": ["remember", "recall", "forget"],
    "memax": ["memax_push", "memax_recall", "memax_get", "memax_list", "memax_hubs", "memax_hub_members", "memax_forget"],
    "groups": ["save_memory", "recall_memories", "forget_memory", "list_memories"],
    "maven": ["remember", "memory_search", "memory_get"],
    "spacebot": ["memory_save", "memory_recall", "memory_delete"],
}
# The protocol is checked here and not the model.
ENVIRONMENT = {**os.environ, "TULVING_EMBEDDING_PROVIDER": "off"}
checks = []


def check(function):
    checks.append(function)
    return function


@asynccontextmanager
async def over_stdio(home, mode, dialect="native"):
    server = StdioServerParameters(command=BINARY, args=["--home", str(home), "mcp", "--dialect", dialect], env=ENVIRONMENT)
    async with Client(stdio_client(server), mode=mode) as client:
        yield client


@asynccontextmanager
async def over_http(home, mode, dialect="native"):
    server = subprocess.Popen(
        [BINARY, "--home", str(home), "serve", "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
    try:
        address = server.stdout.readline().split()[-1]
        token = (Path(home) / "api-token").read_text().strip()
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"})
        async with Client(streamable_http_client(f"{address}/mcp/{dialect}", http_client=http), mode=mode) as client:
            yield client
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(10) == 0, "the server ends well"


@check
async def speaks_the_revision_and_introduces_itself(connect, home, mode):
    async with connect(home, mode) as client:
        assert client.protocol_version == REVISIONS[mode], client.protocol_version
        assert client.server_info.name == "tulving"
        assert "recall" in client.instructions


@check
async def offers_the_tools_of_every_dialect_with_schemas_and_hints(connect, home, mode):
    for dialect, names in TOOLS.items():
        async with connect(home, mode, dialect) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == names, [tool.name for tool in tools]
            for tool in tools:
                assert tool.input_schema["type"] == "object" and tool.description
                hints = tool.annotations
                assert not (hints.read_only_hint and hints.destructive_hint), tool.name
            removing = {tool.name for tool in tools if tool.annotations.destructive_hint}
            assert removing == {name for name in names if "forget" in name or "delete" in name}, removing


@check
async def what_is_saved_is_recalled_as_data_and_as_text(connect, home, mode):
    async with connect(home, mode) as client:
        said = {"memories": [{"content": "Deploys go through make ship", "type": "decision"}]}
        saved = (await client.call_tool("save", said)).structured_content["memories"][0]
        assert (saved["number"], saved["status"], saved["type"]) == (1, "created", "decision"), saved
        found = await client.call_tool("recall", {"query": "how are deploys done?"})
        data, text = found.structured_content["memories"][0], json.loads(found.content[0].text)["memories"][0]
        assert data["content"] == text["content"] == "Deploys go through make ship"
        assert text.items() <= data.items(), "the text leaves out what a model does not need, and adds nothing"


@check
async def one_dialect_finds_what_another_saved(connect, home, mode):
    async with connect(home, mode, "max") as client:
        said = await client.call_tool("remember", {"category": "preference", "content": "Prefers TypeScript over JavaScript"})
        assert said.content[0].text == 'Remembered (#1, preference): "Prefers TypeScript over JavaScript"'
        assert said.structured_content is None
    async with connect(home, mode, "spacebot") as client:
        found = (await client.call_tool("memory_recall", {"query": "TypeScript"})).structured_content
        assert found["memories"][0]["memory_type"] == "preference" and found["total_found"] == 1


@check
async def a_wrong_call_is_told_to_the_model_and_saves_nothing(connect, home, mode):
    async with connect(home, mode) as client:
        wrong = [{}, {"memories": "x"}, {"memories": [{"content": ""}]}, {"memories": [{"content": "x", "type": "idea"}]},
                 {"memories": [{"content": "good"}, {"content": "x", "importance": 7}]}, {"memory": "x"}]
        for arguments in wrong:
            answer = await client.call_tool("save", arguments)
            assert answer.is_error and answer.content[0].text, arguments
        try:
            await client.call_tool("nothing", {})
            raise AssertionError("there is no such tool")
        except MCPError as error:
            assert "it has save, recall" in str(error), error
        found = await client.call_tool("recall", {"query": "x good"})
        assert found.structured_content["total"] == 0, found.structured_content


@check
async def resources_and_the_prompt_show_what_is_remembered(connect, home, mode):
    async with connect(home, mode) as client:
        await client.call_tool("save", {"memories": [{"content": "Is called Ada", "type": "identity"}]})
        block = (await client.read_resource("memory://context")).contents[0].text
        assert "- [#1] Is called Ada" in block and block.startswith("<memory>"), block
        for uri in ("memory://1", "memory://%231"):
            memory = json.loads((await client.read_resource(uri)).contents[0].text)
            assert memory["content"] == "Is called Ada" and memory["source"] == "mcp"
        prompt = await client.get_prompt("session-start", {})
        assert prompt.messages[0].content.text == block
        try:
            await client.read_resource("memory://99")
            raise AssertionError("there is no such memory")
        except MCPError as error:
            assert "there is no resource" in str(error), error


@check
async def a_memory_of_another_space_is_no_resource(connect, home, mode):
    run = lambda *words: subprocess.run([BINARY, "--home", str(home), *words], capture_output=True, text=True,
                                        env=ENVIRONMENT, check=True).stdout
    run("space", "create", "elsewhere")
    there = json.loads(run("--space", "elsewhere", "save", "said elsewhere", "--json"))["id"]
    async with connect(home, mode) as client:
        try:
            await client.read_resource(f"memory://{there}")
            raise AssertionError("it is of another space")
        except MCPError as error:
            assert "there is no resource" in str(error), error


@check
async def two_clients_share_one_home(connect, home, mode):
    async with connect(home, mode) as one, over_stdio(home, mode) as other:
        many = [client.call_tool("save", {"memories": [{"content": f"thing {n} of {name}"}]})
                for n in range(10) for name, client in (("one", one), ("other", other))]
        saved = await asyncio.gather(*many)
        numbers = sorted(answer.structured_content["memories"][0]["number"] for answer in saved)
        assert numbers == list(range(1, 21)), numbers
        for client in (one, other):
            found = (await client.call_tool("recall", {"query": "thing", "limit": 50})).structured_content
            assert found["total"] == 20, found["total"]


def begun(home):
    return subprocess.Popen([BINARY, "--home", str(home), "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)


INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}}}


def a_client_that_vanishes_leaves_no_process(home):
    for lines in ([], [json.dumps(INITIALIZE)], [json.dumps(INITIALIZE), '{"jsonrpc": "2.0", "id": 2, "method": "tools/li']):
        server = begun(home)
        server.stdin.write("\n".join(lines) + ("\n" if len(lines) == 1 else ""))
        server.stdin.close()
        server.wait(10)


def garbage_does_not_end_the_session(home):
    server = begun(home)
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "save", "arguments": {"memories": [{"content": "said after garbage"}]}}}
    deep = {"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "recall", "arguments": "X"}}
    deep = json.dumps(deep).replace('"X"', '{"query":' * 500 + "1" + "}" * 500)
    told = [json.dumps(INITIALIZE), '{"jsonrpc": "2.0", "method": "notifications/initialized"}', "garbage", "{}", "[]",
            '{"jsonrpc": "2.0", "id": 5, "method": "no/such"}', deep, json.dumps(call)]
    server.stdin.write("\n".join(told) + "\n")
    server.stdin.flush()
    answers = []
    while not answers or answers[-1]["id"] != 7:
        line = server.stdout.readline()
        assert line, server.stderr.read()
        answers.append(json.loads(line))
    codes = [(answer["id"], answer["error"]["code"]) for answer in answers[1:-1]]
    assert codes == [(None, -32700), (None, -32600), (None, -32600), (5, -32601), (None, -32700)], codes
    assert answers[-1]["result"]["structuredContent"]["memories"][0]["status"] == "created", answers[-1]
    server.stdin.close()
    server.wait(10)
    assert server.stdout.read() == "", "nothing but answers on standard output"


def the_first_answer_comes_at_once(home):
    begin = time.time()
    server = begun(home)
    server.stdin.write(json.dumps(INITIALIZE) + "\n")
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["id"] == 1
    print(f"first answer after {1000 * (time.time() - begin):.0f} ms")
    server.stdin.close()
    server.wait(10)


# Each revision and each transport once in the short form.
EVERY_WAY = [(transport, mode) for transport in (over_stdio, over_http) for mode in REVISIONS]
SHORT = [(over_stdio, "legacy"), (over_http, "auto")]


def main():
    passed, failed = 0, 0
    work = [(f"{check.__name__} ({transport.__name__}, {REVISIONS[mode]})",
             lambda home, check=check, transport=transport, mode=mode: asyncio.run(check(transport, home, mode)))
            for check in checks for transport, mode in (EVERY_WAY if extent.FULL else SHORT)]
    alone = (a_client_that_vanishes_leaves_no_process, garbage_does_not_end_the_session, the_first_answer_comes_at_once)
    work += [(function.__name__, function) for function in alone]
    for name, run in work:
        with tempfile.TemporaryDirectory() as folder:
            try:
                run(Path(folder) / "home")
                passed += 1
            except BaseException as error:  # Groups of exceptions too; one failure must not hide the others.
                failed += 1
                print(f"FAILED {name}: {type(error).__name__}: {causes(error)}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def causes(error):
    inner = getattr(error, "exceptions", None)
    return "; ".join(causes(one) for one in inner) if inner else str(error)


main()
