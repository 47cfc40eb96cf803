"""Keeps API keys out of projects and sends each only to the server that its owner accepted for it.

A project names a secret; its value is in the system's keyring, in an environment variable or in memory
for this run, and never in a file. A value goes only to origins (scheme, host, port) that were accepted for
its name. Accepted origins, which are no secrets, are remembered in a small JSON file of the user.
"""

from __future__ import annotations

import functools
import html
import json
import os
import re
import tempfile
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import quote, urlsplit

SERVICE = "prompt-workbench"
"""The name under which values lie in the keyring."""

VARIABLE_PREFIX = "PROMPT_WORKBENCH_SECRET_"

PROVIDER_KEYS: Mapping[str, tuple[str, str]] = {
    "openai": ("OPENAI_API_KEY", "https://api.openai.com"),
    "openai-responses": ("OPENAI_API_KEY", "https://api.openai.com"),
    "chat-logprobs": ("OPENAI_API_KEY", "https://api.openai.com"),
    "anthropic": ("ANTHROPIC_API_KEY", "https://api.anthropic.com"),
}
"""Per provider: the vendor's own environment variable, and the one origin that it is sent to."""

AZURE_KEY = "AZURE_OPENAI_API_KEY"
"""The variable of a vendor whose every customer has a server of their own."""

_SHORTEST_SCRUBBED = 4
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9._-]+|\[[0-9a-f:.]+\]")

Source = Literal["memory", "environment", "keyring"]


class SecretError(Exception):
    """A secret cannot be used; `name` is its name. The text never holds a value."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message


class OriginNotAccepted(SecretError):  # noqa: N818 - the name that the rooms agreed on
    """A project wants to send a secret to an origin that nobody accepted for it.

    `accepted` holds the origins accepted so far, `wanted` is the one asked for.
    """

    def __init__(self, name: str, accepted: Iterable[str], wanted: str) -> None:
        self.accepted = tuple(accepted)
        self.wanted = wanted
        known = ", ".join(self.accepted) or "no server yet"
        super().__init__(
            name,
            f"The secret {name!r} is accepted for {known}, not for {wanted}; nothing was sent. Accept it first.",
        )


class KeyringBackend(Protocol):
    """The three calls of a keyring that are used here."""

    def get_password(self, service: str, username: str) -> str | None: ...
    def set_password(self, service: str, username: str, password: str) -> None: ...
    def delete_password(self, service: str, username: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that may be sent to `origin` and nowhere else. `repr` does not show the value."""

    name: str
    value: str = field(repr=False)
    origin: str

    def scrub(self, text: str) -> str:
        """Return `text` without the value, in whatever way it is escaped; one under four characters is left."""
        return _scrub(text, {self.value: self.name})


def origin_of(url: str) -> str:
    """Return the origin of an http(s) address as `scheme://host` or, off the default port, `scheme://host:port`.

    Raises:
        ValueError: the address is not http(s), has no host, carries a user name or password, or is spelled
            in a way that programs read differently.
    """
    if re.search(r"[\x00-\x20\x7f\\]", url):
        raise ValueError(f"the address {_shown(url)!r} contains a space, a control character or a backslash")
    try:
        parts = urlsplit(url)
    except ValueError as error:  # a bracket without its other half, or no IPv6 address between them
        raise ValueError(f"the address {_shown(url)!r} cannot be read: {error}") from None
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        raise ValueError(f"the address {_shown(url)!r} must begin with http:// or https://")
    if "@" in parts.netloc:
        raise ValueError("the address carries a user name or password; name a secret instead")
    host = _host(parts.netloc, url)
    try:
        port = parts.port
    except ValueError:
        raise ValueError(f"the address {_shown(url)!r} has no valid port") from None
    return f"{scheme}://{host}" if port in (None, _DEFAULT_PORTS[scheme]) else f"{scheme}://{host}:{port}"


def _host(netloc: str, url: str) -> str:
    if netloc.startswith("["):
        head, _, rest = netloc.rpartition("]")
        host = f"{head}]{rest.partition(':')[0]}"  # what stands between the bracket and the port is refused below
    else:
        host = netloc.partition(":")[0]
    host = host.lower()
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            raise ValueError(f"the address {_shown(url)!r} has no valid host") from None
    if not _HOST.fullmatch(host):
        raise ValueError(f"the address {_shown(url)!r} has no valid host")
    return host


def _shown(url: str) -> str:
    """Return an address fit for a message: without user name, password, query and excess length."""
    return re.sub(r"//[^/@]*@", "//…@", url.partition("?")[0])[:100]


def variable_name(name: str) -> str:
    """Return the environment variable that holds the secret `name`: upper case, other characters `_`."""
    return VARIABLE_PREFIX + re.sub(r"[^A-Z0-9]", "_", name.upper())


def checked_value(name: str, value: str) -> str:
    """Return `value` without surrounding blanks.

    Raises:
        SecretError: it is empty, or has characters that no API key has. The value is not shown.
    """
    value = value.strip()
    if not value:
        raise SecretError(name, f"The secret {name!r} is empty.")
    if not all("!" <= character <= "~" for character in value):
        raise SecretError(
            name, f"The secret {name!r} contains a blank, a control character or a character outside ASCII."
        )
    return value


class SystemKeyring:
    """The keyring of the system, imported on first use. On a headless Linux every call of it fails."""

    def get_password(self, service: str, username: str) -> str | None:
        """Return the stored value or `None`."""
        import keyring

        value: str | None = keyring.get_password(service, username)
        return value

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store a value."""
        import keyring

        keyring.set_password(service, username, password)

    def delete_password(self, service: str, username: str) -> None:
        """Remove a value."""
        import keyring

        keyring.delete_password(service, username)


class Secrets:
    """The user's secrets for this run. Safe to use from several threads.

    `env` is the environment to read (nothing when `None`). `keyring` is where values are kept (nowhere when
    `None`). `accepted_file` is where accepted origins are remembered (for this run only when `None`).
    A value is looked for in memory, then in the environment, then in the keyring.
    """

    def __init__(
        self,
        env: Mapping[str, str] | None = None,
        keyring: KeyringBackend | None = None,
        *,
        accepted_file: Path | None = None,
    ) -> None:
        self._env = env if env is not None else {}
        self._keyring = keyring
        self._file = accepted_file
        self._lock = threading.RLock()
        self._memory: dict[str, str] = {}
        self._seen: dict[str, str] = {}
        self._accepted: dict[str, list[str]] = {}
        self._keyring_problem: str | None = None if keyring is not None else "no keyring is used"
        self._load()

    @classmethod
    def for_user(cls, config_folder: Path | None = None) -> Secrets:
        """Return the secrets of the person at this computer: environment, system keyring, config folder."""
        if config_folder is None:
            import platformdirs

            config_folder = Path(platformdirs.user_config_dir("prompt-workbench", appauthor=False))
        return cls(os.environ, SystemKeyring(), accepted_file=config_folder / "accepted-origins.json")

    # ---- values ----

    def lookup(self, name: str, origin: str) -> Secret | None:
        """Return the secret `name` for `origin`, or `None` when there is no value for it anywhere.

        Without a value nobody is asked anything, since there is nothing to send.

        Raises:
            OriginNotAccepted: there is a value, but it was not accepted for this origin.
            SecretError: the value cannot be an API key.
        """
        value = self.value(name)
        if value is None:
            return None
        value = checked_value(name, value)
        if not self.is_accepted(name, origin):
            raise OriginNotAccepted(name, self.accepted(name), origin_of(origin))
        return Secret(name, value, origin_of(origin))

    def provider_key(self, provider: str, base_url: str | None) -> Secret | None:
        """Return the vendor's own key from the environment, such as `OPENAI_API_KEY`, or `None`.

        It is bound to the vendor's own origin, and there is none for a model that has an address of its own.
        """
        if base_url or provider not in PROVIDER_KEYS:
            return None
        variable, origin = PROVIDER_KEYS[provider]
        value = self._env.get(variable, "")
        if not value.strip():
            return None
        return Secret(variable, self._note(variable, checked_value(variable, value)), origin)

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables in which values are looked for."""
        return self._env

    def bind(self, name: str, value: str, origin: str) -> Secret:
        """Return `value` as a secret that goes to `origin` only, and take it out of every text from now on.

        Raises:
            SecretError: the value cannot be an API key.
        """
        return Secret(name, self._note(name, checked_value(name, value)), origin_of(origin))

    def value(self, name: str) -> str | None:
        """Return the raw value of `name`, `None` when there is none. For those who send it: use `lookup`."""
        found = self._find(name)
        return None if found is None else found[1]

    def source(self, name: str) -> Source | None:
        """Return where the value of `name` comes from, `None` when there is none."""
        found = self._find(name)
        return None if found is None else found[0]

    def remember(self, name: str, value: str, origin: str, *, keep: bool = True) -> Source:
        """Take a value that was entered for `origin`; return where it is now.

        It goes to the keyring, and to memory when `keep` is false or there is no working keyring.

        Raises:
            SecretError: the value cannot be an API key.
            ValueError: the origin is none.
        """
        value = self._note(name, checked_value(name, value))
        bound = origin_of(origin)
        with self._lock:
            # A new value was entered for this origin only; what an older value was accepted for is over.
            self._accepted[name] = [bound]
            self._save()
        if keep and self._keyring is not None:
            try:
                self._keyring.set_password(SERVICE, name, value)
            except Exception as error:  # every backend has its own errors
                self._keyring_problem = _reason(error)
            else:
                self._memory.pop(name, None)
                return "keyring"
        self._memory[name] = value
        return "memory"

    def forget(self, name: str) -> None:
        """Remove the value of `name` from memory and keyring, and what it was accepted for."""
        self._memory.pop(name, None)
        if self._keyring is not None:
            try:
                self._keyring.delete_password(SERVICE, name)
            except Exception as error:  # as above; there may have been no value either
                self._keyring_problem = _reason(error)
        with self._lock:
            if self._accepted.pop(name, None) is not None:
                self._save()

    @property
    def keyring_problem(self) -> str | None:
        """Why the keyring cannot be used, as far as it is known; `None` when it can or was not tried."""
        return self._keyring_problem

    def check_keyring(self) -> str | None:
        """Try the keyring and return why it cannot be used, `None` when it can."""
        self._from_keyring("prompt-workbench-check")
        return self._keyring_problem

    def _find(self, name: str) -> tuple[Source, str] | None:
        if name in self._memory:
            return "memory", self._memory[name]
        value = self._env.get(variable_name(name), "")
        if value.strip():
            return "environment", self._note(name, value)
        stored = self._from_keyring(name)
        return None if stored is None else ("keyring", self._note(name, stored))

    def _from_keyring(self, name: str) -> str | None:
        if self._keyring is None:
            return None
        try:
            value = self._keyring.get_password(SERVICE, name)
        except Exception as error:  # NoKeyringError on a headless Linux, but backends raise anything
            self._keyring_problem = _reason(error)
            return None
        self._keyring_problem = None
        return value or None

    def _note(self, name: str, value: str) -> str:
        with self._lock:
            self._seen[value.strip()] = name
        return value

    # ---- origins ----

    def accepted(self, name: str) -> tuple[str, ...]:
        """Return the origins that were accepted for the secret `name`."""
        with self._lock:
            return tuple(self._accepted.get(name, ()))

    def is_accepted(self, name: str, origin: str) -> bool:
        """Tell whether the secret `name` may be sent to `origin`."""
        return origin_of(origin) in self.accepted(name)

    def accept(self, name: str, origin: str) -> None:
        """Allow the secret `name` to be sent to `origin` (any address of it) from now on."""
        bound = origin_of(origin)
        with self._lock:
            origins = self._accepted.setdefault(name, [])
            if bound not in origins:
                origins.append(bound)
                self._save()

    def _load(self) -> None:
        """Read the accepted origins; a file that cannot be read accepts nothing."""
        if self._file is None:
            return
        try:
            data: Any = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return
        origins = data.get("origins") if isinstance(data, dict) else None
        if not isinstance(origins, dict):
            return
        for name, listed in origins.items():
            if isinstance(listed, list):
                self._accepted[name] = [origin for origin in listed if isinstance(origin, str)]

    def _save(self) -> None:
        """Write the accepted origins; where that fails they hold for this run only."""
        if self._file is None:
            return
        text = json.dumps(
            {"format": 1, "origins": self._accepted}, indent=2, ensure_ascii=False, sort_keys=True
        )
        temporary: str | None = None
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=self._file.parent, prefix=".accepted-")
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(text + "\n")
            os.replace(temporary, self._file)
        except OSError:
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)

    # ---- scrubbing ----

    def scrub(self, text: str) -> str:
        """Return `text` with every known value replaced by `[secret NAME]`, in whatever way it is escaped.

        Known are the values in memory and in the environment, and those of the keyring that were used in
        this run. Values under four characters are left: they are parts of ordinary words.
        """
        return _scrub(text, self._known())

    def _known(self) -> dict[str, str]:
        values: dict[str, str] = {}
        for variable, value in self._env.items():
            if variable.startswith(VARIABLE_PREFIX):
                values[value.strip()] = variable.removeprefix(VARIABLE_PREFIX).lower()
        vendors = {variable for variable, _ in PROVIDER_KEYS.values()}
        for variable in (*vendors, AZURE_KEY):
            values[self._env.get(variable, "").strip()] = variable
        with self._lock:
            values.update(self._seen)
        return values


def _reason(error: Exception) -> str:
    first = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


@functools.lru_cache(maxsize=256)
def _core(value: str) -> str:
    """Return the longest run of letters and digits of a value: no spelling changes it, and it is quickly looked for."""
    return max(re.findall(r"[A-Za-z0-9]+", value), key=len, default="")


def _scrub(text: str, names: Mapping[str, str]) -> str:
    """Return `text` without the values that are the keys of `names`; those under four characters are left."""
    found = [value for value in names if len(value) >= _SHORTEST_SCRUBBED and _core(value) in text]
    if not found:
        return text
    # Longest first, so that a value that begins with another is replaced whole.
    values = tuple(sorted(found, key=lambda value: (-len(value), value)))
    return _expression(values).sub(
        lambda match: f"[secret {names[values[(match.lastindex or 1) - 1]]}]", text
    )


@functools.lru_cache(maxsize=64)
def _expression(values: tuple[str, ...]) -> re.Pattern[str]:
    """Return a regular expression with a group for each of the values."""
    return re.compile("|".join(f"({_spellings(value)})" for value in values))


def _spellings(value: str) -> str:
    """Return a regular expression for the ways in which a value may stand in a text: raw, in JSON, an address, a page.

    Writers of JSON are free to escape more than they must: a slash in PHP, a plus sign in .NET, angle brackets in Go.
    """
    return "".join(map(_written, re.findall(r"\\+|[^\\]", value)))


def _written(run: str) -> str:
    """Return an expression for one character, or for some backslashes in a row, which a text may hold doubled."""
    character, length = run[0], len(run)
    if character.isascii() and character.isalnum():
        return character
    if length > 1:  # one by one, there would be countless ways to share out the backslashes of a text
        return rf"(?:\\{{{length},{8 * length}}}|(?i:%5c|\\{{1,7}}u005c|&#(?:0{{0,4}}92|x0{{0,4}}5c);){{{length}}})"
    written = {json.dumps(character)[1:-1], quote(character, safe="")}
    plain = [re.escape(character), *(f"(?i:{re.escape(spelling)})" for spelling in sorted(written))]
    if character.isascii():
        code = ord(character)
        plain[0] = rf"\\{{0,7}}{plain[0]}"  # JSON within JSON doubles its backslashes
        plain.append(
            rf"(?i:\\{{1,7}}u{code:04x}|&#(?:0{{0,4}}{code}|x0{{0,4}}{code:x});|{re.escape(html.escape(character))})"
        )
    return f"(?:{'|'.join(plain)})"
