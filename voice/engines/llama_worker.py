"""Runs a GGUF model in a process of its own: a llama.cpp server on a loopback port.

Arguments: the GGUF file, a folder for saved states, the context in tokens, the threads. Its
ready header is `{"address": "http://127.0.0.1:PORT", "key": "…"}`: the port is the
system's choice, the key is new at each start and never leaves the pipe between the two.
"""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

from voice.workers import serve

NICENESS = 5
BATCH_TOKENS = 64
"""How much is computed between two looks at the queue: a cancelled prefill ends this soon."""

_GGUF_MAGIC = b"GGUF"


def fault_of(path: Path) -> str | None:
    """Why this can't be a model, as a sentence, or None."""
    try:
        with path.open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except OSError as fault:
        return f"The model {path} can't be read: {fault.strerror}. Bring it with `jarvis models`."
    if magic != _GGUF_MAGIC:
        return f"{path} is no GGUF model. Delete it and bring it again with `jarvis models`."
    return None


def main(arguments: list[str]) -> None:
    path, states = Path(arguments[0]), Path(arguments[1])
    context_tokens, threads = int(arguments[2]), int(arguments[3])
    if (fault := fault_of(path)) is not None:
        sys.exit(fault)
    # Before any thread of the server's exists: on Linux each thread has its own niceness.
    os.nice(NICENESS)
    os.umask(0o077)  # a saved state tells what stands in the notebooks
    os.environ["GGML_NO_BACKTRACE"] = "1"  # else a crash waits many seconds for a debugger

    import xllamacpp

    key = secrets.token_urlsafe(32)
    p = xllamacpp.CommonParams()
    p.model.path = str(path)
    p.n_ctx = context_tokens
    p.n_parallel = 2  # the conversation, and what is asked aside
    p.kv_unified = True  # over one memory
    p.n_batch = p.n_ubatch = BATCH_TOKENS
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = threads
    p.cpuparams.poll = p.cpuparams_batch.poll = 0  # spinning takes a core from the other workers
    p.cache_ram_mib = 0  # the slots are the cache
    p.hostnames = ["127.0.0.1"]
    p.port = 0
    p.api_keys = [key]
    p.endpoint_slots = True
    p.slot_save_path = f"{states}/"
    p.ui = False
    p.verbosity = 0
    try:
        server = xllamacpp.Server(p)
    except RuntimeError as fault:
        sys.exit(
            f"The model {path} can't be loaded ({fault}). It may be damaged, or memory is "
            "short. `jarvis models` checks it, `jarvis doctor` shows the memory."
        )
    serve({}, {"address": server.listening_address, "key": key}, niceness=0)


if __name__ == "__main__":
    main(sys.argv[1:])
