"""How much faster than it was spoken is a recorded call replayed? `python bench/replay.py [CALL...]`

Each call is replayed three times in a process of its own, from its start to its end, models
loaded anew each time; the outcomes are compared byte by byte.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

CALLS = Path(__file__).parents[1] / "fixtures" / "calls"
RUNS = 3
ONCE = """
import json, sys
from pathlib import Path
from voice.config import load
from voice.replay import run
result = run(load(), Path(sys.argv[1]))
print(json.dumps([result.length_s, result.as_json(), result.events_json()]))
"""


def main() -> None:
    named = [Path(name) for name in sys.argv[1:]]
    calls = named or sorted(path for path in CALLS.iterdir() if path.is_dir())
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'call':<20} {'spoken':>8} {'replayed':>9} {'times':>7}  equal")
    spoken_s = replayed_s = 0.0
    for call in calls:
        took_s: list[float] = []
        outcomes: set[str] = set()
        length_s = 0.0
        for _ in range(RUNS):
            began_s = time.perf_counter()
            printed = subprocess.run(
                (sys.executable, "-c", ONCE, str(call)), check=True, stdout=subprocess.PIPE
            ).stdout
            took_s.append(time.perf_counter() - began_s)
            outcomes.add(hashlib.sha256(printed).hexdigest())
            length_s = json.loads(printed)[0]
        median_s = sorted(took_s)[RUNS // 2]
        spoken_s += length_s
        replayed_s += median_s
        print(
            f"{call.name:<20} {length_s:>7.1f}s {median_s:>8.1f}s {length_s / median_s:>6.1f}x"
            f"  {'yes' if len(outcomes) == 1 else 'NO'}",
            flush=True,
        )
    print(
        f"{'all together':<20} {spoken_s:>7.1f}s {replayed_s:>8.1f}s {spoken_s / replayed_s:>6.1f}x"
    )


if __name__ == "__main__":
    main()
