"""The decision model that runs on this machine with no network: sentence vectors against the checks' wording."""

from __future__ import annotations

import array
import base64
import json
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from workbench.engine.decisions.errors import DecisionError
from workbench.engine.decisions.fitted import (
    MINIMUM,
    FittedCheck,
    FittedChecks,
    feature_row,
    fit_logistic,
    folds,
    hash_cases,
)
from workbench.engine.decisions.model import DecisionModel, ModelInfo
from workbench.engine.decisions.model_files import MODEL_NAME, ModelFiles
from workbench.engine.decisions.questions import (
    Answer,
    DecisionRequest,
    DecisionResponse,
    Exchange,
    Usage,
    YesNoAnswer,
    YesNoQuestion,
)
from workbench.engine.decisions.windows import Window, placed_windows, windows
from workbench.engine.decisions.zero_shot import descriptions, sigmoid, zero_shot_logit
from workbench.engine.workers import WorkerCrashed, WorkerError, WorkerProcess, WorkerTimeout, shared_worker

WORKER_MODULE = "workbench.engine.decisions.embedding_worker"
MOST_WINDOWS = 2000
"""Windows of one text that are scored, well over 100,000 characters; a longer text is refused, not cut."""
WORDING_ONLY = "judged by its wording only"
"""What the detail of a check says that was not fitted."""
_BATCH = 16
_REMEMBERED = 2048

Vector = Sequence[float]


@dataclass(frozen=True, slots=True)
class FitFigures:
    """What a fit is worth: figures with no examples, and cross-validated figures with them.

    `skipped` says why a check was not fitted; then the figures are `None`. `held_out` has a probability per
    text, in the order given, from a fit without that text; none where there are too few texts for that.
    """

    check: str
    positives: int
    negatives: int
    before: Mapping[str, float | None]
    after: Mapping[str, float | None]
    skipped: str | None = None
    held_out: tuple[float, ...] = ()


class EmbeddedDecisionModel(DecisionModel):
    """Scores texts by a sentence model in a worker process.

    A check without fitted weights is scored by its wording alone. A long text is cut into overlapping
    windows and the highest probability counts; the answer's `span` says where that window lies. Of a mapping, only the last entry (the response) is judged:
    a sentence vector has no place for two texts in relation.
    """

    provider = "embedded"

    def __init__(
        self,
        files: ModelFiles,
        *,
        name: str = "embedded",
        fitted: FittedChecks | None = None,
        timeout: float = 30.0,
    ) -> None:
        self.name = name
        self.files = files
        self.timeout = timeout
        self.fitted = fitted if fitted is not None and fitted.model == files.version else None
        self._vectors: OrderedDict[str, list[Vector]] = OrderedDict()

    @property
    def version(self) -> str:
        """The version that results carry: the sentence model, and the fitted weights where there are any."""
        return self.files.version + (f"+fit-{self.fitted.digest()}" if self.fitted else "")

    async def describe(self) -> ModelInfo:
        """Return what to expect of this model."""
        own = self.files.name == MODEL_NAME
        expectation = (
            "Runs on this machine: loads in about a second, then answers in milliseconds. English first; weak at "
            "negation and at who says what. Fit it on your own labelled cases before you rely on it."
        )
        if not own:
            expectation = f"The sentence model in {self.files.model.parent}. Its quality is not known here."
        return ModelInfo(self.provider, self.files.name, self.version, expectation, local=True)

    async def warm(self) -> None:
        """Start the worker and load the model, so that the first check does not wait for it."""
        await self._call("warm", {})

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Return a probability for every question; see `DecisionModel.decide`."""
        started = time.perf_counter()
        text = _judged_text(request.input)
        pieces = placed_windows(text)
        if len(pieces) > MOST_WINDOWS:
            raise DecisionError(
                f"the text is too long for the embedded model: {len(text)} characters",
                kind="limit",
                hint="check a part of it, or use a decision model on a server",
            )
        groups = await self._groups([piece.text for piece in pieces])
        vectors = [(vector, piece) for piece, group in zip(pieces, groups, strict=True) for vector in group]
        wording = await self._text_vectors(
            [piece for question in request.questions.values() for piece in descriptions(question) if piece]
        )
        answers: dict[str, Answer] = {
            name: self._score(name, question, vectors, wording)
            for name, question in request.questions.items()
        }
        elapsed = (time.perf_counter() - started) * 1000
        return DecisionResponse(
            answers, self.version, Usage(0, 0), (self._exchange(request, text, answers, elapsed),)
        )

    def _score(
        self,
        name: str,
        question: YesNoQuestion,
        vectors: list[tuple[Vector, Window]],
        wording: Mapping[str, Vector],
    ) -> YesNoAnswer:
        fitted = self.fitted.checks.get(name) if self.fitted else None
        if fitted is not None and not fitted.fits(question):
            fitted = None
        logits = []
        for vector, _ in vectors:
            logit = zero_shot_logit(question, _similarities(question, vector, wording))
            try:
                logits.append(logit if fitted is None else fitted.logit(vector, logit))
            except ValueError as error:
                raise DecisionError(
                    f"the fit of the check {name!r} is damaged: {error}",
                    kind="configuration",
                    hint="fit the checks again",
                ) from error
        best = max(range(len(logits)), key=logits.__getitem__)
        how = WORDING_ONLY if fitted is None else _fit_words(fitted)
        piece = vectors[best][1]
        if piece == vectors[0][1] == vectors[-1][1]:
            return YesNoAnswer(sigmoid(logits[best]), detail=how)
        return YesNoAnswer(
            sigmoid(logits[best]), detail=f"{how}; {_place_words(piece)}", span=(piece.start, piece.end)
        )

    def _exchange(
        self, request: DecisionRequest, text: str, answers: Mapping[str, Answer], elapsed: float
    ) -> Exchange:
        asked = {
            name: {"question": q.text, "yes_means": q.yes_means, "no_means": q.no_means}
            for name, q in request.questions.items()
        }
        said = {
            name: {"probability": answer.probability, "detail": answer.detail}
            for name, answer in answers.items()
            if isinstance(answer, YesNoAnswer)
        }
        sent = json.dumps(
            {"model": self.version, "text": text, "questions": asked}, ensure_ascii=False, indent=2
        )
        got = json.dumps({"answers": said}, ensure_ascii=False, indent=2)
        return Exchange(f"embedded:{self.files.name}", sent, got, 0, elapsed)

    async def fit(
        self,
        questions: Mapping[str, YesNoQuestion],
        cases: Mapping[str, Sequence[tuple[str, bool]]],
    ) -> tuple[FittedChecks, list[FitFigures]]:
        """Fit every check that has at least two labelled texts on each side.

        `cases` maps a check's name to (text, label) pairs. Returns the weights, which the caller stores, and
        per check the figures before and (cross-validated) after. Nothing of the model itself changes.
        """
        checks: dict[str, FittedCheck] = {}
        figures: list[FitFigures] = []
        for name, question in questions.items():
            rows = list(cases.get(name, ()))
            positives = sum(1 for _, label in rows if label)
            negatives = len(rows) - positives
            if min(positives, negatives) < MINIMUM:
                reason = (
                    f"needs {MINIMUM} labelled texts on each side, has {positives} yes and {negatives} no"
                )
                figures.append(FitFigures(name, positives, negatives, {}, {}, reason))
                continue
            check, figure = await self._fit_one(name, question, rows)
            checks[name] = check
            figures.append(figure)
        return FittedChecks(self.files.version, checks), figures

    async def _fit_one(
        self, name: str, question: YesNoQuestion, rows: list[tuple[str, bool]]
    ) -> tuple[FittedCheck, FitFigures]:
        import numpy as np

        wording = await self._text_vectors([piece for piece in descriptions(question) if piece])
        groups = []
        for text, _ in rows:
            group = []
            for vector in await self._window_vectors(windows(text) or [" "]):
                group.append((vector, zero_shot_logit(question, _similarities(question, vector, wording))))
            groups.append(group)
        labels = [label for _, label in rows]
        before = [max(logit for _, logit in group) for group in groups]
        fold_of = folds(labels)
        held_out = [0.0] * len(rows)
        several = max(fold_of) > 0
        for fold in sorted(set(fold_of)) if several else []:
            weights, intercept = _fit_groups(groups, labels, [i for i, f in enumerate(fold_of) if f != fold])
            for i in (i for i, f in enumerate(fold_of) if f == fold):
                held_out[i] = max(float(np.dot(weights, feature_row(*row))) + intercept for row in groups[i])
        weights, intercept = _fit_groups(groups, labels, range(len(rows)))
        figures = FitFigures(
            name,
            sum(labels),
            len(labels) - sum(labels),
            _figures(labels, before),
            _figures(labels, held_out),
            held_out=tuple(sigmoid(logit) for logit in held_out) if several else (),
        )
        check = FittedCheck(
            question,
            tuple(float(w) for w in weights),
            intercept,
            hash_cases(rows),
            figures.positives,
            figures.negatives,
            figures.after,
        )
        return check, figures

    async def _text_vectors(self, texts: list[str]) -> dict[str, Vector]:
        """Return one vector per distinct text; a text too long for the model gets the first of its parts."""
        distinct = list(dict.fromkeys(texts))
        groups = await self._groups(distinct)
        return {text: group[0] for text, group in zip(distinct, groups, strict=True)}

    async def _window_vectors(self, pieces: list[str]) -> list[Vector]:
        return [vector for group in await self._groups(pieces) for vector in group]

    async def _groups(self, texts: list[str]) -> list[list[Vector]]:
        # Taken before the first wait: another run may push vectors out of the memory meanwhile.
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        # Small calls, so that a run that is stopped does not keep the worker busy.
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            for text, group in zip(batch, await self._call("embed", {"texts": batch}), strict=True):
                known[text] = [_decode(vector) for vector in group]
        for text, group in known.items():
            self._vectors[text] = group
            self._vectors.move_to_end(text)
        while len(self._vectors) > _REMEMBERED:
            self._vectors.popitem(last=False)
        return [known[text] for text in texts]

    async def _call(self, method: str, params: dict[str, Any]) -> Any:
        key = f"embedding:{self.files.model}:{self.files.tokenizer}"
        arguments = (str(self.files.model), str(self.files.tokenizer))
        worker = shared_worker(key, lambda: WorkerProcess(WORKER_MODULE, arguments))
        try:
            return await worker.call(method, params, timeout=self.timeout)
        except WorkerTimeout as error:
            raise DecisionError(
                f"the embedded model did not answer within {self.timeout:g} s", kind="timeout"
            ) from error
        except WorkerCrashed as error:
            raise DecisionError(f"the embedded model's process ended: {error}", kind="crashed") from error
        except WorkerError as error:
            raise DecisionError(f"the embedded model failed: {error}", kind="unavailable") from error


def _fit_groups(
    groups: Sequence[Sequence[tuple[Vector, float]]], labels: Sequence[bool], chosen: Sequence[int] | range
) -> tuple[Any, float]:
    """Fit on the rows `chosen`: of a "yes" text its likeliest window, of a "no" text all, sharing its weight."""
    import numpy as np

    features, targets, shares = [], [], []
    for i in chosen:
        group = groups[i]
        used = [max(group, key=lambda row: row[1])] if labels[i] else list(group)
        for row in used:
            features.append(feature_row(*row))
            targets.append(float(labels[i]))
            shares.append(1.0 / len(used))
    return fit_logistic(np.asarray(features), np.asarray(targets), np.asarray(shares))


def _figures(labels: Sequence[bool], logits: Sequence[float]) -> dict[str, float | None]:
    pairs = list(zip(labels, logits, strict=True))
    yes = [logit for label, logit in pairs if label]
    no = [logit for label, logit in pairs if not label]
    wins = sum(1.0 if y > n else 0.5 if y == n else 0.0 for y in yes for n in no)
    right = sum(1 for label, logit in pairs if (logit >= 0) == label)
    return {
        "auc": wins / (len(yes) * len(no)) if yes and no else None,
        "accuracy": right / len(pairs) if pairs else None,
    }


def _judged_text(value: str | Mapping[str, Any]) -> str:
    if isinstance(value, str):
        return value
    last = list(value.values())[-1]
    text = last if isinstance(last, str) else json.dumps(last, ensure_ascii=False, default=dict)
    if not text.strip():
        raise DecisionError("the text to judge is blank", kind="configuration")
    return text


def _similarities(question: YesNoQuestion, vector: Vector, wording: Mapping[str, Vector]) -> list[float]:
    return [_dot(vector, wording[text]) if text else 0.0 for text in descriptions(question)]


def _dot(a: Vector, b: Vector) -> float:
    # Plain Python and always in the same order: the same text gives the same number in any company.
    return float(sum(map(mul, a, b)))


def _decode(text: str) -> Vector:
    vector = array.array("f")
    vector.frombytes(base64.b64decode(text))
    return vector


def _place_words(piece: Window) -> str:
    if piece.first == piece.last:
        return f"the strongest part is sentence {piece.first}"
    return f"the strongest part is sentences {piece.first}–{piece.last}"


def _fit_words(fitted: FittedCheck) -> str:
    return f"judged by a fit on {fitted.positives} yes and {fitted.negatives} no cases"
