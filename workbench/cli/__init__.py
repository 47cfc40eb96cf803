"""The `prompt-workbench` command: the engine for scripts and CI, and the way to the window."""

from workbench.cli.main import main

__all__ = ["main"]
