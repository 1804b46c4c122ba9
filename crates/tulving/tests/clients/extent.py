"""How much runs: the short form of `cargo xtask test`, or everything with `--full`. Both have some of each kind."""

import os

FULL = os.environ.get("XTASK_FULL") == "1"
