"""A review under way: answers are kept first, then learnt from; what to ask next follows from all of them.

Nothing here depends on the web: `server` puts it on a page.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.answers import NONE, SAME, UNDONE, UNSURE, Answer, Settled, append_answer, read_answers
from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.data.scores import pair_keys
from tielink.estimation.estimate import estimate
from tielink.evaluation.audit import NOBODY, OTHER, RIGHT, Audit, audit_plan
from tielink.faults import Faults, InputError
from tielink.posterior.posterior import Posterior
from tielink.report.result import DOUBT
from tielink.review.queue import OPTIONS, queue, settled_pairs

__all__ = ["AUDIT", "REVIEW", "Asked", "Session"]

Asked = tuple[str, int, tuple[int, ...]]
"""Why it is asked, the record, and those shown beside it, in the order of the page."""
REVIEW, AUDIT = "review", "audit"
VARIETY = 0.9
"""Any of the questions worth at least this share of the best one may come next."""
STEPS = (50, 100, 200)
"""Questions after which an audit says what it has found."""


class Session:
    """What one person is asked and answers; safe to be used by several tabs at once."""

    def __init__(
        self,
        dataset: Dataset,
        posterior: Posterior,
        path: Path,
        *,
        who: str = "",
        others: Sequence[Path] = (),
        part: tuple[int, int] = (1, 1),
        again: Callable[[Settled], Posterior] | None = None,
    ) -> None:
        self.dataset, self.first, self.path = dataset, posterior, path
        self.who, self.others, self.part, self.again = who, tuple(others), part, again
        self.lock = threading.RLock()
        self.base = self.now = posterior
        self.rng = np.random.default_rng(zlib.crc32(who.encode("utf-8", "replace")))
        self.answers: list[Answer] = []
        self.settled = Settled.by(dataset.records, (), posterior.allowed)
        self.pending: dict[tuple[str, str], Asked] = {}
        """What each tab is looking at, by tab and by why it is asked."""
        self.sampling: threading.Thread | None = None
        self.trouble = ""
        self.linkage: Linkage = estimate(posterior)
        self.plan = audit_plan(posterior, self.linkage)
        self.read()

    def read(self) -> None:
        """Read all files of answers, as at the beginning and after every answer, and learn from what is there."""
        with self.lock:
            faults = Faults()
            paths = [path for path in (self.path, *self.others) if path != self.path or path.exists()]
            self.answers = read_answers(paths, faults)
            self.settled = Settled.by(self.dataset.records, self.answers, self.first.allowed, faults, strict=False)
            faults.raise_errors()
            self._learn()

    def _learn(self) -> None:
        try:
            self.now = self.base.given(self.settled)
            self.trouble = ""
        except InputError as error:  # what people say contradicts what was known beforehand
            self.trouble = str(error.faults[0])
        agreement = self.now.agreement
        if agreement is not None and not agreement.enough and self.sampling is None and self.again is not None:
            self.sampling = threading.Thread(target=self._sample_again, args=(self.settled,), daemon=True)
            self.sampling.start()

    def _sample_again(self, settled: Settled) -> None:
        assert self.again is not None
        try:
            found: Posterior | None = self.again(settled)
        except (InputError, RuntimeError, OSError) as error:
            found, self.trouble = None, f"Sampling again did not work: {error}"
        with self.lock:
            self.sampling = None
            if found is None:
                self.again = None
                return
            self.base = found
            self._learn()

    # What to ask.

    def next(self, tab: str, about: str = REVIEW) -> Asked | None:
        """Return what a tab is to ask: the same until it is answered, and not what another tab asks."""
        with self.lock:
            if (tab, about) not in self.pending:
                found = self._audit_question() if about == AUDIT else self._review_question(tab)
                if found is None:
                    return None
                self.pending[tab, about] = found
            return self.pending[tab, about]

    def _review_question(self, tab: str) -> Asked | None:
        shown = [[self._number(record) for record in (answer.record, other)]
                 for answer in self.answers for other in answer.shown]  # fmt: skip
        shown += [[asked[1], other] for (other_tab, _), asked in self.pending.items() if other_tab != tab
                  for other in asked[2]]  # fmt: skip
        pairs = np.array(shown, dtype=np.int64).reshape(-1, 2)
        found = queue(self.now, among=self._mine(), asked=pairs, most=10)
        good = [question for question in found if question.value >= VARIETY * found[0].value]
        if not good:
            return None
        record, *others = good[int(self.rng.integers(len(good)))].numbers
        return REVIEW, record, self._shuffled(record, others)

    def _mine(self) -> list[int]:
        """Return the records of this person's part."""
        place, parts = self.part
        names = (self.dataset.records[number] for number in range(len(self.dataset.records)))
        return [number for number, name in enumerate(names) if zlib.crc32(repr(name).encode()) % parts == place - 1]

    def _audit_question(self) -> Asked | None:
        done = {self._number(answer.record) for answer in self.answers if answer.about == AUDIT}
        busy = {asked[1] for asked in self.pending.values() if asked[0] == AUDIT}
        record = next((int(unit) for unit in self.plan.units if unit not in done | busy), None)
        if record is None:
            return None
        found = self.first.pair_probabilities
        rows = (found.pairs == record).any(axis=1)
        partners = [int(a + b - record) for a, b in found.pairs[rows]][:OPTIONS]
        linked = np.flatnonzero(self.linkage.labels == self.linkage.labels[record])
        partners = list(dict.fromkeys([*(int(r) for r in linked if r != record), *partners]))[:OPTIONS]
        return AUDIT, record, self._shuffled(record, partners)

    def _shuffled(self, record: int, others: Sequence[int]) -> tuple[int, ...]:
        """Return the others in an order that tells nothing, the same whenever they are shown."""
        return tuple(int(r) for r in np.random.default_rng(record).permutation(np.sort(others)))

    def _number(self, record: Any) -> int:
        return self.dataset.records.number(record, written=True)

    # What is answered.

    def answer(self, tab: str, asked: Asked, chosen: int | str) -> dict[str, Any]:
        """Keep an answer, on disk before anything else; return what was believed and what it settled."""
        about, record, shown = asked
        if about not in (REVIEW, AUDIT) or not (isinstance(chosen, int) or chosen in (NONE, UNSURE, UNDONE)):
            raise ValueError("no such answer")
        records = self.dataset.records
        every = [record, *shown, *([chosen] if isinstance(chosen, int) else [])]
        if not all(0 <= number < len(records) for number in every) or len({record, *shown}) <= len(shown):
            raise ValueError("no such records")
        if isinstance(chosen, int) and chosen not in shown:
            shown = (*shown, chosen)
        with self.lock:
            names = [records[number] for number in (record, *shown)]
            choice = records[chosen] if isinstance(chosen, int) else chosen
            when = datetime.now(UTC).isoformat(timespec="milliseconds")
            append_answer(self.path, Answer(names[0], choice, tuple(names[1:]), self.who, when, about))
            self.pending = {key: value for key, value in self.pending.items() if value[1:] != asked[1:]}
            before = self.now
            believed = self._probability(before, record, chosen) if isinstance(chosen, int) else None
            self.read()
            own = np.array([[record, other] for other in shown], dtype=np.int64).reshape(-1, 2)
            settled = settled_pairs(before, self.now)
            settled = settled[~np.isin(pair_keys(settled), pair_keys(own))]
            enough = self.now.agreement is None or self.now.agreement.enough
            return {"believed": believed, "settled": len(settled) if enough and chosen != UNDONE else None}

    def undo(self, tab: str, about: str) -> Asked | None:
        """Take back this person's last answer and ask it again; None where there is none."""
        with self.lock:
            mine = [answer for answer in self.answers if answer.who == self.who and answer.about == about]
            if not mine:
                return None
            last = max(mine, key=lambda answer: answer.when)
            asked = self.asked(last)
            self.answer(tab, asked, UNDONE)
            self.pending[tab, about] = asked
            return asked

    def change(self, tab: str, asked: Asked) -> None:
        """Ask again what was answered."""
        with self.lock:
            if asked not in [self.asked(answer) for answer in self.answers]:
                raise ValueError("this was not asked")
            self.pending[tab, asked[0]] = asked

    def asked(self, answer: Answer) -> Asked:
        """Return the question of an answer."""
        record, *shown = (self._number(name) for name in (answer.record, *answer.shown))
        return answer.about, record, tuple(shown)

    # What is known.

    def _probability(self, posterior: Posterior, a: int, b: int) -> float:
        found = posterior.pair_probabilities
        rows = np.isin(pair_keys(found.pairs), pair_keys(np.array([[a, b]])))
        return float(found.probability[rows].sum())

    def probabilities(self, asked: Asked) -> list[float]:
        """Return what the model believes of each record that is shown."""
        posterior = self.first if asked[0] == AUDIT else self.now
        return [self._probability(posterior, asked[1], other) for other in asked[2]]

    def doubtful(self) -> int:
        """Count the pairs in doubt."""
        chance = self.now.pair_probabilities.probability
        return int(((chance > DOUBT[0]) & (chance < DOUBT[1])).sum())

    def linked(self) -> NDArray[np.int64]:
        """Return the pairs of records that are taken for one person at present."""
        found = self.now.pair_probabilities
        return np.asarray(found.pairs[found.probability > 0.5])

    def audit(self) -> Audit:
        """Return what the audit has found so far, from answers that are sure."""
        return audit_of(self.answers, self.dataset, self.linkage, self.first)


def audit_of(answers: Sequence[Answer], dataset: Dataset, linkage: Linkage, posterior: Posterior) -> Audit:
    """Return precision and recall from the answers to an audit's questions."""
    plan, found, number = audit_plan(posterior, linkage), {}, dataset.records.number
    for answer in answers:
        if answer.about != AUDIT or answer.choice not in (SAME, NONE):
            continue
        record = number(answer.record, written=True)
        if plan.stratum[record] < 0:
            continue
        if isinstance(answer.chosen, str):
            found[record] = NOBODY
        else:
            same = linkage.labels[number(answer.chosen, written=True)] == linkage.labels[record]
            found[record] = RIGHT if same else OTHER
    return plan.estimate(found)
