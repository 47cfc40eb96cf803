"""What a check's wording says of both sides: exclusions change sides, mere absence is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.decisions import YesNoQuestion
from workbench.engine.decisions.wording import sides
from workbench.engine.decisions.zero_shot import descriptions, zero_shot_features, zero_shot_logit

QUESTION = "Is the message about money?"


@pytest.mark.parametrize(
    ("yes_means", "yes", "parts", "no"),
    [
        ("asks for a loan", "asks for a loan", ("asks for a loan",), ""),
        (
            "loans, shares or the price of gold",
            "loans, shares or the price of gold",
            ("loans", "shares", "the price of gold"),
            "",
        ),
        ("about something other than gardening", "", (), "gardening"),
        (
            "anything but gardening or flowers, such as football",
            "football",
            ("football",),
            "gardening, flowers",
        ),
        ("about something outside physics", "", (), "physics"),
        (
            "asks to meet outside the office",
            "asks to meet outside the office",
            ("asks to meet outside the office",),
            "",
        ),
        # What a "yes" lacks still names its subject: a vector of it lies close to the texts meant.
        ("the parcel has not arrived", "the parcel has not arrived", ("the parcel has not arrived",), ""),
        (
            "an order not to follow the rules",
            "an order not to follow the rules",
            ("an order not to follow the rules",),
            "",
        ),
        ("x", "x", ("x",), ""),
        (", ;", ", ;", (", ;",), ""),
    ],
    ids=["one", "list", "other-than", "such-as", "outside", "outdoors", "not", "not-to", "letter", "marks"],
)
def test_what_yes_means_excludes_stands_for_no(
    yes_means: str, yes: str, parts: tuple[str, ...], no: str
) -> None:
    found = sides(YesNoQuestion(QUESTION, yes_means))
    assert (found.yes, found.parts, found.no) == (yes, parts, no)


@pytest.mark.parametrize(
    ("no_means", "no"),
    [
        ("an ordinary question or request", "an ordinary question or request"),
        ("contains no password", ""),
        ("contains no password or key", ""),
        ("does not ask for money, but for help", "but for help"),
        ("friendly, without insults", "friendly"),
        ("I cannot help with that, a colleague will", "a colleague will"),
        ("someone who doesn’t pay", "someone who"),
        ("not only kind words", "not only kind words"),
        ("talks about something other than loans", "talks about something"),
    ],
    ids=["plain", "no", "no-or", "not", "without", "cannot", "n't", "not-only", "other-than"],
)
def test_what_no_means_only_lacks_is_left_out(no_means: str, no: str) -> None:
    assert sides(YesNoQuestion(QUESTION, "money", no_means)).no == no


@pytest.mark.parametrize(
    ("question", "yes", "no"),
    [
        ("Does the text contain a password?", "contain a password", ""),
        ("Is the reply rude or hostile?", "rude or hostile", ""),
        ("Is the message off topic for a garden shop?", "", "a garden shop"),
        ("Is it about something other than tea?", "", "tea"),
        ("Rude?", "Rude", ""),
        ("Is this?", "Is this?", ""),
        ("What does it say?", "What does it say", ""),
    ],
    ids=["does", "is", "off-topic", "other-than", "short", "empty", "open"],
)
def test_without_a_description_the_question_stands_in(question: str, yes: str, no: str) -> None:
    found = sides(YesNoQuestion(question))
    assert (found.yes, found.no) == (yes, no)


def test_the_two_strongest_parts_count_and_a_missing_one_is_nothing() -> None:
    assert zero_shot_features([0.5, 0.1, 0.2, 0.6, 0.4]) == (0.5, pytest.approx(0.5), 0.1)
    assert zero_shot_features([0.5, 0.1, 0.3]) == (0.5, 0.3, 0.1)
    assert zero_shot_features([0.0, 0.4]) == (0.0, 0.0, 0.4)


def test_being_like_a_yes_raises_the_odds_and_being_like_a_no_lowers_them() -> None:
    for question in (
        YesNoQuestion(QUESTION, "money", "gardening"),
        YesNoQuestion(QUESTION, None, "gardening"),
    ):
        count = len(descriptions(question))
        middle = [0.2] * count
        assert zero_shot_logit(question, [0.4, *middle[1:]]) > zero_shot_logit(question, middle)
        assert zero_shot_logit(question, [0.2, 0.4, *middle[2:]]) < zero_shot_logit(question, middle)
        assert zero_shot_logit(question, [*middle[:-1], 0.4]) > zero_shot_logit(question, middle)


@given(
    st.text(alphabet="ab ,;:.?!'’or", min_size=1, max_size=60).filter(str.strip),
    st.lists(st.sampled_from(["no", "not", "other than", "or", ",", "such as", "x", "cats"]), max_size=9),
)
def test_any_wording_has_sides_and_no_blank_part(question: str, words: list[str]) -> None:
    text = " ".join(words)
    found = sides(YesNoQuestion(question, text or None, text or None))
    assert all(part.strip() for part in found.parts)
    assert found.yes or found.no
