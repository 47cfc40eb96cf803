"""Judges the cases that a check was fitted on by fits that did not see them, so that no figure flatters."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.engine.decisions import (
    Answer,
    DecisionModel,
    DecisionRequest,
    DecisionResponse,
    ModelInfo,
    Usage,
    YesNoAnswer,
    YesNoQuestion,
    open_decision_model,
)
from workbench.engine.decisions.embedded import EmbeddedDecisionModel
from workbench.engine.decisions.fitted import hash_cases
from workbench.engine.evaluation.cases import Case
from workbench.engine.evaluation.fitting import Rows, gathered
from workbench.engine.guardrails.settings import GuardrailSettings, Stage
from workbench.engine.model_settings import ModelSettings


class CrossValidatedModel(DecisionModel):
    """An embedded model with fitted checks, for its evaluation on the very cases that it was fitted on.

    A text that a check has among `rows` is answered by a fit on the other folds; everything else is answered
    by the model itself. The fits are made at the first such text, again from the present cases, so that their
    hash is part of the version.
    """

    provider = "embedded"

    def __init__(
        self, model: EmbeddedDecisionModel, questions: Mapping[str, YesNoQuestion], rows: Rows
    ) -> None:
        self.name = model.name
        fitted = model.fitted.checks if model.fitted is not None else {}
        # A check whose wording changed is scored by its wording alone: there is nothing to hold out.
        self._questions = {n: q for n, q in questions.items() if n in fitted and fitted[n].fits(q)}
        self._rows = {name: list(rows.get(name, ())) for name in self._questions}
        self._texts = {name: {text for text, _ in pairs} for name, pairs in self._rows.items()}
        self._model = model
        self._held_out: dict[tuple[str, str], float] | None = None
        self._lock = asyncio.Lock()
        pairs = [(f"{name}\n{text}", label) for name, rows in self._rows.items() for text, label in rows]
        self.version = f"{model.version}+cv-{hash_cases(pairs)[:8]}"

    async def describe(self) -> ModelInfo:
        """Return what the model says of itself, under the version of the cross-validation."""
        return replace(await self._model.describe(), version=self.version)

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Return the answers; see `DecisionModel.decide`."""
        text = request.input if isinstance(request.input, str) else str(list(request.input.values())[-1])
        fitted_on = {
            name
            for name, question in request.questions.items()
            if self._questions.get(name) == question and text in self._texts[name]
        }
        held_out = await self._probabilities() if fitted_on else {}
        answers: dict[str, Answer] = {
            name: YesNoAnswer(held_out[name, text], detail="by a fit on the other cases")
            for name in fitted_on
            if (name, text) in held_out
        }
        rest = {name: q for name, q in request.questions.items() if name not in answers}
        if not rest:
            return DecisionResponse(answers, self.version, Usage(0, 0))
        response = await self._model.decide(DecisionRequest(request.input, rest))
        return replace(response, answers={**response.answers, **answers}, model_name=self.version)

    async def _probabilities(self) -> dict[tuple[str, str], float]:
        async with self._lock:
            if self._held_out is None:
                _, figures = await self._model.fit(self._questions, self._rows)
                self._held_out = {
                    (figure.check, text): p
                    for figure in figures
                    for (text, _), p in zip(self._rows[figure.check], figure.held_out, strict=False)
                }
            return self._held_out

    async def aclose(self) -> None:
        """Release the model."""
        await self._model.aclose()


def open_for_evaluation(
    model_settings: ModelSettings,
    guardrails: Mapping[Stage, GuardrailSettings],
    cases: Iterable[Case],
    *,
    root: Path | None = None,
    secrets: Any | None = None,
    transport: Any | None = None,
) -> DecisionModel:
    """Open the decision model to be judged on the project's own `cases`.

    Checks that were fitted on these cases answer cross-validated; all other models are opened as always.

    Raises:
        DecisionError: where the model cannot be used as it is.
    """
    model = open_decision_model(model_settings, root=root, secrets=secrets, transport=transport)
    if not isinstance(model, EmbeddedDecisionModel) or model.fitted is None:
        return model
    return CrossValidatedModel(model, *gathered(guardrails, cases))
