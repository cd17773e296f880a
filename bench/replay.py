"""How much faster than it was spoken is a recorded call replayed?

    python -m bench.replay [CALL...] [--runs 3] [--long MINUTES]

Each call is replayed in a process of its own, from the command to its end: first with the
models, loaded anew each time, then from what was heard and kept with the recording, where no
model runs. `in it` leaves Python's start and imports out. Outcomes are compared byte by byte.
`--long` makes a call of that length with a fake of a voice service, and replays it as a call that
was recorded live: with what was heard, and the engine anew against what the service said.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from fixtures import make_realtime_calls
from voice.recorded_service import SERVICE

CALLS = Path(__file__).parents[1] / "fixtures" / "calls"
ONCE = """
import json, sys, time
from pathlib import Path
from voice.config import load
from voice.replay import run
import voice.replay_call
began_s, worked_s = time.perf_counter(), time.process_time()
result = run(load(), Path(sys.argv[1]), keep=sys.argv[2] == "keep")
took_s, cpu_s = time.perf_counter() - began_s, time.process_time() - worked_s
told = [result.as_json(), result.events_json(), *map(str, result.differences)]
print(json.dumps([result.length_s, took_s, cpu_s, told]))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """`whole_s` from the command to its end, `inside_s` without start and imports, and `cpu_s` of
    this process in it, which other work on the machine hardly changes."""

    length_s: float
    whole_s: float
    inside_s: float
    cpu_s: float
    outcomes: frozenset[str]


def replayed(call: Path, runs: int, *, keep: bool) -> Runs:
    whole_s, inside_s, cpu_s, outcomes, length_s = [], [], [], set(), 0.0
    for _ in range(runs):
        if keep:
            (call / "hearing.jsonl").unlink(missing_ok=True)
        began_s = time.perf_counter()
        printed = subprocess.run(
            (sys.executable, "-c", ONCE, str(call), "keep" if keep else ""),
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
        whole_s.append(time.perf_counter() - began_s)
        length_s, took_s, worked_s, *outcome = json.loads(printed)
        inside_s.append(took_s)
        cpu_s.append(worked_s)
        outcomes.add(hashlib.sha256(json.dumps(outcome).encode()).hexdigest())
    return Runs(
        length_s=length_s,
        whole_s=statistics.median(whole_s),
        inside_s=statistics.median(inside_s),
        cpu_s=statistics.median(cpu_s),
        outcomes=frozenset(outcomes),
    )


def long(minutes: float, runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        call = Path(folder) / "call"
        script = make_realtime_calls.long(minutes)
        said = make_realtime_calls.blank("long", make_realtime_calls.sound(script), {})
        began_s = time.perf_counter()
        make_realtime_calls.record(said, script, call)
        print(f"made in {time.perf_counter() - began_s:.0f} s, {len(script.says)} turns said")
        found = replayed(call, runs, keep=False)
        service = call / SERVICE
        events = len(service.read_text(encoding="utf-8").splitlines())
        print(
            f"{events:,} lines of a service, {service.stat().st_size / 1e6:.1f} MB\n"
            f"{found.length_s:.0f} s long, replayed in {found.whole_s:.1f} s ({found.inside_s:.1f} "
            f"without start and imports): {found.length_s / found.whole_s:.0f} / "
            f"{found.length_s / found.inside_s:.0f} times faster, in CPU time "
            f"{found.length_s / found.cpu_s:.0f}, {'equal' if len(found.outcomes) == 1 else 'NOT EQUAL'}"
        )


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("calls", nargs="*", type=Path)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--long", type=float, metavar="MINUTES")
    given = arguments.parse_args()
    calls = given.calls or sorted(path for path in CALLS.iterdir() if path.is_dir())
    if given.long:
        long(given.long, given.runs)
        return
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':18}{'spoken':>8}{'with models':>13}{'none':>8}{'in it':>8}  times faster, equal")
    for call in calls:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / call.name
            shutil.copytree(call, copy)
            models = replayed(copy, given.runs, keep=True)
            kept = replayed(copy, given.runs, keep=False)
        length_s = kept.length_s
        times = " / ".join(
            f"{length_s / took_s:.0f}" for took_s in (models.whole_s, kept.whole_s, kept.inside_s)
        )
        equal = "yes" if len(models.outcomes | kept.outcomes) == 1 else "NO"
        print(
            f"{call.name:18}{length_s:7.1f}s{models.whole_s:12.1f}s{kept.whole_s:7.1f}s"
            f"{kept.inside_s:7.1f}s  {times}, {equal}",
            flush=True,
        )


if __name__ == "__main__":
    main()
