"""What the system tells about folders; where it can't, everything is looked at again and again."""

from __future__ import annotations

import errno
import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol

from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

log = logging.getLogger(__name__)

POLL_S = 2.0
GROUP_MS, STEP_MS = 100, 25
"""Changes are grouped for so long, or until nothing comes for one step."""
_LIMITS = {errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
_LIMIT_WORDS = ("limit", "too many", "no space")

Method = Literal["notified", "polling"]


class Telling(Protocol):
    """What is asked of watchfiles' RustNotify."""

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: threading.Event
    ) -> set[tuple[int, str]] | Literal["signal", "stop", "timeout"]: ...

    def close(self) -> None: ...


def told_by_system(folders: Sequence[str]) -> Telling:
    """Raises OSError where the system's limits are reached."""
    # Its last switch would keep the system's limit quiet as well.
    return RustNotify(list(folders), False, False, 0, False, False)


class Notifier:
    """Watches single folders, not what is below them: what is ignored costs nothing.

    `method` is "polling" once the system's limit of watches was reached; `fault` then says so.
    """

    def __init__(self, tell: Callable[[Sequence[str]], Telling] = told_by_system) -> None:
        self._tell = tell
        self._telling: Telling | None = None
        self._stop = threading.Event()
        self._looked_s = time.monotonic()
        self.method: Method = "notified"
        self.fault: str | None = None
        self.is_unsure = False
        """Whether a folder went while it was to be watched: look, and watch again."""

    def watch(self, folders: Sequence[Path]) -> None:
        """From now on these. What happened before is for the caller to look at."""
        before, self._telling = self._telling, None
        self.is_unsure = False
        try:
            if folders:
                self._telling = self._tell([str(each) for each in folders])
            self.method, self.fault = "notified", None
        except FileNotFoundError:
            self.method, self.fault, self.is_unsure = "polling", None, True
        except (OSError, WatchfilesRustInternalError) as fault:
            self.method = "polling"
            self.fault = _sentence(fault, len(folders))
            log.warning("%s", self.fault)
        finally:
            if before is not None:
                before.close()

    def wait(self, timeout_s: float) -> tuple[set[str], bool]:
        """The paths that something happened to, and whether everything is to be looked at."""
        if self._telling is None:
            self._stop.wait(timeout_s)
            if time.monotonic() - self._looked_s < POLL_S:
                return set(), False
            self._looked_s = time.monotonic()
            return set(), self.method == "polling"
        told = self._telling.watch(GROUP_MS, STEP_MS, max(1, round(timeout_s * 1000)), self._stop)
        return (set(), False) if isinstance(told, str) else ({path for _, path in told}, False)

    def stop(self) -> None:
        """Whoever waits returns. From any thread."""
        self._stop.set()

    def close(self) -> None:
        if self._telling is not None:
            self._telling.close()
            self._telling = None


def _sentence(fault: Exception, count: int) -> str:
    is_limit = getattr(fault, "errno", None) in _LIMITS or any(
        word in str(fault).lower() for word in _LIMIT_WORDS
    )
    if is_limit:
        return (
            f"The system can't watch these {count:,} folders: its limit is reached. Jarvis looks at "
            f"them every {POLL_S:.0f} seconds instead. Raise fs.inotify.max_user_watches and "
            "fs.inotify.max_user_instances (sysctl), or watch fewer folders."
        )
    return (
        f"The system can't watch these folders ({fault}). Jarvis looks at them every "
        f"{POLL_S:.0f} seconds instead."
    )
