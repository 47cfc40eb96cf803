"""Messages about counted elements and about members that go together say what is missing."""

from __future__ import annotations

from workbench.engine.schemas import JsonSchema


def messages(schema: object, value: object) -> list[str]:
    return [problem.message for problem in JsonSchema.from_value(schema).check(value)]


def test_a_count_of_elements_names_the_schema_that_they_have_to_fit() -> None:
    (message,) = messages({"contains": {"const": 7}, "minContains": 2}, [7])
    assert '{"const": 7}' in message
    assert "at least 2" in message
    (message,) = messages({"contains": {"const": 7}, "maxContains": 1}, [7, 7])
    assert "at most 1 element that fits" in message


def test_a_member_that_needs_others_is_named_with_what_is_missing() -> None:
    found = messages({"dependentRequired": {"card": ["name", "date"]}}, {"card": 1, "date": 2})
    assert any('"card"' in message and '"name"' in message and '"date"' not in message for message in found)


def test_the_older_keyword_says_the_same() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"card": ["name"]}}
    (message,) = messages(schema, {"card": 1})
    assert '"name"' in message


def test_each_member_that_lacks_others_gets_one_message_with_all_of_them() -> None:
    found = messages({"dependentRequired": {"a": ["b", "c"], "d": ["e"]}}, {"a": 1, "d": 2})
    assert found == [
        'The value has "a" but lacks "b" and "c", which go with it.',
        'The value has "d" but lacks "e", which goes with it.',
    ]


def test_the_older_keyword_still_takes_schemas() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "dependencies": {"a": {"required": ["b"]}, "c": False},
    }
    assert messages(schema, {"a": 1}) == ['The value lacks the required member "b".']
    assert len(messages(schema, {"c": 1})) == 1
    assert messages(schema, {"a": 1, "b": 1}) == messages(schema, {}) == messages(schema, []) == []
