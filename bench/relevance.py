"""The weights of `memory/notes/relevance.py`, by logistic regression. `python -m bench.recall --fit`.

In four vaults (24 to 3,400 pieces) the piece with the answer is told from the best piece for a
question that nothing answers, over the half of the questions that is not held out. Then the bound
goes to where 96 percent of the latter get nothing, in the worst of the vaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.recall import Question, answerable, copied_vault, unanswerable
from memory.embedding import at_hand
from memory.index import Index
from memory.index.query import terms
from memory.notes.context import question_of
from memory.notes.meaning import Meaning
from memory.notes.ranking import fused, ranked
from memory.notes.relevance import Signs, signs
from memory.vault import Vault

VAULTS = ("", "vault_es", "kochbuch_de", "richardlitt_en")
NAMES = ("surprise", "share", "title", "meaning")
_LOOKED_AT, _AMONG = 40, 10
_PASSING = 0.04
_ROUNDS, _STEPS, _RATE, _RIDGE = 6, 6000, 0.5, 1e-3

Floats = npt.NDArray[np.float64]
Case = tuple[int, Question, list[tuple[Floats, bool]]]


def fit(data: Path, folder: Path, *, meaning: bool) -> None:
    whole = copied_vault(data, folder / "vault")
    cases: list[Case] = []
    for at, part in enumerate(VAULTS):
        index = Index(folder / f"fit{at}", Vault(whole / part))
        cases += [(at, question, seen) for question, seen in _seen(index, part, meaning=meaning)]
        index.close()
    tuned = [case for case in cases if case[1].part == "tune"]
    weights = _weights(tuned)
    bound = max(_bound([case for case in tuned if case[0] == at], weights) for at in range(4))
    found = zip(NAMES, weights, strict=False)
    print(", ".join(f"{name}={weight:.2f}" for name, weight in found), f"bound={bound:.1f}")
    for part in ("tune", "held"):
        for at, name in enumerate(VAULTS):
            here = [case for case in cases if case[0] == at and case[1].part == part]
            kept = [_best(case, weights, right=True) > bound for case in here if case[1].file]
            none = [_best(case, weights) <= bound for case in here if not case[1].file]
            print(
                f"{part:<5} {name or 'all':<16} kept {np.mean(kept):.2f}  none {np.mean(none):.3f}"
            )


def _seen(
    index: Index, part: str, *, meaning: bool
) -> list[tuple[Question, list[tuple[Floats, bool]]]]:
    """For each question the signs of the best pieces, and whether they hold the answer."""
    index.refresh()
    model = at_hand() if meaning else None
    means = Meaning(index, model) if model else None
    while means is not None and means.embed_some(8):
        pass
    _, pieces = index.counts()
    under = f"{part}/" if part else ""
    found = []
    for question in (*answerable(), *unanswerable()):
        here = question.file is None or question.file.startswith(under)
        if not here or (means is None and question.across):
            continue
        asks = question_of(question.ask)
        nearest = means.nearest(means.of(asks), _LOOKED_AT) if means and asks else None
        hits = index.search(
            asks,
            where="notes",
            limit=_LOOKED_AT,
            also=nearest.order if nearest else (),
            fresh=False,
        )
        at = {hit.piece: hit for hit in hits}
        by_words = [hit.piece for hit in ranked([hit for hit in hits if hit.matched], _LOOKED_AT)]
        order = fused([by_words, [p for p in nearest.order if p in at]]) if nearest else by_words
        asked = tuple(term.word for term in terms(asks))
        seen = []
        for piece in order[:_AMONG]:
            hit = at[piece]
            nearness = nearest.deviation(piece) if nearest else None
            right = question.answered_by(f"{under}{hit.file}", hit.first_line, hit.last_line)
            seen.append((_numbers(signs(hit, asked, pieces, nearness)), right))
        found.append((question, seen))
    return found


def _numbers(seen: Signs) -> Floats:
    known = [seen.surprise, seen.share, seen.title]
    return np.array(known if seen.meaning is None else [*known, seen.meaning])


def _weights(cases: Sequence[Case]) -> Floats:
    width = max(len(numbers) for _, _, seen in cases for numbers, _ in seen)
    cases = [(at, q, [s for s in seen if len(s[0]) == width]) for at, q, seen in cases]
    weights: Floats = np.ones(width)
    for _ in range(_ROUNDS):
        right = [_most([n for n, r in seen if r], weights) for _, q, seen in cases if q.file]
        wrong = [_most([n for n, _ in seen], weights) for _, q, seen in cases if not q.file]
        weights = _regressed(
            [n for n in right if n is not None], [n for n in wrong if n is not None]
        )
    scaled: Floats = weights / weights[0]
    return scaled


def _most(candidates: Sequence[Floats], weights: Floats) -> Floats | None:
    return max(candidates, key=lambda numbers: float(numbers @ weights), default=None)


def _regressed(right: Sequence[Floats], wrong: Sequence[Floats]) -> Floats:
    x = np.array([*right, *wrong])
    y = np.r_[np.ones(len(right)), np.zeros(len(wrong))]
    middle, spread = x.mean(0), x.std(0) + 1e-9
    z = np.c_[(x - middle) / spread, np.ones(len(x))]
    balance = np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    weights = np.zeros(z.shape[1])
    for _ in range(_STEPS):
        gradient = z.T @ ((1 / (1 + np.exp(-z @ weights)) - y) * balance) / len(y)
        gradient[:-1] += _RIDGE * weights[:-1]
        weights -= _RATE * gradient
    found: Floats = weights[:-1] / spread
    return found


def _best(case: Case, weights: Floats, *, right: bool = False) -> float:
    return max(
        (float(n @ weights[: len(n)]) for n, is_right in case[2] if is_right or not right),
        default=-99.0,
    )


def _bound(cases: Sequence[Case], weights: Floats) -> float:
    never = sorted((_best(case, weights) for case in cases if not case[1].file), reverse=True)
    return never[int(_PASSING * len(never))]
