"""A GGUF chat model as a decision model: in range, bounded, and the same twice; or not available, with the reason."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tests.engine.decisions.support import run
from workbench.engine.decisions import (
    BadAnswer,
    DecisionRequest,
    DecisionResponse,
    NoAnswer,
    YesNoAnswer,
    YesNoQuestion,
    decision_model_available,
    open_decision_model,
)
from workbench.engine.decisions.gguf import GgufDecisionModel, small_model
from workbench.engine.model_settings import ModelSettings

QUESTIONS = {
    "cooking": YesNoQuestion("Is the text about cooking?"),
    "money": YesNoQuestion("Is it about money?"),
}


def test_a_missing_file_is_a_reason(tmp_path: Path) -> None:
    settings = ModelSettings("d", "gguf", options={"path": "none.gguf"})
    assert "there is no file" in (decision_model_available(settings, tmp_path) or "")


@pytest.mark.local_model
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_small_chat_model_answers_each_check_with_bounds_and_the_same_twice() -> None:
    if (
        importlib.util.find_spec("xllamacpp") is None
    ):  # looked up only: workers import it, and tests watch that
        pytest.skip("xllamacpp is not installed")
    if small_model() is None:
        pytest.skip("the weights of the small model are not installed")
    model = open_decision_model(ModelSettings("d", "gguf", options={"timeout": 200, "min_mass": 0.0}))
    request = DecisionRequest("Fry the onions in butter for ten minutes.", QUESTIONS)

    async def twice() -> tuple[DecisionResponse, DecisionResponse]:
        return await model.decide(request), await model.decide(request)

    first, second = run(twice())
    assert len(first.exchanges) == 2
    for name in QUESTIONS:
        one, other = first.answers[name], second.answers[name]
        assert isinstance(one, (YesNoAnswer, NoAnswer))
        assert type(one) is type(other)
        if isinstance(one, YesNoAnswer) and isinstance(other, YesNoAnswer):
            assert one.lower is not None
            assert one.upper is not None
            assert 0 <= one.lower <= one.probability <= one.upper <= 1
            assert one.probability == pytest.approx(other.probability, abs=0.02)
    assert first.model_name is not None
    assert "@" in first.model_name


class _DecisionFile(GgufDecisionModel):
    """A decision GGUF whose worker is replaced: no such file is at hand, its System One replies are known."""

    def __init__(self, path: Path, reply: Any) -> None:
        super().__init__(path)
        self.reply = reply
        self.calls: list[str] = []

    async def _call(self, method: str, params: Any) -> Any:
        self.calls.append(method)
        return {"decides": True} if method == "about" else self.reply


def test_a_decision_file_is_asked_all_questions_at_once(tmp_path: Path) -> None:
    path = tmp_path / "decider.gguf"
    path.write_bytes(b"GGUF")
    reply = {"answers": {"cooking": {"type": "noul", "noul": 0.9}, "money": {"type": "noul", "noul": "x"}}}
    model = _DecisionFile(path, reply)
    response = run(model.decide(DecisionRequest("Fry it.", QUESTIONS)))
    assert model.calls == ["about", "systemone"]
    assert response.yes_no("cooking").probability == 0.9
    assert isinstance(response.answers["money"], BadAnswer)
