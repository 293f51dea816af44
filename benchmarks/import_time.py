"""What `import afterturn` adds to a Python process's start.

Prints the medians of fresh processes, those with the import and bare ones taken in turn, so that a busy machine
slows both.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 11
LIMIT = 0.150
"""Seconds above a bare start that the import may take."""


def start(code: str) -> float:
    """Seconds that a fresh interpreter takes to run `code` and end."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - begun


def main() -> int:
    """Measure, print, and fail above the limit."""
    start("import afterturn")  # writes the bytecode, reads the files
    pairs = [(start("pass"), start("import afterturn")) for _ in range(RUNS)]
    bare, loaded = (statistics.median(times) for times in zip(*pairs, strict=True))
    added = loaded - bare
    verdict = "under" if added < LIMIT else "OVER"
    print(f"python -c pass                {bare * 1000:6.1f} ms")
    print(f"python -c 'import afterturn'  {loaded * 1000:6.1f} ms")
    print(
        f"the import adds               {added * 1000:6.1f} ms, {verdict} the limit of {LIMIT * 1000:.0f} ms"
    )
    print(f"(medians of {RUNS} runs each)")
    return 0 if added < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
