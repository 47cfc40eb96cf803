"""The process in which the embedded sentence model lives: `python -m … MODEL TOKENIZER`."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Any

from workbench.engine.decisions.embedder import Embedder
from workbench.engine.decisions.ordinary import ORDINARY
from workbench.engine.workers import CallContext, run_worker


class EmbeddingService:
    """Answers `embed` (`{"texts"}` → per text a list of base64 float32 vectors) and `warm`."""

    def __init__(self, model: Path, tokenizer: Path) -> None:
        self._paths = (model, tokenizer)
        self._embedder: Embedder | None = None

    def load(self) -> None:
        """Load the model; afterwards calls are answered in milliseconds."""
        embedder = Embedder(*self._paths)
        embedder.centre(ORDINARY)
        self._embedder = embedder

    def warm(self, params: Any, context: CallContext) -> bool:
        """Do nothing: the model was loaded before the first call is served."""
        return self._embedder is not None

    def embed(self, params: Any, context: CallContext) -> list[list[str]]:
        """Return the vectors of every text in `params["texts"]`; several where a text had to be halved."""
        assert self._embedder is not None
        result = []
        for text in params["texts"]:
            context.check()
            # A lone surrogate has no UTF-8 form, which the tokenizer needs.
            clean = text.encode("utf-8", "replace").decode("utf-8")
            vectors = self._embedder.embed_window(clean)
            result.append([base64.b64encode(vector.tobytes()).decode("ascii") for vector in vectors])
        return result


def main() -> None:
    """Serve until the input ends."""
    service = EmbeddingService(Path(sys.argv[1]), Path(sys.argv[2]))
    run_worker({"embed": service.embed, "warm": service.warm}, setup=service.load)


if __name__ == "__main__":
    main()
