"""A schema may refer to files of the project, and to nothing else; what a model gets is one document."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import parse_json, resolve_pointer
from workbench.engine.schemas import (
    FolderFiles,
    JsonSchema,
    SchemaError,
    check_schema_text,
    example,
    schema_to_typescript,
)

ADDRESS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://example.org/address.json",
    "type": "object",
    "properties": {"city": {"$ref": "#/$defs/name"}, "land": {"$ref": "shared/lands.json#/$defs/land"}},
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"name": {"type": "string", "minLength": 2}, "unused": {"type": "integer"}},
}
LANDS = {"$defs": {"land": {"enum": ["NO", "SE"], "description": "Where"}}}


def write(folder: Path, **files: Any) -> FolderFiles:
    """Write files; `__` in a name stands for `/`."""
    for name, content in files.items():
        path = folder / (name.replace("__", "/") + ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return FolderFiles(folder)


@pytest.fixture
def files(tmp_path: Path) -> FolderFiles:
    return write(tmp_path, address=ADDRESS, shared__lands=LANDS)


def parse(schema: Any, files: FolderFiles | None) -> JsonSchema:
    return JsonSchema.parse(json.dumps(schema), file="output.schema.json", files=files)


def first_error(schema: Any, files: FolderFiles | None) -> Diagnostic:
    found = check_schema_text(json.dumps(schema), "output.schema.json", files)
    return next(item for item in found if item.severity == "error" and item.file == "output.schema.json")


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [found for item in value.values() for found in references(item)]
    return [found for item in value for found in references(item)] if isinstance(value, list) else []


def test_what_other_files_hold_is_checked_and_bundled(files: FolderFiles) -> None:
    schema = parse(
        {"properties": {"home": {"$ref": "address.json"}, "land": {"$ref": "shared/lands.json#/$defs/land"}}},
        files,
    )
    assert schema.files == ("address.json", "shared/lands.json")
    assert schema.is_valid({"home": {"city": "Oslo", "land": "NO"}, "land": "SE"})
    found = schema.check({"home": {"city": "O", "land": "DK"}})
    assert [(item.pointer, item.keyword) for item in found] == [
        ("/home/city", "minLength"),
        ("/home/land", "enum"),
    ]
    assert set(schema.value["$defs"]) == {"address", "land", "name"}, (
        "a part is there once, and no unused one"
    )
    assert json.loads(schema.text) == schema.value
    for item in found:
        resolve_pointer(schema.value, item.schema_pointer or "")
    assert schema.origin("/$defs/name/minLength") == ("address.json", "/$defs/name/minLength")
    assert schema.origin("/properties/home") == ("output.schema.json", "/properties/home")


def test_the_bundle_needs_no_files_and_means_the_same(files: FolderFiles) -> None:
    schema = parse({"items": {"$ref": "./address.json"}}, files)
    alone = JsonSchema.parse(schema.text)
    assert all(reference.startswith("#") for reference in references(alone.value))
    for value in (
        [{"city": "Oslo"}],
        [{"city": "O"}],
        [{}],
        [{"city": "Oslo", "x": 1}],
        [{"city": "Oslo", "land": 1}],
    ):
        assert alone.is_valid(value) == schema.is_valid(value)
    assert alone.check(example(alone)) == []
    assert "export interface Address {" in schema_to_typescript(schema, "T")


def test_a_schema_without_such_references_stays_as_it_was_written(files: FolderFiles) -> None:
    text = '{ "$ref" : "#/$defs/a", "$defs": {"a": {"$id": "part", "items": {"$ref": "part"}}} }'
    schema = JsonSchema.parse(text, files=files)
    assert (schema.text, schema.files) == (text, ())


FORMS = [
    pytest.param("a/one.json", id="a file"),
    pytest.param("./a/one.json", id="a dot in front"),
    pytest.param("a//one.json", id="two slashes"),
    pytest.param("a/one.json#", id="an empty fragment"),
    pytest.param("a/one.json#/$defs/x", id="a pointer"),
    pytest.param("a/one.json#/%24defs/x", id="an escaped pointer"),
    pytest.param("a/one.json#here", id="an anchor"),
    pytest.param("a%20b/two.json", id="an escaped blank"),
    pytest.param("a/up.json", id="a file that refers to its neighbour"),
]


@pytest.mark.parametrize("reference", FORMS)
def test_a_reference_is_a_relative_path_with_a_fragment(tmp_path: Path, reference: str) -> None:
    one = {"type": "integer", "$defs": {"x": {"type": "integer", "$anchor": "here"}}}
    files = write(tmp_path, a__one=one, **{"a b__two": {"type": "integer"}}, a__up={"$ref": "one.json#here"})
    schema = parse({"items": {"$ref": reference}}, files)
    assert schema.is_valid([1])
    assert not schema.is_valid(["1"])


@pytest.mark.parametrize(
    ("address", "home"),
    [
        ("http://json-schema.org/draft-04/schema#", "definitions"),
        ("http://json-schema.org/draft-06/schema#", "definitions"),
        ("http://json-schema.org/draft-07/schema#", "definitions"),
        ("https://json-schema.org/draft/2019-09/schema", "$defs"),
        ("https://json-schema.org/draft/2020-12/schema", "$defs"),
    ],
)
def test_every_draft_bundles_in_its_own_way(tmp_path: Path, address: str, home: str) -> None:
    files = write(tmp_path, p={home: {"x": {"type": "string"}}, "items": {"$ref": f"#/{home}/x"}})
    schema = parse({"$schema": address, "properties": {"a": {"$ref": "p.json"}}}, files)
    assert set(schema.value[home]) == {"p", "x"}
    assert [item.pointer for item in schema.check({"a": ["x", 1]})] == ["/a/1"]


def test_files_may_refer_to_each_other_in_circles(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        person={"type": "object", "properties": {"pets": {"type": "array", "items": {"$ref": "pet.json"}}}, "required": ["pets"]},
        pet={"type": "object", "properties": {"owner": {"$ref": "person.json"}, "box": {"$ref": "output.schema.json"}, "self": {"$ref": "#"}}},
    )  # fmt: skip
    schema = parse(
        {"type": "object", "properties": {"who": {"$ref": "person.json"}}, "additionalProperties": False},
        files,
    )
    assert schema.files == ("person.json", "pet.json")
    assert schema.is_valid(
        {"who": {"pets": [{"owner": {"pets": []}, "box": {"who": {"pets": []}}, "self": {}}]}}
    )
    found = schema.check({"who": {"pets": [{"box": {"x": 1}, "self": {"owner": {}}}]}})
    assert [item.pointer for item in found] == ["/who/pets/0/box/x", "/who/pets/0/self/owner"]
    assert schema.check(example(schema)) == []


def test_a_circle_without_a_step_into_the_value_is_refused(tmp_path: Path) -> None:
    files = write(tmp_path, a={"$ref": "b.json"}, b={"allOf": [{"$ref": "a.json"}]})
    found = check_schema_text('{"items": {"$ref": "a.json"}}', "s.json", files)
    assert [item.code for item in found] == ["ref_cycle"]


def test_parts_with_one_name_stay_apart(tmp_path: Path) -> None:
    files = write(tmp_path, x={"type": "integer"}, y__x={"type": "string"})
    schema = parse(
        {
            "prefixItems": [{"$ref": "x.json"}, {"$ref": "y/x.json"}, {"$ref": "#/$defs/x"}],
            "$defs": {"x": {"type": "null"}},
        },
        files,
    )
    assert schema.is_valid([1, "a", None])
    assert [item.pointer for item in schema.check(["a", None, 1])] == ["/0", "/1", "/2"]


def test_the_projects_own_schemas_count_as_they_are_edited(tmp_path: Path) -> None:
    (tmp_path / "parameters.schema.json").write_text('{"type": "integer"}')
    files = FolderFiles(tmp_path, {"parameters.schema.json": '{"type": "string"}'})
    assert parse({"$ref": "parameters.schema.json"}, files).is_valid("edited, not saved")
    unsaved = FolderFiles(None, {"parameters.schema.json": "true"})
    assert parse({"$ref": "parameters.schema.json"}, unsaved).is_valid(1)
    assert "folder" in first_error({"$ref": "other.json"}, unsaved).message


REFUSED = [
    pytest.param("https://example.org/a.json", "remote_ref", "leads out of the project", id="https"),
    pytest.param("http://127.0.0.1:1/a.json#/x", "remote_ref", "leads out of the project", id="loopback"),
    pytest.param("file:///etc/passwd", "remote_ref", "leads out of the project", id="file scheme"),
    pytest.param(
        "file:address.json", "remote_ref", "leads out of the project", id="file scheme without slashes"
    ),
    pytest.param("urn:uuid:1", "remote_ref", "leads out of the project", id="urn"),
    pytest.param("//example.org/a.json", "remote_ref", "leads out of the project", id="host"),
    pytest.param("/etc/passwd", "outside_ref", "absolute path", id="absolute"),
    pytest.param("%2Fetc/passwd", "outside_ref", "absolute path", id="escaped absolute"),
    pytest.param("C:\\a.json", "outside_ref", "absolute path", id="drive"),
    pytest.param("../a.json", "outside_ref", "climbs", id="dots"),
    pytest.param("shared/../address.json", "outside_ref", "climbs", id="dots inside"),
    pytest.param("%2e%2e/a.json", "outside_ref", "climbs", id="escaped dots"),
    pytest.param("..%2Fa.json", "outside_ref", "climbs", id="escaped slash"),
    pytest.param("shared\\lands.json", "outside_ref", "backslash", id="backslash"),
    pytest.param("address%00.json", "outside_ref", "control character", id="zero byte"),
    pytest.param("address.json?x=1", "outside_ref", "query", id="query"),
    pytest.param("http://[", "outside_ref", "can be read", id="malformed"),
    pytest.param("out.json", "outside_ref", "link that leads out", id="link out"),
    pytest.param("outside/secret.json", "outside_ref", "link that leads out", id="link of a folder"),
    pytest.param("adress.json", "missing_file", "Did you mean address.json?", id="missing"),
    pytest.param("shared/land.json", "missing_file", "Did you mean shared/lands.json?", id="missing below"),
    pytest.param("shared", "no_file", "folder", id="folder"),
    pytest.param("binary.json", "encoding", "UTF-8", id="not UTF-8"),
    pytest.param("broken.json", "broken_file", "broken.json:1:", id="no JSON"),
    pytest.param(
        "address.json#/$defs/nam", "dangling_ref", "Did you mean #/$defs/name?", id="dangling pointer"
    ),
    pytest.param("address.json#nowhere", "dangling_ref", "anchor nowhere", id="dangling anchor"),
    pytest.param("address.json#/required", "dangling_ref", "no schema", id="no schema"),
]


@pytest.mark.parametrize(("reference", "code", "word"), REFUSED)
def test_every_other_reference_is_refused_at_its_place(
    tmp_path: Path, reference: str, code: str, word: str
) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text('{"const": "secret"}')
    files = write(root, address=ADDRESS, shared__lands=LANDS, broken='{"type": }')
    (root / "binary.json").write_bytes(b"\xff\xfe\x00")
    (root / "out.json").symlink_to(outside / "secret.json")
    (root / "outside").symlink_to(outside)
    schema = {"type": "object", "properties": {"a": {"$ref": reference}}}
    error = first_error(schema, files)
    assert (error.code, error.pointer) == (code, "/properties/a/$ref")
    assert json.dumps(schema)[error.start : error.end] == json.dumps(reference)
    assert error.line == 1
    assert word in f"{error.message} {error.hint}"
    with pytest.raises(SchemaError):
        parse(schema, files)


def test_without_a_project_no_file_is_read(files: FolderFiles) -> None:
    assert first_error({"$ref": "address.json"}, None).code == "remote_ref"


IN_FILES = [
    pytest.param({"properties": {"a": {"type": "strng"}}}, "schema", "/properties/a/type", 'mean "string"', id="keyword"),
    pytest.param({"$ref": "../up.json"}, "outside_ref", "/$ref", "climbs", id="reference out"),
    pytest.param({"items": {"$ref": "#/nowhere"}}, "dangling_ref", "/items/$ref", "nothing in parts/p.json", id="dangling"),
    pytest.param({"pattern": "("}, "bad_pattern", "/pattern", "regular expression", id="pattern"),
    pytest.param({"$schema": "http://json-schema.org/draft-07/schema#"}, "mixed_drafts", "/$schema", "2020-12", id="another draft"),
    pytest.param({"$schema": "http://json-schema.org/draft-03/schema#"}, "mixed_drafts", "/$schema", "2020-12", id="unknown draft"),
    pytest.param({"items": {"$dynamicRef": "#x"}}, "dynamic_ref", "/items/$dynamicRef", "$ref", id="dynamic reference"),
    pytest.param({"items": {"$id": "https://example.org/i", "items": {"$ref": "#/x"}}}, "nested_id", "/items/items/$ref", "$id", id="inner id"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "code", "pointer", "word"), IN_FILES)
def test_what_is_wrong_in_a_file_names_that_file_and_its_line(
    tmp_path: Path, part: Any, code: str, pointer: str, word: str
) -> None:
    text = "\n\n" + json.dumps(part)
    files = write(tmp_path, parts__p=text)
    found = check_schema_text('{"items": {"$ref": "parts/p.json"}}', "output.schema.json", files)
    error = next(item for item in found if item.severity == "error")
    assert (error.code, error.file, error.pointer, error.line) == (code, "parts/p.json", pointer, 3)
    assert parse_json(text).span(pointer) == (error.start, error.end)
    assert word in f"{error.message} {error.hint}"


def test_a_broken_file_is_told_in_both_places(tmp_path: Path) -> None:
    files = write(tmp_path, p='{\n"type": }')
    found = check_schema_text('{"prefixItems": [{"$ref": "p.json"}, {"$ref": "p.json#/x"}]}', "s.json", files)
    assert [(item.file, item.code) for item in found] == [
        ("p.json", "syntax"),
        ("s.json", "broken_file"),
        ("s.json", "broken_file"),
    ]
    assert found[0].line == 2


def test_data_that_looks_like_a_reference_is_left_alone(files: FolderFiles) -> None:
    value = {
        "const": {"$ref": "nowhere.json"},
        "properties": {"$ref": {"type": "string"}},
        "allOf": [{"$ref": "address.json"}],
    }
    schema = parse(value, files)
    assert schema.value["const"] == {"$ref": "nowhere.json"}


def test_many_parts_are_bundled_quickly_and_too_many_refused(tmp_path: Path) -> None:
    def many(count: int) -> Any:
        names = [f"p{i}" for i in range(count)]
        return {
            "prefixItems": [{"$ref": f"#/$defs/{name}"} for name in names],
            "$defs": {name: {"type": "null"} for name in names},
        }

    files = write(tmp_path, many=many(1500))
    start = time.process_time()
    schema = parse({"$ref": "many.json"}, files)
    assert time.process_time() - start < 5
    assert not schema.is_valid([None] * 1499 + [1])
    write(tmp_path, many=many(2500))
    assert first_error({"$ref": "many.json"}, files).code == "too_many_parts"


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": [1], "$ref": "address.json"},
        {"$ref": "address.json", "properties": []},
        {"$id": "::", "$ref": "address.json"},
    ],
)
def test_any_schema_gives_diagnostics_and_never_raises(files: FolderFiles, schema: Any) -> None:
    [found] = check_schema_text(json.dumps(schema), "s.json", files)
    assert (found.severity, found.code) == ("error", "schema")


def test_a_long_path_is_told_shortened(tmp_path: Path) -> None:
    assert len(first_error({"$ref": "a" * 1_000_000}, write(tmp_path)).message) < 400


@pytest.mark.parametrize(
    ("files", "file", "line", "message"),
    [
        (
            {"a": {"$ref": "b.json"}, "b": {"$ref": "a.json"}},
            "parts/a.json",
            2,
            "$ref 'b.json' leads back to itself without a step into the value"
            " (parts/a.json → parts/b.json → parts/a.json).",
        ),
        (
            {"a": {"allOf": [{"$ref": "#/$defs/k"}], "$defs": {"k": {"$ref": "#/$defs/k"}}}},
            "parts/a.json",
            9,
            "$ref '#/$defs/k' leads back to itself without a step into the value.",
        ),
        (
            {"a": {"$ref": "b.json"}, "b": {"title": "b", "type": "strng"}},
            "parts/b.json",
            3,
            'parts/b.json#/type is "strng"; "array", ',
        ),
        ({"a": {"properties": {"q": 5}}}, "parts/a.json", 3, "parts/a.json#/properties/q is a number (5); "),
    ],
    ids=["cycle-of-files", "cycle-in-a-file", "bad-keyword-two-files-away", "no-schema"],
)
def test_a_mistake_in_a_file_is_told_once_in_the_words_of_that_file(
    tmp_path: Path, files: dict[str, Any], file: str, line: int, message: str
) -> None:
    (tmp_path / "parts").mkdir()
    for name, value in files.items():
        (tmp_path / "parts" / f"{name}.json").write_text(json.dumps(value, indent=1))
    root = json.dumps({"properties": {"x": {"$ref": "parts/a.json"}}})
    [found] = check_schema_text(root, "output.schema.json", FolderFiles(tmp_path))
    assert (found.file, found.line) == (file, line)
    assert found.message.startswith(message)
    assert "/$defs/a" not in found.one_line()


def test_a_cycle_through_the_schema_itself_names_the_whole_way(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"$ref": "output.schema.json"}')
    [found] = check_schema_text('{"$ref": "a.json"}', "output.schema.json", FolderFiles(tmp_path))
    assert found.message.startswith("$ref 'a.json' leads back to itself")
    assert "(output.schema.json → a.json → output.schema.json)" in found.message
