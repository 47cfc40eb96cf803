"""P(yes) from token probabilities: whole words only, nothing counted twice, bounds where something is missing."""

from __future__ import annotations

import math
from typing import Any

import pytest

from workbench.engine.decisions import BadAnswer, NoAnswer, YesNoAnswer
from workbench.engine.decisions.logprobs import BadLogprobs, normal_form, positions_of, yes_probability


def token(text: str, p: float, *, top: dict[str, float] | None = None, **more: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"token": text, "logprob": math.log(p) if p else -9999.0, **more}
    if top is not None:
        entry["top_logprobs"] = [token(t, q) for t, q in top.items()]
    return entry


def read(*tokens: dict[str, Any], **options: Any) -> Any:
    return yes_probability(positions_of({"logprobs": {"content": list(tokens)}}), **options)


def test_the_probability_is_the_share_of_yes_among_yes_and_no() -> None:
    answer = read(token("Yes", 0.6, top={"Yes": 0.6, "No": 0.2, "Maybe": 0.2}))
    assert answer.probability == pytest.approx(0.75)
    assert answer.mass == pytest.approx(0.8)
    assert (answer.lower, answer.upper) == (pytest.approx(0.75), pytest.approx(0.75))


def test_spellings_of_one_word_add_up() -> None:
    top = {"Yes": 0.3, " yes": 0.2, "YES": 0.1, "No": 0.2, "ĠNo": 0.1, "▁no": 0.05, '"No"': 0.05}
    assert read(token("Yes", 0.3, top=top)).probability == pytest.approx(0.6)


@pytest.mark.parametrize("word", ["Not", "None", "Now", "Yesterday", "Noon", "yesno"])
def test_words_that_begin_like_an_answer_are_none(word: str) -> None:
    answer = read(token("Yes", 0.5, top={"Yes": 0.5, word: 0.5}))
    assert answer.mass == pytest.approx(0.5)


def test_d13_alternatives_that_lost_their_blank_count_once_by_their_id() -> None:
    entry = {"id": 9, "token": " Yes", "logprob": math.log(0.6)}
    entry["top_logprobs"] = [
        {"id": 9, "token": "Yes", "logprob": math.log(0.6)},
        {"id": 4, "token": "No", "logprob": math.log(0.4)},
    ]
    assert read(entry).probability == pytest.approx(0.6)


def test_d20_a_chosen_token_that_is_not_listed_is_added() -> None:
    answer = read(token("No", 0.05, top={"Yes": 0.85, "Hm": 0.1}))
    assert answer.probability == pytest.approx(0.85 / 0.9)


def test_the_chosen_token_need_not_be_the_likeliest() -> None:
    assert read(token("No", 0.1, top={"Yes": 0.9, "No": 0.1})).probability == pytest.approx(0.9)


def test_what_is_not_listed_gives_bounds() -> None:
    answer = read(token("Yes", 0.5, top={"Yes": 0.5, "No": 0.3}))
    assert answer.probability == pytest.approx(0.625)
    assert answer.lower == pytest.approx(0.5)
    assert answer.upper == pytest.approx(0.7)


@pytest.mark.parametrize(("word", "p"), [("Yes", 0.7), ("No", 0.3)])
def test_one_side_alone_gives_its_bound_and_no_hard_number(word: str, p: float) -> None:
    answer = read(token(word, 0.7, top={word: 0.7}))
    assert answer.probability == pytest.approx(p)


def test_blanks_before_the_answer_are_stepped_over_by_their_probability() -> None:
    answer = read(
        token("\n", 0.5, top={"\n": 0.5, "Yes": 0.3, "No": 0.2}),
        token("No", 0.8, top={"No": 0.8, "Yes": 0.2}),
    )
    assert answer.probability == pytest.approx(0.3 + 0.5 * 0.2)
    assert answer.mass == pytest.approx(1.0)


@pytest.mark.parametrize("mass", [0.0, 0.1, 0.199])
def test_d9_too_little_mass_is_no_answer(mass: float) -> None:
    top = {"The": 1 - mass} | ({"Yes": mass} if mass else {})
    answer = read(token("The", 1 - mass, top=top))
    assert isinstance(answer, NoAnswer)
    assert "neither with yes nor with no" in answer.detail


def test_the_least_mass_can_be_set() -> None:
    assert isinstance(read(token("The", 0.9, top={"The": 0.9, "Yes": 0.1}), min_mass=0.05), YesNoAnswer)


def test_impossible_tokens_count_as_nothing() -> None:
    entry = token("Yes", 1.0)
    entry["top_logprobs"] = [{"token": "No", "logprob": -9999.0}, {"token": "no", "logprob": -3.4e38}]
    assert read(entry).probability == pytest.approx(1.0)


def test_words_of_other_languages_can_be_added() -> None:
    answer = read(token("Ja", 0.8, top={"Ja": 0.8, "Nein": 0.2}), yes={"yes", "ja"}, no={"no", "nein"})
    assert answer.probability == pytest.approx(0.8)


def test_probabilities_that_add_up_to_more_than_one_are_an_error() -> None:
    assert isinstance(read(token("Yes", 0.9, top={"Yes": 0.9, "No": 0.9})), BadAnswer)


def test_only_blanks_are_no_answer() -> None:
    assert isinstance(read(token("\n", 0.9, top={"\n": 0.9, "Yes": 0.1})), NoAnswer)


@pytest.mark.parametrize(
    ("logprobs", "words"),
    [
        (None, "no token probabilities"),
        ({"content": None}, "no token probabilities"),
        ({"content": []}, "no token probabilities"),
        ({"content": ["Yes"]}, "not of a form"),
        ({"content": [{"token": "Yes"}]}, "not a number"),
        ({"content": [{"token": "Yes", "logprob": 0.69}]}, "above 0"),
        ({"content": [{"token": "Yes", "logprob": True}]}, "not a number"),
        ({"content": [{"token": "Yes", "logprob": float("nan")}]}, "not a number"),
        ({"tokens": ["Yes"], "token_logprobs": []}, "parts missing"),
    ],
)
def test_what_cannot_be_read_is_said(logprobs: Any, words: str) -> None:
    with pytest.raises(BadLogprobs, match=words):
        positions_of({"logprobs": logprobs})


def test_bytes_decide_over_the_token_s_text_and_half_characters_are_no_word() -> None:
    first = {"token": "\ufffd", "bytes": [89, 101, 115], "logprob": math.log(0.5)}
    first["top_logprobs"] = [{"token": "no", "bytes": [0xC3], "logprob": math.log(0.4)}]
    answer = read(first)
    assert answer.mass == pytest.approx(0.5)


def test_ollama_s_native_place_is_read() -> None:
    reply = {"logprobs": [token("No", 0.9, top={"No": 0.9, "Yes": 0.1})]}
    assert yes_probability(positions_of({}, reply)).probability == pytest.approx(0.1)


def test_the_form_of_the_old_completions_is_read() -> None:
    logprobs = {"tokens": ["Yes"], "token_logprobs": [math.log(0.8)], "top_logprobs": [{"No": math.log(0.2)}]}
    assert yes_probability(positions_of({"logprobs": logprobs})).probability == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("text", "word"),
    [(" Yes", "yes"), ("**NO**", "no"), ("▁no.", "no"), ("\u201cYes\u201d", "yes"), ("", "")],
)
def test_tokens_are_compared_as_bare_words(text: str, word: str) -> None:
    assert normal_form(text) == word


@pytest.mark.parametrize(
    ("chosen", "listed"),
    [
        ({"bytes": list(b"Yes")}, {}),
        ({"id": 9}, {}),
        ({"id": 9, "bytes": list(b"Yes")}, {"bytes": list(b"Yes")}),
        ({}, {"bytes": list(b"Yes")}),
        ({"bytes": None}, {"id": 9}),
    ],
    ids=["bytes-of-chosen", "id-of-chosen", "id-of-chosen-only", "bytes-of-list", "id-of-list"],
)
def test_the_chosen_token_counts_once_where_only_one_place_gives_its_key(
    chosen: dict[str, Any], listed: dict[str, Any]
) -> None:
    entry = token("Yes", 0.3, **chosen)
    entry["top_logprobs"] = [token("Yes", 0.30001, **listed), token("No", 0.3)]
    assert read(entry).probability == pytest.approx(0.5)


def test_tokens_of_one_text_but_other_ids_are_two() -> None:
    entry = token("Yes", 0.3, id=9)
    entry["top_logprobs"] = [token("Yes", 0.3, id=9), token("Yes", 0.2, id=10), token("No", 0.5, id=4)]
    assert read(entry).probability == pytest.approx(0.5)


def test_d13_alternatives_that_lost_their_blank_count_once_without_an_id_too() -> None:
    assert read(token(" Yes", 0.3, top={"Yes": 0.3, "No": 0.3})).probability == pytest.approx(0.5)


@pytest.mark.parametrize("blank", ["\u3000", "\u2003", "\u202f", "\u2028", "\v"])
def test_every_kind_of_blank_is_stripped(blank: str) -> None:
    assert normal_form(f"{blank}Yes{blank}") == "yes"
