"""`python -m workflows.demo [FOLDER]`: the whole path of two clean-ups, on a company made for the purpose."""

from __future__ import annotations

import sys
from pathlib import Path

from workflows.demo.story import Demo, DemoFailedError


def main() -> int:
    """Run the demonstration; 0 only if every step ended as it must."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo")
    try:
        Demo(folder.resolve(), lambda text: print(text, flush=True)).run()
    except DemoFailedError as error:
        print(f"\nDEMO FAILED: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
