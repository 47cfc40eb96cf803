"""Every sample project is sound, labelled, and shows what its README says."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.engine.projects.conftest import contents
from workbench.engine.decisions import decision_model_available, open_decision_model
from workbench.engine.language_models import open_language_model
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects import Project, ProjectError, copy_sample, list_samples, sample_folder
from workbench.engine.schemas import JsonSchema
from workbench.engine.translation import Failure, Success
from workbench.engine.workflows import check_project, render_project, translate_project, validate_project

NAMES = ["support-triage", "answer-from-documents", "table-booking"]
CHECKS = {"support-triage": (5, 2), "answer-from-documents": (3, 0), "table-booking": (2, 0)}
EMBEDDED = ModelSettings("decision", "embedded")

needs_embedded = pytest.mark.skipif(
    decision_model_available(EMBEDDED, None) is not None,
    reason="the embedded model's files are not installed",
)


def recorded_requests(name: str) -> list[str]:
    """Return the requests of a sample's recorded translations, each once."""
    path = sample_folder(name) / "recordings" / "translations.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return list(dict.fromkeys(row["request"] for row in rows))


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of each sample in turn."""
    return str(request.param)


def test_the_samples_are_listed_with_title_and_description() -> None:
    samples = list_samples()
    assert [sample.name for sample in samples] == NAMES
    assert [sample.title for sample in samples] == [
        "Support triage",
        "Answer from documents",
        "Table booking",
    ]
    assert all(20 < len(sample.description) < 120 for sample in samples)


def test_a_copy_is_a_project_of_its_own(name: str, tmp_path: Path) -> None:
    target = copy_sample(name, tmp_path / "copy with spaces")
    assert contents(target) == contents(sample_folder(name))
    project = Project.load(target)
    project.set_message(0, "Changed.\n")
    project.save()
    assert Project.load(sample_folder(name)).snapshot().messages[0].content != "Changed.\n"
    with pytest.raises(ProjectError, match="not empty"):
        copy_sample(name, target)


def test_a_sample_that_does_not_exist_is_refused_with_a_guess(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as caught:
        copy_sample("suport-triage", tmp_path / "x")
    assert caught.value.diagnostics[0].hint == "did you mean `support-triage`?"
    assert not (tmp_path / "x").exists()


def test_a_sample_has_no_errors_and_no_warnings(name: str) -> None:
    found = [d.one_line() for d in validate_project(sample_folder(name)) if d.severity != "info"]
    assert found == []


def test_loading_and_saving_a_copy_changes_no_byte(name: str, tmp_path: Path) -> None:
    target = copy_sample(name, tmp_path / "copy")
    project = Project.load(target)
    project.save(overwrite=True)
    assert contents(target) == contents(sample_folder(name))


def test_every_parameter_set_fills_the_template_completely(name: str) -> None:
    snapshot = Project.load(sample_folder(name)).snapshot()
    assert len(snapshot.parameter_sets) >= 3
    for parameter_set in snapshot.parameter_sets:
        rendering = render_project(snapshot, parameter_set)
        assert rendering.unresolved == ()
        text = rendering.text()
        assert text.count("--- ") >= 2
        assert "[%" not in text
        assert "{{" not in text


def test_an_optional_placeholder_without_a_value_takes_its_line_with_it() -> None:
    snapshot = Project.load(sample_folder("answer-from-documents")).snapshot()
    assert "Searched for:" in render_project(snapshot, "default").text()
    assert "Searched for:" not in render_project(snapshot, "no-queries").text()
    assert '{"sources": [2, 5]}' in render_project(snapshot, "default").text()
    assert "the example {chunks} mean" in render_project(snapshot, "braces-in-the-data").text()


def test_a_sample_has_the_checks_that_it_promises(name: str) -> None:
    snapshot = Project.load(sample_folder(name)).snapshot()
    guardrails = (snapshot.input_guardrail, snapshot.output_guardrail)
    assert tuple(len(guardrail.checks) for guardrail in guardrails) == CHECKS[name]
    for guardrail in guardrails:
        assert all(check.yes_means and check.no_means for check in guardrail.checks)


def test_cases_are_many_distinct_and_labelled_with_known_checks(name: str) -> None:
    snapshot = Project.load(sample_folder(name)).snapshot()
    assert len(snapshot.cases) >= 60
    assert len({case.id for case in snapshot.cases}) == len({case.text for case in snapshot.cases})
    for case in snapshot.cases:
        known = {check.name for check in snapshot.guardrail(case.stage).checks}
        assert case.labels.keys() <= known, case.id
        assert case.labels, case.id
        assert (case.user_message is None) == (case.stage == "input"), case.id


def test_every_check_has_cases_on_both_sides(name: str) -> None:
    snapshot = Project.load(sample_folder(name)).snapshot()
    counts = Counter(
        (case.stage, check, label) for case in snapshot.cases for check, label in case.labels.items()
    )
    for stage in ("input", "output"):
        for check in snapshot.guardrail(stage).checks:  # type: ignore[arg-type]
            yes, no = counts[stage, check.name, True], counts[stage, check.name, False]
            assert yes >= 9, check.name
            assert 0.25 <= yes / (yes + no) <= 0.75, check.name


@pytest.mark.parametrize("kind", ["quoted", "refusal", "another language", "long mail"])
def test_hard_cases_of_every_kind_are_there(name: str, kind: str) -> None:
    notes = [case.note for case in Project.load(sample_folder(name)).snapshot().cases]
    assert any(kind in note for note in notes)


def test_long_mails_are_long_and_differ_only_in_their_end(name: str) -> None:
    cases = {case.id: case for case in Project.load(sample_folder(name)).snapshot().cases}
    clean, attack = cases["long-01"], cases["long-02"]
    assert len(clean.text) > 500
    assert clean.text[:400] == attack.text[:400]
    assert (clean.labels["promptInjection"], attack.labels["promptInjection"]) == (False, True)


def test_the_models_run_here_with_no_account(name: str) -> None:
    models = Project.load(sample_folder(name)).snapshot().models
    assert (models["decision"].provider, models["chat"].provider) == ("embedded", "local")
    assert models["recorded"].provider == "recorded"
    assert all(model.secret is None for model in models.values())


def test_the_readme_says_what_it_teaches(name: str) -> None:
    text = (sample_folder(name) / "README.md").read_text("utf-8")
    assert text.startswith(f"# {Project.load(sample_folder(name)).name}\n")
    assert "What it shows" in text


@needs_embedded
@pytest.mark.parametrize(
    ("parameter_set", "failed"),
    [("default", ()), ("injection", ("promptInjection",))],
    ids=["clean", "attack"],
)
def test_the_embedded_model_passes_the_clean_set_and_stops_the_attack(
    name: str, parameter_set: str, failed: tuple[str, ...]
) -> None:
    snapshot = Project.load(sample_folder(name)).snapshot()
    text = render_project(snapshot, parameter_set).text()

    async def check() -> tuple[str, ...]:
        model = open_decision_model(snapshot.models["decision"], root=snapshot.root)
        try:
            return (await check_project(snapshot, "input", text, model=model)).failed_checks
        finally:
            await model.aclose()

    assert asyncio.run(check()) == failed


def test_recorded_decisions_replay_for_every_parameter_set(name: str) -> None:
    snapshot = Project.load(sample_folder(name)).snapshot()

    async def check(text: str) -> str:
        return (await check_project(snapshot, "input", text, model_name="recorded")).verdict

    for parameter_set in snapshot.parameter_sets:
        rendering = render_project(snapshot, parameter_set)
        assert rendering.prompt is not None
        verdict = "rejected" if parameter_set == "injection" else "passed"
        assert asyncio.run(check(rendering.text())) == verdict, parameter_set
        assert asyncio.run(check(rendering.prompt.messages[-1].text)) == verdict, parameter_set


@pytest.mark.parametrize("name", ["support-triage", "table-booking"])
def test_a_recorded_translation_breaks_the_schema_and_is_repaired(name: str) -> None:
    snapshot = Project.load(sample_folder(name)).snapshot()
    assert snapshot.output_schema is not None
    schema = JsonSchema.parse(snapshot.output_schema.text)
    requests = recorded_requests(name)
    assert len(requests) >= 2
    outcomes = []
    for request in requests:
        result = asyncio.run(translate_project(snapshot, request, model_name="recorded"))
        outcomes.append([attempt.outcome for attempt in result.attempts])
        if isinstance(result, Success):
            assert schema.check(result.data) == []
    assert outcomes[0] == ["invalid", "ok"]


@pytest.mark.parametrize("name", ["support-triage", "table-booking"])
def test_a_request_that_was_not_recorded_gets_no_answer(name: str) -> None:
    snapshot = Project.load(sample_folder(name)).snapshot()
    result = asyncio.run(
        translate_project(snapshot, "Something that nobody ever asked.", model_name="recorded")
    )
    assert isinstance(result, Failure)
    assert "recorded" in result.message


def test_recorded_replies_say_who_gave_them_and_are_marked_as_recorded(name: str) -> None:
    folder = sample_folder(name) / "recordings"
    rows = [
        json.loads(line) for path in folder.glob("*.jsonl") for line in path.read_text("utf-8").splitlines()
    ]
    assert rows
    assert all(row["model"] for row in rows)
    chat = [row for row in rows if row["kind"] == "chat"]
    if chat:
        model = open_language_model(ModelSettings("recorded", "recorded"), root=sample_folder(name))
        from workbench.engine.language_models import Message

        completion = asyncio.run(model.complete([Message("user", chat[0]["request"])]))
        assert completion.recorded
        assert completion.text == chat[0]["reply"]


def test_addresses_in_a_sample_lead_nowhere(name: str) -> None:
    for path, data in contents(sample_folder(name)).items():
        for domain in re.findall(rb"[\w.+-]+@([\w-]+(?:\.[\w-]+)+)", data):
            assert domain in (b"example.org", b"example.net", b"example.com"), path


@pytest.mark.parametrize("there", [False, True], ids=["new-folder", "empty-folder"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_copy_that_fails_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool, error: BaseException
) -> None:
    copied = []

    def copyfile(source: Path, target: Path) -> None:
        copied.append(target)
        target.write_bytes(source.read_bytes()[:10])
        if len(copied) == 3:
            raise error

    folder = tmp_path / "deep" / "mine"
    if there:
        folder.mkdir(parents=True)
    monkeypatch.setattr(shutil, "copyfile", copyfile)
    with pytest.raises(type(error)):
        copy_sample("table-booking", folder)
    assert len(copied) == 3
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == (
        ["deep", "deep/mine"] if there else []
    )
