"""A JSON Schema that was checked itself before it may check anything else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.diagnostics import Diagnostic, has_errors
from workbench.engine.json_text import JsonDocument, dumps, parse_json
from workbench.engine.schemas.limits import TooManyReferencesError, reference_budget
from workbench.engine.schemas.messages import diagnostics_of, excerpt_of
from workbench.engine.schemas.patterns import PatternTimeoutError, pattern_budget
from workbench.engine.schemas.structure import place_in, possible_types, subschemas
from workbench.engine.schemas.validators import draft_of, make_validator

if TYPE_CHECKING:
    from workbench.engine.schemas.bundling import Bundle
    from workbench.engine.schemas.files import SchemaFiles

__all__ = ["JsonSchema", "SchemaError"]

_FORMATS_OFF: Final = "Formats are not checked."


class SchemaError(ValueError):
    """A schema that cannot be used; `diagnostics` say why and where."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(diagnostic.one_line() for diagnostic in diagnostics))
        self.diagnostics = diagnostics


class JsonSchema:
    """A JSON Schema of draft 4 to 2020-12 (the latter where `$schema` is missing), sound by its draft.

    `value` is the schema, `text` its JSON, `document` the text with positions, `warnings` what is worth
    knowing of it (repeated names, formats that are not checked, keywords that look misspelt).
    References are followed inside the document, to the published drafts and, where `parse` was given `files`,
    to files of the project; never elsewhere. With such files, `value` and `text` are the bundle that holds what
    was taken from them, and `files` names them; `document` stays what was read. `format` is asserted unless
    `assert_formats` is False. Build one with `parse` or `from_value`.
    """

    def __init__(self, bundle: Bundle, warnings: tuple[Diagnostic, ...], assert_formats: bool) -> None:
        self.document = bundle.document
        self.value: Any = bundle.value
        self.text = bundle.document.text if bundle.is_whole else dumps(bundle.value, indent=2)
        self.files = bundle.files
        self.warnings = warnings
        self._bundle = bundle
        self.assert_formats = assert_formats

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        file: str | None = None,
        files: SchemaFiles | None = None,
        assert_formats: bool = True,
    ) -> JsonSchema:
        """Read and check a schema. `file` is its path in the project, `files` are those it may refer to.

        Raises:
            SchemaError: for text that is no JSON, a malformed keyword, an unknown draft, a bad pattern, and
                references that lead nowhere, out of the document and `files`, or in a circle.
        """
        from workbench.engine.schemas.checking import check_bundle

        bundle, diagnostics = check_bundle(parse_json(text, file=file), files)
        if has_errors(diagnostics):
            raise SchemaError(tuple(item for item in diagnostics if item.severity == "error"))
        return cls(bundle, tuple(diagnostics), assert_formats)

    @classmethod
    def from_value(cls, value: Any, *, assert_formats: bool = True) -> JsonSchema:
        """Check a schema that is given as a Python value; `text` becomes its JSON, indented by two.

        Raises:
            SchemaError: as `parse` does.
        """
        try:
            text = dumps(value, indent=2)
        except (TypeError, ValueError) as error:
            diagnostic = Diagnostic("error", "syntax", f"The schema is not JSON: {error}.")
            raise SchemaError((diagnostic,)) from None
        return cls.parse(text, assert_formats=assert_formats)

    def __repr__(self) -> str:
        return f"<JsonSchema {excerpt_of(self.value, 60)}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JsonSchema):
            return NotImplemented
        return self.text == other.text and self.assert_formats == other.assert_formats

    def __hash__(self) -> int:
        return hash((self.text, self.assert_formats))

    @property
    def draft(self) -> str:
        """Name of the draft, such as `2020-12` or `7`."""
        name = (draft_of(self.value) or "").removeprefix("Draft").removesuffix("Validator")
        return f"{name[:4]}-{name[4:]}" if len(name) == 6 else name

    def origin(self, schema_pointer: str) -> tuple[str | None, str]:
        """Return the file and the pointer in it that a pointer into `value` was written at."""
        document, pointer = self._bundle.origin(schema_pointer)
        return document.file, pointer

    def place(self, schema_pointer: str) -> dict[str, Any]:
        """Return the fields of a diagnostic that say where a pointer into `value` was written."""
        document, pointer = self._bundle.origin(schema_pointer)
        return place_in(document, pointer)

    @cached_property
    def root_types(self) -> frozenset[str]:
        """The JSON types that a valid value can have, as far as the schema says (`number` brings `integer`)."""
        return possible_types(self.value, self.value)

    @cached_property
    def _validator(self) -> Any:
        return make_validator(
            self.value, draft_of(self.value) or "Draft202012Validator", assert_formats=self.assert_formats
        )

    def is_valid(self, value: Any) -> bool:
        """Tell whether `value` (JSON as Python reads it) is valid; False also where that cannot be found out."""
        try:
            with pattern_budget(), reference_budget(value):
                return next(self._validator.iter_errors(value), None) is None
        except (PatternTimeoutError, TooManyReferencesError, RecursionError):
            return False

    def check(
        self,
        value: Any,
        *,
        document: JsonDocument | None = None,
        file: str | None = None,
        limit: int | None = None,
    ) -> list[Diagnostic]:
        """Return what is wrong with `value`, nothing where it is valid.

        Each diagnostic of code `schema` has `pointer` (in the value), `keyword`, `schema_pointer` (in the
        schema), `expected` and `excerpt`; missing members of one object share one diagnostic whose `expected`
        names them all. With `document`, the text that `value` was read from, places are filled in. With
        `limit`, later errors are counted in a last diagnostic of severity info and code `more_errors`.
        `pattern_timeout`, `too_many_references` and `too_deep` are errors that say that the check could not end.
        """
        found: list[Diagnostic] = []
        rest = 0
        for diagnostic in self._findings(value, document, file):
            if limit is not None and diagnostic.severity == "error" and len(found) >= limit:
                rest += 1
            else:
                found.append(diagnostic)
        if rest:
            text = f"{rest} more {'error is' if rest == 1 else 'errors are'} not shown."
            found.append(Diagnostic("info", "more_errors", text, file=file, expected=rest))
        return found

    def _findings(self, value: Any, document: JsonDocument | None, file: str | None) -> Iterator[Diagnostic]:
        try:
            with pattern_budget(), reference_budget(value):
                errors = list(self._validator.iter_errors(value))
        except PatternTimeoutError as timeout:
            hint = "Write a pattern without nested repetition, such as a+ in place of (a+)+."
            message = f"The pattern {timeout.pattern} took too long on a text of the value and was stopped."
            yield Diagnostic("error", "pattern_timeout", message, hint=hint, file=file)
            return
        except TooManyReferencesError as many:
            hint = "Refer to a schema once where it is referred to twice: each level of such pairs doubles the work."
            message = f"The check was stopped: the schema's references multiply, and {many}."
            yield Diagnostic("error", "too_many_references", message, hint=hint, file=file)
            return
        except RecursionError:
            yield Diagnostic("error", "too_deep", "The value is nested too deeply to be checked.", file=file)
            return
        for error in errors:
            yield from diagnostics_of(error, self.value, document, file)
        if not self.assert_formats and _has_format(self.value):
            yield Diagnostic("info", "formats_off", _FORMATS_OFF, file=file)


def _has_format(schema: Any) -> bool:
    return any(isinstance(inner, Mapping) and "format" in inner for _, inner in subschemas(schema))
