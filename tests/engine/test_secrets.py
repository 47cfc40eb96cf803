"""Secrets stay out of files, go only where they were accepted, and are scrubbed from every text."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from workbench.engine.secrets import (
    OriginNotAccepted,
    Secret,
    SecretError,
    Secrets,
    SystemKeyring,
    origin_of,
    variable_name,
)

VALUE = "sk-test-1234"
HERE = "https://api.example"


class Ring:
    """A keyring in memory."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.values.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.values[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.values[service, username]


class NoKeyring:
    """What a headless Linux has: every call fails."""

    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError("No recommended backend was available.\nInstall one.")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError("No recommended backend was available.")

    def delete_password(self, service: str, username: str) -> None:
        raise RuntimeError("No recommended backend was available.")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://API.Example/v1?x#y", "https://api.example"),
        ("https://api.example:443/", "https://api.example"),
        ("http://api.example:80", "http://api.example"),
        ("http://localhost:11434/v1", "http://localhost:11434"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("https://bücher.example/", "https://xn--bcher-kva.example"),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example",
        "ftp://a",
        "https://",
        "https://u:p@h",
        "https://good.example\\@evil.example/",
        "https://a b/",
        "https://h:x/",
        "https://h\n/",
        "https://[::1/",
        "https://[::1]x/",
        "https://[::1]x:8080/",
        "https://[zz]/",
        "https://]",
        "https://a%2eb/",
    ],
)
def test_an_address_that_programs_read_differently_has_no_origin(url: str) -> None:
    with pytest.raises(ValueError):
        origin_of(url)


@pytest.mark.parametrize(
    ("name", "variable"),
    [("openai", "OPENAI"), ("my-key.1", "MY_KEY_1"), ("Azure EU", "AZURE_EU"), ("schlüssel", "SCHL_SSEL")],
)
def test_a_variable_is_the_name_in_upper_case_with_underscores(name: str, variable: str) -> None:
    assert variable_name(name) == "PROMPT_WORKBENCH_SECRET_" + variable


def test_a_value_of_the_environment_is_asked_about_before_it_goes_anywhere() -> None:
    secrets = Secrets({"PROMPT_WORKBENCH_SECRET_MY_KEY": VALUE})
    with pytest.raises(OriginNotAccepted, match="no server yet") as caught:
        secrets.lookup("my-key", HERE + "/v1/chat")
    assert (caught.value.name, caught.value.accepted, caught.value.wanted) == ("my-key", (), HERE)
    assert VALUE not in str(caught.value)
    secrets.accept("my-key", HERE + "/any/path")
    found = secrets.lookup("my-key", HERE + "/v1/chat")
    assert found == Secret("my-key", VALUE, HERE)
    assert secrets.source("my-key") == "environment"


@pytest.mark.parametrize(
    "other",
    [
        "http://api.example",
        "https://api.example:8443",
        "https://api.example.evil.example",
        "https://evil.example",
    ],
)
def test_an_accepted_secret_goes_to_no_other_scheme_host_or_port(other: str) -> None:
    secrets = Secrets()
    secrets.remember("key", VALUE, HERE)
    with pytest.raises(OriginNotAccepted) as caught:
        secrets.lookup("key", other)
    assert caught.value.accepted == (HERE,)
    assert HERE in str(caught.value)
    assert other in str(caught.value)


def test_without_a_value_nobody_is_asked() -> None:
    assert Secrets({}, Ring()).lookup("unknown", HERE) is None
    assert Secrets({"PROMPT_WORKBENCH_SECRET_UNKNOWN": "  "}).lookup("unknown", HERE) is None


def test_an_entered_value_goes_to_the_keyring_and_comes_back_from_it() -> None:
    ring = Ring()
    assert Secrets({}, ring).remember("key", f" {VALUE}\n", HERE) == "keyring"
    assert ring.values == {("prompt-workbench", "key"): VALUE}
    later = Secrets({}, ring)
    with pytest.raises(OriginNotAccepted):  # no file remembered what was accepted
        later.lookup("key", HERE)
    later.accept("key", HERE)
    found = later.lookup("key", HERE)
    assert found is not None
    assert (found.value, later.source("key")) == (VALUE, "keyring")


def test_accepted_origins_are_remembered_in_a_file_that_holds_no_value(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "accepted.json"
    Secrets({}, Ring(), accepted_file=file).remember("key", VALUE, HERE)
    assert json.loads(file.read_text(encoding="utf-8")) == {"format": 1, "origins": {"key": [HERE]}}
    assert [path.name for path in file.parent.iterdir()] == ["accepted.json"]
    assert Secrets({}, accepted_file=file).is_accepted("key", HERE + "/v1")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"origins": [1]}', '{"origins": {"key": "https://api.example"}}', "\x00"]
)
def test_a_broken_file_accepts_nothing(tmp_path: Path, content: str) -> None:
    file = tmp_path / "accepted.json"
    file.write_text(content, encoding="utf-8")
    secrets = Secrets({"PROMPT_WORKBENCH_SECRET_KEY": VALUE}, accepted_file=file)
    with pytest.raises(OriginNotAccepted):
        secrets.lookup("key", HERE)
    secrets.accept("key", HERE)
    assert Secrets(accepted_file=file).accepted("key") == (HERE,)


def test_where_the_file_cannot_be_written_acceptance_holds_for_this_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    secrets = Secrets(accepted_file=tmp_path / "file" / "accepted.json")
    secrets.accept("key", HERE)
    assert secrets.is_accepted("key", HERE)


def test_a_new_value_is_not_accepted_where_the_old_one_was() -> None:
    secrets = Secrets({}, Ring())
    secrets.remember("key", "old-value", "https://old.example")
    secrets.remember("key", "new-value", HERE)
    with pytest.raises(OriginNotAccepted):
        secrets.lookup("key", "https://old.example")


def test_without_a_keyring_a_value_is_kept_in_memory_for_this_run() -> None:
    secrets = Secrets({}, NoKeyring())
    assert secrets.remember("key", VALUE, HERE) == "memory"
    assert secrets.source("key") == "memory"
    assert secrets.keyring_problem == "RuntimeError: No recommended backend was available."
    assert secrets.lookup("other", HERE) is None
    secrets.forget("key")
    assert secrets.value("key") is None
    assert secrets.accepted("key") == ()


def test_the_keyring_of_a_headless_system_fails_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring
    from keyring.backends.fail import Keyring as Failing

    before = keyring.get_keyring()
    keyring.set_keyring(Failing())
    try:
        secrets = Secrets({}, SystemKeyring())
        assert secrets.lookup("key", HERE) is None
        assert "NoKeyringError" in (secrets.check_keyring() or "")
    finally:
        keyring.set_keyring(before)


def test_a_forgotten_secret_is_gone_from_the_keyring() -> None:
    ring = Ring()
    secrets = Secrets({}, ring)
    secrets.remember("key", VALUE, HERE)
    secrets.forget("key")
    assert ring.values == {}
    assert secrets.lookup("key", HERE) is None


def test_memory_wins_over_environment_and_environment_over_keyring() -> None:
    ring = Ring()
    ring.set_password("prompt-workbench", "key", "from-keyring")
    secrets = Secrets({"PROMPT_WORKBENCH_SECRET_KEY": "from-environment"}, ring)
    assert secrets.value("key") == "from-environment"
    secrets.remember("key", "from-memory", HERE, keep=False)
    assert secrets.value("key") == "from-memory"
    assert ring.values == {("prompt-workbench", "key"): "from-keyring"}


@pytest.mark.parametrize("value", ["", "  ", "two words", "tab\tinside", "ünïcode", "line\nbreak", "nul\x00"])
def test_a_value_that_is_no_key_is_refused_without_being_shown(value: str) -> None:
    with pytest.raises(SecretError) as caught:
        Secrets().remember("key", value, HERE)
    if value.strip():
        assert value not in str(caught.value)


# ---- the vendors' own variables ----

VENDORS = {"OPENAI_API_KEY": "sk-openai-1", "ANTHROPIC_API_KEY": "sk-ant-1"}


@pytest.mark.parametrize(
    ("provider", "value", "origin"),
    [
        ("openai", "sk-openai-1", "https://api.openai.com"),
        ("openai-responses", "sk-openai-1", "https://api.openai.com"),
        ("anthropic", "sk-ant-1", "https://api.anthropic.com"),
    ],
)
def test_a_vendors_key_is_bound_to_the_vendors_origin(provider: str, value: str, origin: str) -> None:
    found = Secrets(VENDORS).provider_key(provider, None)
    assert found is not None
    assert (found.value, found.origin) == (value, origin)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("base_url", ["http://localhost:11434/v1", "https://api.openai.com/v1"])
def test_a_vendors_key_is_not_used_where_the_project_gives_an_address(provider: str, base_url: str) -> None:
    assert Secrets(VENDORS).provider_key(provider, base_url) is None


@pytest.mark.parametrize("provider", ["ollama", "system-one", "recorded", "gguf"])
def test_other_providers_have_no_vendors_key(provider: str) -> None:
    assert Secrets(VENDORS).provider_key(provider, None) is None


def test_an_empty_vendors_key_counts_as_none() -> None:
    assert Secrets({"OPENAI_API_KEY": " "}).provider_key("openai", None) is None


# ---- scrubbing ----


def test_every_known_value_is_scrubbed_however_it_is_escaped() -> None:
    ring = Ring()
    secrets = Secrets({"PROMPT_WORKBENCH_SECRET_A": 'a"quote/1', "OPENAI_API_KEY": "sk-openai-1"}, ring)
    ring.set_password("prompt-workbench", "b", "ring-value")
    assert secrets.scrub("ring-value") == "ring-value"  # not used in this run, hence not known
    secrets.value("b")
    text = 'raw a"quote/1 json ' + json.dumps('a"quote/1') + " url a%22quote%2F1"
    scrubbed = secrets.scrub(text + " ring-value sk-openai-1")
    assert scrubbed == ('raw [secret a] json "[secret a]" url [secret a] [secret b] [secret OPENAI_API_KEY]')


def test_a_value_that_begins_with_another_is_scrubbed_whole() -> None:
    secrets = Secrets({"PROMPT_WORKBENCH_SECRET_A": "abcd", "PROMPT_WORKBENCH_SECRET_B": "abcdefgh"})
    assert secrets.scrub("abcdefgh abcd") == "[secret b] [secret a]"


def test_values_of_three_characters_do_not_tear_texts_apart() -> None:
    assert Secrets({"PROMPT_WORKBENCH_SECRET_A": "the"}).scrub("the other") == "the other"


def test_a_value_entered_later_is_scrubbed_too() -> None:
    secrets = Secrets()
    assert secrets.scrub(VALUE) == VALUE
    secrets.remember("key", VALUE, HERE)
    assert secrets.scrub(f"x{VALUE}y") == "x[secret key]y"


def test_no_repr_shows_a_value() -> None:
    secrets = Secrets({"PROMPT_WORKBENCH_SECRET_A": VALUE})
    assert VALUE not in repr(Secret("a", VALUE, HERE)) + repr(secrets)


ODD = "ab/cd+ef=<gh>&'i"


@pytest.mark.parametrize(
    "written",
    [
        ODD,
        ODD.replace("/", "\\/"),  # PHP
        ODD.replace("+", "\\u002B").replace("'", "\\u0027"),  # .NET
        ODD.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),  # Go
        ODD.replace("/", "\\\\/"),  # JSON within JSON
        ODD.replace("/", "%2f").replace("+", "%2B").replace("=", "%3d"),
        ODD.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#x27;"),
        ODD.replace("'", "&#039;"),
    ],
)
def test_a_value_is_scrubbed_in_every_escape_that_servers_write(written: str) -> None:
    secrets = Secrets()
    bound = secrets.bind("own", ODD, HERE)
    assert secrets.scrub(f"key {written} end") == "key [secret own] end"
    assert bound.scrub(f"key {written} end") == "key [secret own] end"


def test_a_value_that_is_part_of_ordinary_words_is_left() -> None:
    bound = Secrets().bind("own", "x", HERE)
    assert bound.scrub("max_tokens") == "max_tokens"


def test_of_two_values_that_begin_alike_the_longer_one_is_named() -> None:
    secrets = Secrets()
    secrets.bind("short", "sk-same", HERE)
    secrets.bind("long", "sk-same-more", HERE)
    assert secrets.scrub("sk-same-more sk-same") == "[secret long] [secret short]"


@pytest.mark.parametrize("text", ["\\" * 300_000, "&#0" * 100_000, "%2" * 100_000])
def test_scrubbing_takes_time_by_the_length_of_the_text_alone(text: str) -> None:
    secrets = Secrets()
    secrets.bind("own", "-/+=abcd", HERE)
    began = time.perf_counter()
    assert secrets.scrub(f"{text}abcd") == f"{text}abcd"
    assert time.perf_counter() - began < 3


def test_a_value_with_many_backslashes_is_looked_for_as_fast_as_any() -> None:
    odd = "abcd" + "\\" * 12 + "ef"
    secrets = Secrets()
    secrets.bind("own", odd, HERE)
    for spelling in ("\\", "\\\\", "\\" * 8, "%5C", "\\u005c", "&#92;"):
        written = odd.replace("\\", spelling)
        assert secrets.scrub(f"x{written}y") == "x[secret own]y"
    text = "abcd ef abcd" + "\\" * 90 + "no"
    began = time.perf_counter()
    assert secrets.scrub(text) == text
    assert time.perf_counter() - began < 1


def test_twenty_keys_are_scrubbed_from_a_long_text_in_no_time() -> None:
    keys = {f"PROMPT_WORKBENCH_SECRET_K{i}": f"sk-{i:02}" + "A1b2" * 8 for i in range(20)}
    text = "some words - and more, " * 400_000
    began = time.perf_counter()
    scrubbed = Secrets(keys).scrub(f"{text}{keys['PROMPT_WORKBENCH_SECRET_K7']}")
    assert scrubbed == f"{text}[secret k7]"
    assert time.perf_counter() - began < 1
