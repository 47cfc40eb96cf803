"""*Fit on my cases*: fits the embedded model's checks on a project's labelled cases, only when asked to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from workbench.engine.decisions import DecisionError, YesNoQuestion, fitted_path
from workbench.engine.decisions.embedded import EmbeddedDecisionModel, FitFigures
from workbench.engine.decisions.fitted import FittedChecks, StaleFit, stale_fits
from workbench.engine.decisions.opening import embedded_files
from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import GuardrailSettings, Stage
from workbench.engine.model_settings import ModelSettings

Rows = Mapping[str, list[tuple[str, bool]]]


def questions_of(settings: GuardrailSettings) -> dict[str, YesNoQuestion]:
    """Return the questions by name of a stage's checks that ask a model."""
    return {
        check.name: YesNoQuestion(check.question, check.yes_means or None, check.no_means or None)
        for check in settings.checks
        if check.rule is None
    }


async def fit_on_cases(
    model_settings: ModelSettings,
    guardrails: Mapping[Stage, GuardrailSettings],
    cases: Iterable[Case],
    *,
    root: Path,
) -> list[FitFigures]:
    """Fit all checks of the stages given on `cases` and store the weights in the project.

    Checks with the same name at both stages share one fit. Checks fitted earlier that have too few cases now
    lose their fit. Returns the figures before and (cross-validated) after, per check; of a check that asks no
    model, why there are none.

    Raises:
        DecisionError: where the model is not the embedded one, or cannot be used.
        OSError: where the project cannot be written.
    """
    path = fitted_path(model_settings, root)
    if model_settings.provider != "embedded" or path is None:
        raise DecisionError(
            "only the embedded model can be fitted", kind="configuration", hint='choose provider = "embedded"'
        )
    # Weights fitted earlier play no part, and may even be broken.
    model = EmbeddedDecisionModel(embedded_files(model_settings, root), name=model_settings.name)
    questions, rows = gathered(guardrails, cases)
    fitted, figures = await model.fit(questions, rows)
    fitted.save(path)
    return figures + [_unfitted(check.name) for g in guardrails.values() for check in g.checks if check.rule]


def _unfitted(check: str) -> FitFigures:
    return FitFigures(check, 0, 0, {}, {}, skipped="asks no model: there is nothing to fit")


def stale_checks(
    model_settings: ModelSettings,
    guardrails: Mapping[Stage, GuardrailSettings],
    cases: Iterable[Case],
    *,
    root: Path,
) -> list[StaleFit]:
    """Return the fitted checks of a project whose model, wording or cases changed since; none where nothing is fitted.

    Raises:
        ValueError: where the stored weights cannot be read.
        DecisionError: where the embedded model's files are missing.
    """
    path = fitted_path(model_settings, root)
    fitted = FittedChecks.load(path) if path is not None else None
    if fitted is None:
        return []
    questions, rows = gathered(guardrails, cases)
    return stale_fits(fitted, embedded_files(model_settings, root).version, questions, rows)


def gathered(
    guardrails: Mapping[Stage, GuardrailSettings], cases: Iterable[Case]
) -> tuple[dict[str, YesNoQuestion], Rows]:
    """Return the questions and the labelled texts of all checks that ask a model, both stages together.

    `cases` are read once.
    """
    questions: dict[str, YesNoQuestion] = {}
    of_stage: dict[Stage, Rows] = {}
    for stage, settings in guardrails.items():
        questions.update(questions_of(settings))
        of_stage[stage] = {name: [] for name in questions_of(settings)}
    for case in cases:
        if case.labels and case.text.strip():
            here = of_stage.get(case.stage, {})
            for name, label in case.labels.items():
                if name in here:
                    here[name].append((case.text, label))
    rows: dict[str, list[tuple[str, bool]]] = {}
    for found in of_stage.values():
        for name, pairs in found.items():
            rows.setdefault(name, []).extend(pairs)
    return questions, rows
