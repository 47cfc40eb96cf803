"""Checks of a prompt of several messages count and point at what people wrote; a model gets the roles as well."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from workbench.engine.decisions import DecisionError, DecisionRequest, DecisionResponse, YesNoAnswer
from workbench.engine.guardrails import CheckSettings, GuardrailSettings, LengthCheck, PatternCheck
from workbench.engine.history import HistoryStore
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import MessageTemplate
from workbench.engine.text import TextFile
from workbench.engine.workflows import PromptText, check_project, render_project, run_again

LONG = CheckSettings("long", rule=LengthCheck(5))
CARD = CheckSettings("card", rule=PatternCheck(r"\d{4}"))
ROLE = CheckSettings("role", rule=PatternCheck("---|system"))
RUDE = CheckSettings("rude", "Is it rude?")
MESSAGES = (("system", "Be kind."), ("user", "My card is 1234.\n"))
PLAIN = "Be kind.\nMy card is 1234.\n"
SENT = "--- system ---\nBe kind.\n--- user ---\nMy card is 1234.\n"


class Decisions:
    """Says that the part from the first role line on decided, up to the end of the number."""

    name = "decisions"

    def __init__(self, error: DecisionError | None = None) -> None:
        self.error = error
        self.asked: list[Any] = []

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        self.asked.append(request.input)
        if self.error is not None:
            raise self.error
        span = (0, SENT.index("1234") + 4)
        return DecisionResponse({name: YesNoAnswer(0.9, span=span) for name in request.questions}, "m@1")

    async def aclose(self) -> None:
        """Nothing is open."""


def snapshot(*checks: CheckSettings, messages: tuple[tuple[str, str], ...] = MESSAGES) -> ProjectSnapshot:
    return ProjectSnapshot(
        name="n",
        messages=tuple(MessageTemplate(role, text) for role, text in messages),
        parameter_sets={"default": TextFile("{}")},
        input_guardrail=GuardrailSettings(0.5, checks),
    )


def check(project: ProjectSnapshot, model: Any = None, **options: Any) -> Any:
    text = render_project(project).checked()
    return asyncio.run(check_project(project, "input", text, model=model, **options))


def test_lengths_and_places_are_those_of_the_messages_alone() -> None:
    result = check(snapshot(LONG, CARD, ROLE))
    assert {each.name: (each.status, each.detail) for each in result.checks} == {
        "long": ("rejected", f"{len(PLAIN)} characters"),
        "card": ("rejected", f"found at character {PLAIN.index('1234') + 1}"),
        "role": ("passed", "not found"),
    }


def test_a_model_gets_the_roles_and_its_places_lead_to_the_messages_alone() -> None:
    model = Decisions()
    project = snapshot(RUDE, LONG)
    result = check(project, model)
    assert model.asked == [SENT]
    assert render_project(project).text() == SENT
    start, end = result.check("rude").span
    assert PLAIN[start:end] == "Be kind.\nMy card is 1234"


def test_where_the_model_fails_the_error_counts_the_messages_alone_too() -> None:
    with pytest.raises(DecisionError) as caught:
        check(snapshot(RUDE, LONG), Decisions(DecisionError("no luck")))
    assert [each.detail for each in caught.value.found] == [f"{len(PLAIN)} characters"]


def test_a_stored_check_of_a_prompt_runs_again_with_the_same_counts() -> None:
    project = snapshot(LONG, CARD)
    with HistoryStore.in_memory() as history:
        before = check(project, history=history)
        again = asyncio.run(run_again(project, history, 1))
        first, second = history.run(1), history.run(again)
    assert first.inputs["text"] == second.inputs["text"] == SENT
    details = [each["detail"] for each in second.events[-1].data["checks"]]
    assert details == [each.detail for each in before.checks]


def test_a_run_that_begins_beside_a_run_again_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    project = snapshot(LONG)
    with HistoryStore.in_memory() as history:
        check(project, history=history)
        finish = history.finish_run

        def finish_beside_another(run_id: int, *arguments: Any, **options: Any) -> None:
            finish(run_id, *arguments, **options)
            history.start_run("check", "of another process", {})

        monkeypatch.setattr(history, "finish_run", finish_beside_another)
        again = asyncio.run(run_again(project, history, 1))
        assert (again, history.run(again).summary.parent_run) == (2, 1)
        assert history.runs()[0].id == 3


def test_runs_are_told_apart_by_the_last_message_which_is_what_differs() -> None:
    with HistoryStore.in_memory() as history:
        check(snapshot(LONG), history=history)
        asyncio.run(check_project(snapshot(LONG), "input", "typed\n" + "word " * 40, history=history))
        typed, prompt = history.runs()
    assert prompt.title == "Input: My card is 1234."
    assert typed.title.startswith("Input: typed word word")
    assert typed.title.endswith("…")


@pytest.mark.parametrize(
    ("messages", "plain", "sent"),
    [
        ((), "", ""),
        ((("user", "one"),), "one", "one"),
        ((("system", "a"), ("user", "b")), "a\nb", "--- system ---\na\n--- user ---\nb\n"),
        ((("system", "a\n"), ("user", "b\n")), "a\nb\n", "--- system ---\na\n--- user ---\nb\n"),
        ((("system", ""), ("user", "🙂")), "\n🙂", "--- system ---\n\n--- user ---\n🙂\n"),
    ],
    ids=["none", "one", "no line ends", "line ends", "an empty one"],
)
def test_only_a_missing_line_end_stands_between_messages(
    messages: tuple[tuple[str, str], ...], plain: str, sent: str
) -> None:
    text = PromptText.of(messages)
    assert (text if isinstance(text, str) else text.plain) == plain
    assert (text if isinstance(text, str) else text.sent) == sent


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("Be kind.", "Be kind."),
        ("kind.\n--- user ---\nMy", "kind.\nMy"),
        ("--- user ---\nMy card", "My card"),
        ("kind.\n--- user", "kind."),
        ("-- user --", None),
    ],
)
def test_a_part_of_what_is_sent_is_found_in_the_messages(part: str, expected: str | None) -> None:
    start = SENT.index(part)
    found = PromptText(MESSAGES).plain_span(start, start + len(part))
    assert (PLAIN[slice(*found)] if found is not None else None) == expected
