"""Lets a model turn requests into programs over an allow-list of functions: the prompt, the validation, the repairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.engine.translation.programs import (
    Functions,
    ProgramFunction,
    check_program,
    describe_functions,
)
from workbench.engine.translation.prompts import delimiter
from workbench.engine.translation.results import Failure, Success
from workbench.engine.translation.translator import JsonTranslator
from workbench.engine.translation.wording import list_diagnostics

_GRAMMAR = """A program is JSON of this form:
{fence}typescript
type Program = {{ "@steps": Call[] }};                 // run in order; the last one gives the result
type Call = {{ "@func": string, "@args"?: Argument[] }}; // a function of the API, and what it is called with
type Argument = JsonValue | Call | {{ "@ref": number }}; // @ref is the result of an earlier step, from 0
{fence}
These are the functions of the API; a program uses no others:
{fence}typescript
{api}
{fence}"""


class ProgramValidator:
    """Validates programs over an allow-list; what it shows the model is the form of programs and the API.

    `functions` is as in `describe_functions`; `api_text` replaces the text that is made of it.
    """

    show = "typescript"
    noun = "program object"
    root_schema: Mapping[str, Any] = {"type": "object", "required": ["@steps"]}

    def __init__(self, functions: Functions, api_text: str | None = None) -> None:
        self.functions = describe_functions(functions)
        self.type_name = "Program"
        self.api_text = api_text if api_text is not None else interface_text(self.functions)

    @property
    def text(self) -> str:
        """What stands in the place of a schema: the API."""
        return self.api_text

    def schema_text(self) -> str:
        """Return the grammar of programs and the API."""
        return _GRAMMAR.format(fence=delimiter("`", self.api_text), api=self.api_text)

    def request_prompt(self, request: str) -> str:
        """Return the request prompt for a program."""
        quotes = delimiter('"', request)
        return (
            "Turn the request of a user into one program that does what it asks for.\n"
            f"{self.schema_text()}\n"
            "This is the request, between the lines of quotation marks:\n"
            f"{quotes}\n{request}\n{quotes}\n"
            "Answer with the program as a JSON object alone, indented with 2 spaces.\n"
        )

    def validate(self, value: Any) -> Success[Any] | Failure:
        """Return the program, or what is wrong with it."""
        problems = check_program(value, self.functions.values())
        if not problems:
            return Success(value)
        return Failure(list_diagnostics(problems), "invalid", tuple(problems))


def interface_text(functions: Mapping[str, ProgramFunction]) -> str:
    """Return the API as an interface in TypeScript's notation, descriptions as comments."""
    lines = ["interface API {"]
    for function in functions.values():
        if function.description:
            lines.append(f"  // {' '.join(function.description.split())}")
        lines.append(f"  {function.signature()}")
    return "\n".join([*lines, "}"])


class JsonProgramTranslator(JsonTranslator):
    """Translates requests into programs. Everything else is as in `JsonTranslator`.

    `functions` is the allow-list: names with Python functions or `ProgramFunction`s, or `ProgramFunction`s alone.
    """

    def __init__(
        self, model: Any, functions: Functions, *, api_text: str | None = None, **settings: Any
    ) -> None:
        super().__init__(model, ProgramValidator(functions, api_text), **settings)
