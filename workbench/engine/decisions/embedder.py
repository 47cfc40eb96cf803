"""Turns texts into sentence embeddings with an ONNX model; runs in a worker process only."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

MAX_TOKENS = 256


class Embedder:
    """A loaded sentence model: mean over the token vectors, normalised to length 1.

    After `centre` the vectors are without what ordinary sentences have in common, and of length 1 again.

    Texts are run one by one and unpadded: the int8 model scales its activations by what else is in the
    batch, so that a batch would give a text another vector than the text alone.
    """

    def __init__(self, model: Path, tokenizer: Path, *, threads: int = 1) -> None:
        import numpy
        import onnxruntime
        from tokenizers import Tokenizer

        self._numpy = numpy
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        # The file's own settings pad and cut to 128 tokens.
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(model), sess_options=options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {item.name for item in self._session.get_inputs()}
        self._common: numpy.ndarray[Any, Any] | None = None

    def centre(self, texts: Iterable[str]) -> None:
        """Take the mean vector of `texts` off every vector from now on."""
        self._common = None
        self._common = self._numpy.mean([self.embed(text) for text in texts], axis=0)

    def embed(self, text: str) -> numpy.ndarray[Any, Any]:
        """Return the vector of `text`: float32, length 1. Needs a text that fits into `MAX_TOKENS`."""
        return self._run(self._tokenizer.encode(text))

    def embed_window(self, text: str) -> list[numpy.ndarray[Any, Any]]:
        """Return the vector of `text`, or those of its halves as often as needed for nothing to be cut off."""
        encoding = self._tokenizer.encode(text)
        if not encoding.overflowing or len(text) < 2:
            return [self._run(encoding)]
        middle = len(text) // 2
        blank = text.rfind(" ", middle // 2, middle)
        cut = blank if blank > 0 else middle
        return self.embed_window(text[:cut]) + self.embed_window(text[cut:])

    def _run(self, encoding: Any) -> numpy.ndarray[Any, Any]:
        np = self._numpy
        ids = np.asarray([encoding.ids], dtype=np.int64)
        mask = np.ones_like(ids)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, {k: v for k, v in feed.items() if k in self._inputs})[0]
        vector = self._unit(hidden[0].mean(axis=0) if hidden.ndim == 3 else hidden[0])
        if self._common is not None:
            vector = self._unit(vector - self._common)
        result: numpy.ndarray[Any, Any] = vector.astype(np.float32)
        return result

    def _unit(self, vector: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        norm = float(self._numpy.linalg.norm(vector))
        return vector / norm if norm > 0 else vector
