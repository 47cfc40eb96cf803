"""The registry in which prompts and credentials are found by the name of their class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from workbench.engine.prompts.components import ConfigObject
from workbench.engine.prompts.credentials import (
    AnthropicCredential,
    HuggingFaceCredential,
    OpenAICredential,
)
from workbench.engine.prompts.queries import (
    QueryDecompositionPrompt,
    QueryExpansionPrompt,
    QueryRewritingPrompt,
    RAGAugmentationPrompt,
)
from workbench.engine.prompts.rag import CustomRAGGenerationPrompt, RAGGenerationPrompt
from workbench.engine.text import nearest

Component = TypeVar("Component", bound=type[ConfigObject])


class UnknownComponentError(KeyError):
    """No component has this name. The text lists the names that exist."""

    def __init__(self, name: str, known: Iterable[str], kind: str = "component") -> None:
        self.name = name
        self.known = tuple(known)
        near = nearest(name, self.known)
        hint = f"; did you mean {near}?" if near else ""
        self.message = f"unknown {kind} {name!r}{hint} Known: {', '.join(self.known) or 'none'}."
        if not near:
            self.message = f"unknown {kind} {name!r}. Known: {', '.join(self.known) or 'none'}."
        super().__init__(name)

    def __str__(self) -> str:
        return self.message


class ComponentRegistry:
    """Component classes by name. `registry["RAGGenerationPrompt"]` is a class."""

    def __init__(self, components: Iterable[type[ConfigObject]] = ()) -> None:
        self._components: dict[str, type[ConfigObject]] = {}
        for component in components:
            self.register(component)

    def register(self, component: Component) -> Component:
        """Add a class under its own name and return it, so that this can be used as a decorator.

        Raises:
            ValueError: when another class has the name already.
        """
        name = component.__name__
        if self._components.get(name, component) is not component:
            raise ValueError(f"a component named {name} is registered already")
        self._components[name] = component
        return component

    def __getitem__(self, name: str) -> type[ConfigObject]:
        """Return the class called `name`, or raise `UnknownComponentError`, which is a `KeyError`."""
        try:
            return self._components[name]
        except KeyError:
            raise UnknownComponentError(name, self._components) from None

    def __contains__(self, name: object) -> bool:
        return name in self._components

    def __iter__(self) -> Iterator[str]:
        return iter(self._components)

    def __len__(self) -> int:
        return len(self._components)

    def names(self, kind: str | None = None) -> list[str]:
        """Return the names of all components, or of those whose `TYPE` is `kind`."""
        return [name for name, component in self._components.items() if kind in (None, component.TYPE)]


registry = ComponentRegistry(
    (
        RAGGenerationPrompt,
        CustomRAGGenerationPrompt,
        RAGAugmentationPrompt,
        QueryRewritingPrompt,
        QueryDecompositionPrompt,
        QueryExpansionPrompt,
        HuggingFaceCredential,
        OpenAICredential,
        AnthropicCredential,
    )
)
"""The components that the program comes with. Embedding programs may register their own."""
