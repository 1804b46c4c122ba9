"""Runs the official conformance suite of the Model Context Protocol, in both revisions (in the short form, the newest), against two servers: the fixture,
which has the tools that the suite asks for behind our listener, gate, authorisation and transport, and `tulving serve`.

Usage: conformance.py BINARY FIXTURE. Prints a line for each scenario that is not as expected, and ends with
`N passed, N failed`. What is expected is listed here and, with the count, in README.md.
"""

import json
import re
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import extent
import npm

BINARY, FIXTURE = sys.argv[1:]
SUITE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"
# The newest first; the short form has that one.
REVISIONS = ["2026-07-28", "2025-11-25"][:None if extent.FULL else 1]
PAGE = Path(__file__).parent / "README.md"
ENVIRONMENT = {**npm.ENVIRONMENT, "TULVING_EMBEDDING_PROVIDER": "off"}

# Passed by the fixture and by `tulving serve`.
PASSED = {
    "caching", "completion-complete", "dns-rebinding-protection", "http-header-validation",
    "input-required-result-unsupported-methods", "ping", "prompts-list", "resources-list", "sep-2164-resource-not-found",
    "server-initialize", "server-session-lifecycle", "server-sse-multiple-streams", "server-stateless", "tools-list",
}
# Passed by the fixture, for they call what only it has.
PASSED_BY_FIXTURE = {
    "http-custom-header-server-validation", "input-required-result-ignore-extra-params", "json-schema-2020-12",
    "prompts-get-embedded-resource", "prompts-get-simple", "prompts-get-with-args", "prompts-get-with-image",
    "resources-read-binary", "resources-read-text", "resources-templates-read", "tools-call-audio",
    "tools-call-embedded-resource", "tools-call-error", "tools-call-image", "tools-call-mixed-content",
    "tools-call-simple-text",
}
# About what Tulving has not; README.md says why. To pass one of these is a failure too: then it belongs above.
NOT_APPLYING = {
    "elicitation-sep1034-defaults", "elicitation-sep1330-enums", "input-required-result-basic-elicitation",
    "input-required-result-basic-list-roots", "input-required-result-basic-sampling",
    "input-required-result-capability-check", "input-required-result-missing-input-response",
    "input-required-result-multi-round", "input-required-result-multiple-input-requests",
    "input-required-result-non-tool-request", "input-required-result-request-state",
    "input-required-result-result-type", "input-required-result-tampered-state", "input-required-result-validate-input",
    "logging-set-level", "resources-subscribe", "resources-unsubscribe", "server-sse-polling", "tools-call-elicitation",
    "tools-call-sampling", "tools-call-with-logging", "tools-call-with-progress",
}


@contextmanager
def running(*command):
    """A server of ours; gives the address that it prints first."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        yield server.stdout.readline().split()[-1]
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(10) == 0, "the server ends well"


@contextmanager
def with_token(address, token):
    """A relay that adds the token, which the suite cannot send, and changes nothing else."""

    class Relay(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def relay(self):
            there = HTTPConnection(address.removeprefix("http://"), timeout=30)
            there.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in [*self.headers.items(), ("Authorization", f"Bearer {token}")]:
                there.putheader(name, value)
            there.endheaders(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            answer = there.getresponse()
            body = answer.read()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("content-length", "connection"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            there.close()

        do_GET = do_POST = do_DELETE = relay

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    # The suite goes away in the middle on purpose; what it missed otherwise shows in its results.
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()


def status_without_token(address):
    there = HTTPConnection(address.removeprefix("http://"), timeout=30)
    there.request("POST", "/mcp", "{}")
    return there.getresponse().status


def results(suite, url, revision):
    """The checks of every scenario of a revision."""
    with tempfile.TemporaryDirectory() as folder:
        # How it ends says nothing: it counts what does not apply as failed.
        subprocess.run([npm.NODE, suite, "server", "--url", url, "--suite", "all", "--spec-version", revision,
                        "--output-dir", folder], env=ENVIRONMENT, stdout=subprocess.DEVNULL, timeout=60)
        return {re.fullmatch(r"server-(.*)-\d{4}-\d\d-\d\dT.*", path.parent.name)[1]: json.loads(path.read_text())
                for path in Path(folder).glob("*/checks.json")}


def passes(checks, has_tools):
    """Whether something was checked and nothing was found. A server without the tools of the suite cannot be tested everywhere."""
    counted = [check for check in checks if has_tools or not (check.get("details") or {}).get("untestable")]
    own = {check["status"] for check in counted if not check["id"].startswith("wire-schema")}
    return "SUCCESS" in own and not {"FAILURE", "WARNING"} & {check["status"] for check in counted}


def found(checks):
    wrong = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
    return "; ".join(f"{check['id']}: {check.get('errorMessage')}" for check in wrong) or "nothing was checked"


class Count:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, well, said):
        if well:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {said}")
        return well


def main():
    count, seen, page = Count(), set(), PAGE.read_text()
    suite = npm.installed(SUITE, VERSION) / "dist" / "index.js"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        with running(BINARY, "--home", home, "serve", "--listen", "127.0.0.1:0") as served, running(FIXTURE, home) as fixture:
            for address in (served, fixture):
                count.check(status_without_token(address) == 401, f"{address} answers without a token")
            token = (home / "api-token").read_text().strip()
            with with_token(served, token) as served, with_token(fixture, token) as fixture:
                for revision in REVISIONS:
                    scenarios = results(suite, fixture, revision)
                    seen |= scenarios.keys()
                    score = judge(count, scenarios, revision)
                    count.check(score in page, f"README.md does not have the score `{score}`")
                    of_served = results(suite, served, revision)
                    for name in sorted(PASSED & scenarios.keys()):
                        checks = of_served.get(name, [])
                        count.check(passes(checks, False), f"{name} ({revision}, tulving serve): {found(checks)}")
    unseen = (PASSED | PASSED_BY_FIXTURE | NOT_APPLYING) - seen
    if extent.FULL:
        count.check(not unseen, f"the suite does not have {sorted(unseen)}")
    untold = [name for name in NOT_APPLYING if f"`{name}`" not in page]
    count.check(not untold, f"README.md does not say why these do not apply: {sorted(untold)}")
    print(f"{count.passed} passed, {count.failed} failed")
    sys.exit(1 if count.failed else 0)


def judge(count, scenarios, revision):
    """Holds what the fixture did against what is expected; gives the score as a row of README.md."""
    passed = failed = other = 0
    for name, checks in sorted(scenarios.items()):
        if name in NOT_APPLYING:
            other += 1
            if passes(checks, True):
                count.check(False, f"{name} ({revision}) passes, though it does not apply")
        elif name not in PASSED | PASSED_BY_FIXTURE:
            count.check(False, f"{name} ({revision}) is new; say here what is expected of it")
        elif count.check(passes(checks, True), f"{name} ({revision}): {found(checks)}"):
            passed += 1
        else:
            failed += 1
    return f"| {revision} | {passed} | {failed} | {other} |"


main()
