"""Compares filling a template here with what else is in use, side by side in one run.

Run it with `python -m tests.bench.templating`. Each line is the time of a peer divided by ours on the same
work: above 1 means that we are faster. Peers that only know flat names get the same values under flat names.
Rendering is repeated with changing parameters; templates are made ready once wherever a peer can do that.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import string
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.engine.templates import (
    CompiledTemplate,
    ObjectGraphPlaceholderReplacerBuilder,
    TemplateOptions,
    render_graph,
    render_text,
)

SETS = 8
FILLER = (
    "Answer politely and keep to the facts that are given to you in this message. "
    "Quote numbers as they are, and say so when something is not known. "
)

Render = Callable[[int], Any]


@dataclass
class Case:
    """One piece of work: paths in the order of the template, the text around them, parameters in several sets."""

    name: str
    paths: list[str]
    size: int
    parameters: list[dict[str, Any]]
    flat: list[dict[str, Any]] = field(default_factory=list)
    texts: list[tuple[int, int]] = field(default_factory=list)

    def template(self, form: Callable[[int, str], str]) -> str:
        """Return the template with each placeholder written by `form(index, path)`."""
        share = max(1, self.size // len(self.paths))
        filler = FILLER * (share // len(FILLER) + 1)
        return "".join(
            filler[: max(1, share - len(path) - 8)] + form(index, path)
            for index, path in enumerate(self.paths)
        )


def small() -> Case:
    """Return a prompt of about 2 KB with 12 placeholders."""
    paths = [
        "customer.name", "customer.city", "customer.level", "customer.name", "order.number", "order.total",
        "order.lines[0].name", "order.lines[0].price", "order.lines[1].name", "company", "agent", "customer.name",
    ]  # fmt: skip
    sets = [
        {
            "customer": {"name": f"Ann {i}", "city": "Graz", "level": i},
            "order": {
                "number": 1000 + i,
                "total": 12.5 + i,
                "lines": [{"name": f"pen {i}", "price": 1.5}, {"name": "ink", "price": 2.0}],
            },
            "company": f"Firm {i}",
            "agent": "Kim",
        }
        for i in range(SETS)
    ]
    return Case("2 KB, 12 placeholders", paths, 2_000, sets)


def large() -> Case:
    """Return a prompt of about 100 KB with 1,000 placeholders, each for a value of its own."""
    paths = [f"rows[{i // 2}].{'name' if i % 2 else 'city'}" for i in range(1000)]
    sets = [
        {"rows": [{"name": f"name {s} {i}", "city": f"city {s} {i}"} for i in range(500)]}
        for s in range(SETS)
    ]
    return Case("100 KB, 1000 placeholders", paths, 100_000, sets)


def messages() -> Case:
    """Return the contents of 500 messages with 3 placeholders each, about 300 characters a message."""
    paths = ["user.name", "user.topic", "count"]
    sets = [{"user": {"name": f"Ann {i}", "topic": f"topic {i}"}, "count": i} for i in range(SETS)]
    return Case("graph of 500 messages", paths, 300, sets)


def resolve(value: Any, path: str) -> Any:
    """Return the value at a plain path such as `order.lines[0].name`."""
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        value = value[name] if name else value[int(index)]
    return value


def flatten(case: Case) -> None:
    """Give the peers without paths the same values as text, under one flat name per placeholder."""
    case.flat = [
        {f"v{i}": str(resolve(p, path)) for i, path in enumerate(case.paths)} for p in case.parameters
    ]


def ours(case: Case, copies: int) -> dict[str, Render]:
    """Return our ways to do the work."""
    text = case.template(lambda _, path: f"[%param.{path}%]")
    if copies:
        graph = [{"role": "user", "content": f"{i}. {text}"} for i in range(copies)]
        return {"ours": lambda i: render_graph(graph, case.parameters[i]).value}
    compiled = CompiledTemplate(text, TemplateOptions())
    return {
        "ours": lambda i: compiled.render(case.parameters[i]).text,
        "ours, render_text": lambda i: render_text(text, case.parameters[i]).text,
    }


def jinja(case: Case, copies: int) -> Render:
    """Return jinja2's compiled template."""
    import jinja2

    environment = jinja2.Environment(autoescape=False, keep_trailing_newline=True)
    text = case.template(lambda _, path: "{{ " + path + " }}")
    if not copies:
        template = environment.from_string(text)
        return lambda i: template.render(case.parameters[i])
    many = [environment.from_string(f"{n}. {text}") for n in range(copies)]
    return lambda i: [{"role": "user", "content": t.render(case.parameters[i])} for t in many]


def langchain(case: Case, copies: int, kind: str) -> Render:
    """Return langchain-core's prompt template of the format `kind`."""
    from langchain_core.prompts import PromptTemplate

    form = (lambda i, _: f"{{v{i}}}") if kind == "f-string" else (lambda i, _: f"{{{{{{v{i}}}}}}}")
    text = case.template(form)
    texts = [f"{n}. {text}" for n in range(copies)] or [text]
    many = [PromptTemplate.from_template(t, template_format=kind) for t in texts]
    return lambda i: [t.format(**case.flat[i]) for t in many]


def stdlib(case: Case, copies: int) -> Render:
    """Return `string.Template` of the standard library."""
    text = case.template(lambda i, _: f"${{v{i}}}")
    many = [string.Template(f"{n}. {text}") for n in range(copies)] or [string.Template(text)]
    return lambda i: [t.substitute(case.flat[i]) for t in many]


def jsonpath(case: Case, copies: int) -> Render:
    """Return what one writes with jsonpath-ng alone: each placeholder's path is parsed where it stands."""
    from jsonpath_ng.ext import parse

    text = case.template(lambda _, path: f"[%param.{path}%]")
    texts = [f"{n}. {text}" for n in range(copies)] or [text]
    token = re.compile(r"\[%param\.(.*?)%\]")

    def fill(i: int) -> list[str]:
        values = case.parameters[i]

        def one(match: re.Match[str]) -> str:
            return str(parse("$." + match.group(1)).find(values)[0].value)

        return [token.sub(one, t) for t in texts]

    return fill


def seconds(render: Render, budget: float) -> float:
    """Return the best time of one rendering, over about `budget` seconds of changing parameters."""
    render(0)
    started = time.perf_counter()
    render(1)
    once = time.perf_counter() - started
    rounds = max(1, min(200, int(0.02 / max(once, 1e-7))))
    best = float("inf")
    deadline = time.perf_counter() + budget
    while True:
        started = time.perf_counter()
        for i in range(rounds):
            render(i % SETS)
        best = min(best, (time.perf_counter() - started) / rounds)
        if time.perf_counter() > deadline:
            return best


def measure(budget: float) -> list[dict[str, Any]]:
    """Return one row per case and renderer: seconds for one rendering, and the ratio to ours."""
    rows = []
    for case, copies in ((small(), 0), (large(), 0), (messages(), 500)):
        flatten(case)
        renders = ours(case, copies)
        renders["jinja2, compiled"] = jinja(case, copies)
        renders["langchain-core, f-string"] = langchain(case, copies, "f-string")
        renders["langchain-core, mustache"] = langchain(case, copies, "mustache")
        renders["string.Template"] = stdlib(case, copies)
        renders["jsonpath-ng, parsed per placeholder"] = jsonpath(case, copies)
        check_agreement(renders, case)
        gc.collect()
        gc.freeze()  # what was imported and set up is not searched for garbage again and again
        base = None
        for name, render in renders.items():
            taken = seconds(render, budget)
            base = taken if base is None else base
            rows.append({"case": case.name, "renderer": name, "seconds": taken, "ratio": taken / base})
    return rows


def check_agreement(renders: dict[str, Render], case: Case) -> None:
    """Make sure that every renderer puts the last value of the parameters into its output."""
    wanted = str(resolve(case.parameters[1], case.paths[-1]))
    for name, render in renders.items():
        result = render(1)
        last = result if isinstance(result, str) else result[-1]
        text = last if isinstance(last, str) else last["content"]
        if not text.endswith(wanted):
            raise AssertionError(f"{name} did not fill {case.name}: …{text[-60:]!r}")


def builder_seconds(budget: float) -> float:
    """Return the time of the object-graph replacer, built anew for each set of parameters, on the messages."""
    case = messages()
    text = case.template(lambda _, path: f"[%param.{path}%]")
    graph = [{"role": "user", "content": f"{i}. {text}"} for i in range(500)]
    return seconds(
        lambda i: (
            ObjectGraphPlaceholderReplacerBuilder().text_parameters(case.parameters[i]).build().replace(graph)
        ),
        budget,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the ratios, or with `--json` the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--budget", type=float, default=0.3, help="seconds per renderer (default 0.3)")
    options = parser.parse_args(arguments)
    rows = measure(options.budget)
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    name = ""
    for row in rows:
        if row["case"] != name:
            name = row["case"]
            print(f"\n{name}")
        print(f"  {row['renderer']:<38}{row['seconds'] * 1e6:>12.1f} µs   {row['ratio']:>7.2f} × ours")
    print(f"\nreplacer built per set, 500 messages      {builder_seconds(options.budget) * 1e6:>12.1f} µs")


if __name__ == "__main__":
    main()
