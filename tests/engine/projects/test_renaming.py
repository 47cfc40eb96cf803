"""Renaming a parameter in everything that speaks of it."""

from __future__ import annotations

import json

import pytest

from workbench.engine.projects.renaming import rename_parameter
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import MessageTemplate, TemplateOptions
from workbench.engine.text import TextFile

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "orders": {"type": "array", "items": {"$ref": "#/$defs/order"}},
    },
    "required": ["name"],
    "$defs": {"order": {"properties": {"item": {"type": "string"}}, "required": ["item", "n"]}},
}


def _snapshot(**changes: object) -> ProjectSnapshot:
    fields = {
        "name": "n",
        "messages": (
            MessageTemplate("system", "[%param.name%] and name"),
            MessageTemplate("user", "[%param.orders[*].item%] [%param.orders[0].item%]"),
        ),
        "graph": TextFile('{"a": "\\t[%param.name%]"}'),
        "parameter_sets": {
            "default": TextFile('{"name": "Ann", "orders": [{"item": "a"}, {"item": "b"}]}'),
            "other": TextFile('{ "name" : "Bob" }'),
            "broken": TextFile('{"name": '),
        },
        "parameters_schema": TextFile(json.dumps(SCHEMA)),
        "template": TemplateOptions(required=("name", "param.name"), optional=("orders[*].item",)),
    }
    return ProjectSnapshot(**{**fields, **changes})


def test_a_parameter_is_renamed_in_messages_graph_every_set_schema_and_declarations() -> None:
    renamed = rename_parameter(_snapshot(), "/name", "who")
    assert renamed.messages == {0: "[%param.who%] and name"}
    assert renamed.graph == '{"a": "\\t[%param.who%]"}'
    assert renamed.parameter_sets == {
        "default": '{"who": "Ann", "orders": [{"item": "a"}, {"item": "b"}]}',
        "other": '{ "who" : "Bob" }',
    }
    assert renamed.unread == ("broken",)
    assert json.loads(renamed.parameters_schema)["required"] == ["who"]
    assert list(json.loads(renamed.parameters_schema)["properties"]) == ["who", "orders"]
    assert renamed.required == ("who", "param.who")
    assert renamed.optional is None
    assert renamed.placeholders == 2


def test_a_member_of_list_items_is_renamed_in_all_of_them() -> None:
    renamed = rename_parameter(_snapshot(), "/orders/0/item", "thing")
    assert renamed.messages == {1: "[%param.orders[*].thing%] [%param.orders[0].thing%]"}
    assert json.loads(renamed.parameter_sets["default"])["orders"] == [{"thing": "a"}, {"thing": "b"}]
    assert "other" not in renamed.parameter_sets
    order = json.loads(renamed.parameters_schema)["$defs"]["order"]
    assert (list(order["properties"]), order["required"]) == (["thing"], ["thing", "n"])
    assert renamed.optional == ("orders[*].thing",)


def test_in_braces_the_name_itself_is_the_placeholder() -> None:
    snapshot = _snapshot(
        messages=(MessageTemplate("user", "{name} {names}"),),
        graph=None,
        template=TemplateOptions(dialect="braces", required=("name",)),
    )
    renamed = rename_parameter(snapshot, "/name", "who")
    assert renamed.messages == {0: "{who} {names}"}
    assert renamed.required == ("who",)


def test_a_name_that_is_taken_is_refused_with_the_set() -> None:
    with pytest.raises(ValueError, match=r"set default.*already"):
        rename_parameter(_snapshot(), "/name", "orders")
