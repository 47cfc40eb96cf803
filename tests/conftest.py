"""Shared by all tests: keeps the machine's own settings out, and can prove that the engine needs no Qt."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType

import pytest

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


_status = pytest.StashKey[int]()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[_status] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    # Hundreds of windows lived in this one process. Python takes down what is left of them in no order, which
    # Qt does not survive; the program's own way out is tested in processes of its own (tests/e2e).
    if "PySide6.QtWidgets" in sys.modules and "PYTEST_XDIST_WORKER" not in os.environ:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash.get(_status, 1))
