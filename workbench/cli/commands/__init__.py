"""One module a subcommand; each has `add_parser` and a `run` that returns the exit status."""

from __future__ import annotations

from types import ModuleType


def all_commands() -> tuple[ModuleType, ...]:
    """Return the modules of all subcommands, in the order in which the help lists them."""
    from workbench.cli.commands import (
        check,
        doctor,
        evaluate,
        export,
        history,
        render,
        samples,
        screenshot,
        translate,
        validate,
    )

    return (render, check, translate, evaluate, export, validate, history, samples, screenshot, doctor)
