"""Packages whose names are imported when they are asked for."""

from __future__ import annotations

import importlib
import subprocess
import sys
from types import ModuleType

import pytest

PACKAGES = ("translation", "guardrails", "tools", "evaluation")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_gives_everything_that_it_offers(name: str) -> None:
    package = importlib.import_module(f"workbench.engine.{name}")
    for offered in package.__all__:
        assert not isinstance(getattr(package, offered), ModuleType)
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018 - looking it up is what is tested


def test_a_module_does_not_hide_what_the_package_offers_under_its_name() -> None:
    code = (
        "import workbench.engine.evaluation.html_report\n"
        "from workbench.engine.evaluation import html_report\n"
        "assert callable(html_report), html_report"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_opening_a_project_loads_neither_models_nor_runs() -> None:
    code = (
        "import sys, workbench.engine.projects\n"
        "unwanted = [m for m in sys.modules if m.startswith(('workbench.engine.decisions', "
        "'workbench.engine.language_models', 'workbench.engine.translation.translator', 'asyncio', 'httpx', 'jsonschema'))]\n"
        "assert not unwanted, unwanted"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
