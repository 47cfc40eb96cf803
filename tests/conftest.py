"""Shared by all tests: keeps the machine's own settings out, and can prove that the engine needs no Qt."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType

WITHOUT_QT = os.environ.get("PROMPT_WORKBENCH_TEST_WITHOUT_QT") == "1"

for variable in [
    name for name in os.environ if name.startswith(("OPENAI_", "ANTHROPIC_", "PROMPT_WORKBENCH_SECRET_"))
]:
    del os.environ[variable]


# LiteLLM would look for prices on the network when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"


class _NoQt(importlib.abc.MetaPathFinder):
    """Refuses the window's packages, as on a machine that does not have them."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] in {"PySide6", "shiboken6", "pyqtgraph"}:
            raise ImportError(f"{name} is not here: these tests run without Qt")
        return None


if WITHOUT_QT:
    sys.meta_path.insert(0, _NoQt())
