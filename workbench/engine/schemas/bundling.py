"""Puts a schema and the parts of other project files that it refers to into one document, for models read no files."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import basename
from typing import Any, Final
from urllib.parse import quote

from workbench.engine.diagnostics import Diagnostic, has_errors
from workbench.engine.json_text import (
    JsonDocument,
    PointerError,
    dumps,
    escape_pointer,
    join_pointer,
    parse_json,
    resolve_pointer,
    split_pointer,
)
from workbench.engine.schemas.files import SchemaFileError, SchemaFiles, refers_to_files, split_reference
from workbench.engine.schemas.structure import Path, definition_pointers, place_in, subschemas
from workbench.engine.schemas.validators import DRAFTS, draft_of, lookup_in, resolver_of
from workbench.engine.text import nearest, shorten

__all__ = ["Bundle", "bundle_schema", "bundled_text", "referenced_files"]

MAX_PARTS: Final = 2000
"""How many parts of other files a schema may take in."""

_DYNAMIC: Final = ("$dynamicRef", "$recursiveRef")
_NOT_TAKEN: Final = (
    "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$defs", "definitions", "$schema", "$id", "id",
)  # fmt: skip
"""Keywords that mean nothing in a part that was taken out of its file: its references are rewritten."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A schema in one document.

    `value` is the schema with what it takes from other files under `$defs` (`definitions` up to draft 7);
    without such references it is the document's own value. `files` are the paths that it refers to, in order, also
    those that could not be read.
    """

    document: JsonDocument
    value: Any
    files: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    _origins: tuple[tuple[str, JsonDocument, str], ...] = field(default=(), repr=False)

    @property
    def is_whole(self) -> bool:
        """Whether the document is the schema already, so that pointers into both are the same."""
        return self.value is self.document.value

    def origin(self, pointer: str) -> tuple[JsonDocument, str]:
        """Return the document and the pointer in it that a pointer into `value` comes from."""
        for prefix, document, inner in self._origins:
            if pointer == prefix or pointer.startswith(prefix + "/"):
                return document, inner + pointer[len(prefix) :]
        return self.document, pointer

    def place(self, path: Path) -> dict[str, Any]:
        """Return the fields of a diagnostic that say where `path` of `value` was written."""
        document, pointer = self.origin(join_pointer(*path))
        return place_in(document, pointer)


def bundle_schema(document: JsonDocument, files: SchemaFiles | None) -> Bundle:
    """Return the schema in `document` with its references to files of the project taken in.

    A relative `$ref` that the document itself does not answer is a path from the folder of the file that holds
    it, with an optional pointer or anchor behind `#`. Files may refer to each other and back. What cannot be
    followed is in `problems`, with its place in the file that refers to it. Without `files` no file is read
    and the references stay as they are.
    """
    draft = draft_of(document.value)
    value = document.value
    if files is None or draft is None or not isinstance(value, Mapping):
        return Bundle(document, value)
    root = _File(document.file or "", document, draft, is_root=True)
    if not any(root.outward(path, schema) for path, schema in subschemas(value)):
        return Bundle(document, value)
    return _Bundler(root, files).run()


def bundled_text(text: str, file: str, files: SchemaFiles | None) -> str:
    """Return the text of a schema that needs no other file; where that cannot be made, the text as it is."""
    bundle = _bundle_of(text, file, files)
    if bundle is None or bundle.is_whole or has_errors(bundle.problems):
        return text
    return dumps(bundle.value, indent=2)


def referenced_files(text: str, file: str, files: SchemaFiles | None) -> tuple[str, ...]:
    """Return the paths that a schema refers to, itself or through others, also of files that are missing."""
    bundle = _bundle_of(text, file, files)
    return () if bundle is None else bundle.files


def _bundle_of(text: str, file: str, files: SchemaFiles | None) -> Bundle | None:
    document = parse_json(text, file=file) if refers_to_files(text) else None
    try:
        return None if document is None or not document.ok else bundle_schema(document, files)
    except RecursionError:  # the schema's check tells that it is nested too deeply
        return None


@dataclass(frozen=True)
class _File:
    """A file that was read. The root schema is a file too, which is not copied."""

    path: str
    document: JsonDocument
    draft: str
    is_root: bool = False

    @cached_property
    def resolver(self) -> Any:
        """What follows references in the root schema; elsewhere, only those to the published drafts."""
        try:
            return resolver_of(self.document.value if self.is_root else {}, self.draft)
        except (
            TypeError,
            AttributeError,
            ValueError,
        ):  # keywords of another shape, which the check will name
            return resolver_of({}, self.draft)

    @cached_property
    def ids(self) -> frozenset[Path]:
        """Where schemas inside the file give themselves an address of their own."""
        return frozenset(path for path, schema in subschemas(self.document.value) if path and _has_id(schema))

    def outward(self, path: Path, schema: Any) -> bool:
        """Tell whether the `$ref` of the schema at `path` leads out of the file and is no published draft."""
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(reference, str) or not reference or reference.startswith("#"):
            return False
        schema, path = (self.document.value, path) if self.is_root else ({}, ())
        try:
            lookup_in(self.resolver, schema, path, reference, self.draft)
        except (LookupError, TypeError, AttributeError, ValueError):
            return True
        return False

    def below_id(self, path: Path) -> bool:
        """Tell whether the schema at `path` stands in one that has an address of its own."""
        return bool(self.ids) and any(path[:length] in self.ids for length in range(1, len(path) + 1))


class _Bundler:
    """One bundling: parts are named when they are first referred to, and copied in that order."""

    def __init__(self, root: _File, files: SchemaFiles) -> None:
        self.files = files
        self.draft = root.draft
        self.root = root
        self.home = (
            "$defs" if root.draft in ("Draft201909Validator", "Draft202012Validator") else "definitions"
        )
        self.read: dict[str, _File | SchemaFileError] = {root.path: root} if root.path else {}
        self.problems: list[Diagnostic] = []
        self.names: dict[tuple[str, str], str] = {}
        self.pending: list[tuple[_File, str, str]] = []
        own = root.document.value.get(self.home)
        self.taken = set(own) if isinstance(own, Mapping) else set()
        self.usable = own is None or isinstance(own, Mapping)

    def run(self) -> Bundle:
        document = self.root.document
        value = copy.deepcopy(document.value)
        self.rewrite(self.root, value, ())
        parts: dict[str, Any] = {}
        origins: list[tuple[str, JsonDocument, str]] = []
        while self.pending and len(parts) <= MAX_PARTS:
            file, pointer, name = self.pending.pop(0)
            part = copy.deepcopy(resolve_pointer(file.document.value, pointer))
            self.rewrite(file, part, tuple(split_pointer(pointer)))
            parts[name] = part
            origins.append((join_pointer(self.home, name), file.document, pointer))
        if self.pending:
            message = f"The schema takes more than {MAX_PARTS} parts from other files."
            self.problems.append(Diagnostic("error", "too_many_parts", message, file=document.file))
        if not self.usable:  # the schema's own definitions are no object; its check says so
            value = document.value
        elif parts:
            value[self.home] = {**value.get(self.home, {}), **parts}
        read = tuple(path for path in self.read if path != self.root.path)
        return Bundle(document, value, read, tuple(self.problems), tuple(origins))

    def rewrite(self, file: _File, schema: Any, at: Path) -> None:
        """Turn the references of a copied schema, which stands at `at` in its file, into pointers in the bundle."""
        for path, inner in list(subschemas(schema)):
            if not isinstance(inner, dict):
                continue
            self.rewrite_one(file, inner, (*at, *path))
            if not file.is_root:
                for keyword in _NOT_TAKEN:
                    inner.pop(keyword, None)

    def rewrite_one(self, file: _File, schema: dict[str, Any], path: Path) -> None:
        dynamic = next((keyword for keyword in _DYNAMIC if keyword in schema), None)
        if dynamic is not None and not file.is_root:
            message = f"{dynamic} is not followed in a file that another one refers to."
            self.refuse(file, (*path, dynamic), "dynamic_ref", message, "Write $ref.")
            return
        reference = schema.get("$ref")
        local = not file.is_root and isinstance(reference, str) and reference.startswith("#")
        if not local and not file.outward(path, schema):
            return
        assert isinstance(reference, str)  # it is one where it leads out or begins with #
        if file.below_id(path):
            message = (
                f"$ref {shorten(reference)!r} stands below an $id of its own, where files are not looked for."
            )
            self.refuse(file, (*path, "$ref"), "nested_id", message, "Take the inner $id away.")
            return
        try:
            schema["$ref"] = self.target(file, reference)
        except SchemaFileError as error:
            self.refuse(file, (*path, "$ref"), error.code, str(error), error.hint)

    def target(self, file: _File, reference: str) -> str:
        """Return the pointer in the bundle of what a reference in `file` leads to."""
        if reference.startswith("#"):
            wanted, fragment = file, split_reference(reference, "")[1]
        else:
            path, fragment = split_reference(reference, file.path)
            wanted = self.file(path)
        pointer = fragment if fragment == "" or fragment.startswith("/") else _anchor(wanted, fragment)
        self.check_target(wanted, pointer, reference)
        if wanted.is_root:
            return f"#{_quoted(pointer)}"
        key = (wanted.path, pointer)
        if key not in self.names:
            self.names[key] = self.fresh_name(wanted.path, pointer)
            self.pending.append((wanted, pointer, self.names[key]))
        return f"#/{self.home}/{_quoted(escape_pointer(self.names[key]))}"

    def file(self, path: str) -> _File:
        if path not in self.read:
            self.read[path] = self.opened(path)
        file = self.read[path]
        if isinstance(file, SchemaFileError):
            raise file
        return file

    def opened(self, path: str) -> _File | SchemaFileError:
        try:
            document = parse_json(self.files.read(path), file=path)
        except SchemaFileError as error:
            return error
        self.problems += document.diagnostics
        if not document.ok or has_errors(document.diagnostics):
            first = next(each for each in document.diagnostics if each.severity == "error")
            return SchemaFileError("broken_file", f"{path} cannot be used: {first.one_line()}", first.hint)
        self.check_draft(document, path)
        return _File(path, document, self.draft)

    def check_draft(self, document: JsonDocument, path: str) -> None:
        named = document.value.get("$schema") if isinstance(document.value, Mapping) else None
        if named is None or draft_of(document.value) == self.draft:
            return
        address = next(f"https://{name}" for name, validator in DRAFTS.items() if validator == self.draft)
        message = f"{path} is of another draft than the schema that refers to it."
        hint = f"Write both in one draft; the schema's is {address}."
        self.problems.append(
            Diagnostic("error", "mixed_drafts", message, hint=hint, **place_in(document, "/$schema"))
        )

    def check_target(self, file: _File, pointer: str, reference: str) -> None:
        root = file.document.value
        try:
            found = resolve_pointer(root, pointer)
        except (PointerError, ValueError):
            near = nearest(f"#{pointer}", definition_pointers(root))
            hint = f"Did you mean {near}?" if near else None
            message = f"$ref {shorten(reference)!r} leads to nothing in {file.path or 'the schema'}."
            raise SchemaFileError("dangling_ref", message, hint) from None
        if not isinstance(found, Mapping | bool):
            raise SchemaFileError(
                "dangling_ref", f"$ref {shorten(reference)!r} leads to something that is no schema."
            )

    def fresh_name(self, path: str, pointer: str) -> str:
        wanted = split_pointer(pointer)[-1] if pointer else re.sub(r"(\.schema)?\.json\Z", "", basename(path))
        base = re.sub(r"[^\w.-]+", "_", wanted) or "part"
        name, count = base, 2
        while name in self.taken:
            name, count = f"{base}{count}", count + 1
        self.taken.add(name)
        return name

    def refuse(self, file: _File, path: Path, code: str, message: str, hint: str | None) -> None:
        place = place_in(file.document, join_pointer(*path))
        self.problems.append(Diagnostic("error", code, message, hint=hint, **place))


def _has_id(schema: Any) -> bool:
    return isinstance(schema, Mapping) and any(
        isinstance(schema.get(name), str) and not schema[name].startswith("#") for name in ("$id", "id")
    )


def _anchor(file: _File, name: str) -> str:
    """Return the pointer of the schema that an anchor names (`$anchor`, or `$id` with `#` up to draft 7)."""
    for path, schema in subschemas(file.document.value):
        if isinstance(schema, Mapping) and (
            name in (schema.get("$anchor"), schema.get("$dynamicAnchor"))
            or f"#{name}" in (schema.get("$id"), schema.get("id"))
        ):
            return join_pointer(*path)
    raise SchemaFileError("dangling_ref", f"No schema in {file.path} has the anchor {shorten(name)}.")


def _quoted(pointer: str) -> str:
    """Return a pointer as it stands in a reference: characters that a URI cannot hold are escaped."""
    return quote(pointer, safe="/~!$&'()*+,;=:@")
