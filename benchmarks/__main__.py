"""`python -m benchmarks`: every benchmark, each as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

for name in ("check", "rule", "collect", "collect_http", "act", "act_http", "journal"):
    print(f"\n== {name}", flush=True)
    subprocess.run([sys.executable, str(Path(__file__).parent / f"{name}.py")], check=True)
