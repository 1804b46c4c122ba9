"""Speaks to the binary with a Python client that knows only older revisions of the Model Context Protocol, as many do.

Usage: older_client.py BINARY. Prints a line for each check that fails, and ends with `N passed, N failed`.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import traceback
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

try:
    from mcp.client.streamable_http import streamablehttp_client
except ImportError:  # It knows no HTTP but with a stream of events, which Tulving has not.
    streamablehttp_client = None

BINARY = sys.argv[1]
# The protocol is checked here and not the model.
ENVIRONMENT = {**os.environ, "TULVING_EMBEDDING_PROVIDER": "off"}


@asynccontextmanager
async def over_stdio(home):
    server = StdioServerParameters(command=BINARY, args=["--home", str(home), "mcp"], env=ENVIRONMENT)
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as client:
        yield client


@asynccontextmanager
async def over_http(home):
    server = subprocess.Popen(
        [BINARY, "--home", str(home), "serve", "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
    try:
        address = server.stdout.readline().split()[-1]
        headers = {"Authorization": f"Bearer {(Path(home) / 'api-token').read_text().strip()}"}
        async with streamablehttp_client(f"{address}/mcp", headers=headers) as (reading, writing, _):
            async with ClientSession(reading, writing) as client:
                yield client
    finally:
        server.terminate()
        assert server.wait(10) == 0, "the server ends well"


async def uses_the_memory(connect, home):
    async with connect(home) as client:
        began = await client.initialize()
        assert began.protocolVersion == types.LATEST_PROTOCOL_VERSION, began.protocolVersion
        assert began.serverInfo.name == "tulving"
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools[:2] == ["save", "recall"], tools
        content = "Deploys go through make ship"
        saved = await client.call_tool("save", {"memories": [{"content": content}]})
        assert not saved.isError and json.loads(saved.content[0].text)["memories"][0]["number"] == 1, saved
        found = await client.call_tool("recall", {"query": "how are deploys done?"})
        assert json.loads(found.content[0].text)["memories"][0]["content"] == content, found
        wrong = await client.call_tool("save", {"content": content})
        assert wrong.isError and "`memories`" in wrong.content[0].text, wrong
        read = await client.read_resource("memory://1")
        assert content in read.contents[0].text, read
        prompt = await client.get_prompt("session-start")
        assert content in prompt.messages[0].content.text, prompt


def main():
    passed, failed = 0, 0
    for connect in (over_stdio, over_http) if streamablehttp_client else (over_stdio,):
        name = f"{connect.__name__}, mcp {version('mcp')}, {types.LATEST_PROTOCOL_VERSION}"
        with tempfile.TemporaryDirectory() as folder:
            try:
                asyncio.run(uses_the_memory(connect, Path(folder) / "home"))
                passed += 1
            except BaseException:  # Groups of exceptions too.
                failed += 1
                print(f"FAILED uses_the_memory ({name})\n{traceback.format_exc()}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
