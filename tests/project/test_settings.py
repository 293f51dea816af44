"""What a setting's value is, which values are refused, and that nothing secret is shown."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest
from pydantic import SecretStr

from afterturn import MemoryKind, Settings, SettingsError, load_settings
from afterturn.settings import PAGE_VARIABLES, SettingsOptions

PAGE_ROWS = [
    # setting, the page's variable, the page's default, three values that differ from it and each other
    ("redis_url", "REDIS_URL", "redis://localhost:6379", "redis://a:1", "redis://b:2", "redis://c:3"),
    ("hindsight_url", "HINDSIGHT_URL", "http://localhost:8888", "http://a:1", "http://b:2", "http://c:3"),
    ("mem0_url", "MEM0_URL", "http://localhost:8000", "http://a:1", "http://b:2", "http://c:3"),
    ("mem0_api_key", "MEM0_ADMIN_API_KEY", None, "key-a", "key-b", "key-c"),
    ("honcho_url", "HONCHO_URL", "http://localhost:8001", "http://a:1", "http://b:2", "http://c:3"),
    ("honcho_workspace", "HONCHO_APP_NAME", "ai-memory", "space-a", "space-b", "space-c"),
    ("honcho_api_key", "HONCHO_API_KEY", "dev-no-auth", "key-a", "key-b", "key-c"),
]

STORES = ["redis_url", "broker_url"]
SERVERS = ["embedding_url", "extraction_url", "hindsight_url", "mem0_url", "honcho_url"]

MALFORMED_ANYWHERE = [
    "",
    "localhost",
    "localhost:6379",
    "ftp://localhost",
    "http:/localhost",
    "//localhost",
    "localhost:port",
]
MALFORMED_STORES = [
    "redis://",
    "redis://:6379",
    "redis://host:port",
    "redis://host:65536",
    "redis://[::1",
    "http://host",
]
MALFORMED_SERVERS = [
    "http://",
    "http://:8000",
    "http://host:port",
    "http://host:-1",
    "http://[::1",
    "redis://host",
]


def load(**options: Any) -> Settings:
    """`load_settings` with a setting chosen by the test, which its typed keywords can't express."""
    return load_settings(**options)


def value_of(settings: Settings, name: str) -> Any:
    """A setting's value, secrets opened."""
    value = getattr(settings, name)
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def test_every_variable_of_the_page_has_a_row_here() -> None:
    assert {name: variable for name, variable, *_ in PAGE_ROWS} == PAGE_VARIABLES


@pytest.mark.parametrize(
    ("name", "page_variable", "default", "argument", "own", "page"),
    PAGE_ROWS,
    ids=[row[1] for row in PAGE_ROWS],
)
def test_argument_beats_our_variable_beats_the_pages_variable_beats_the_default(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    page_variable: str,
    default: str | None,
    argument: str,
    own: str,
    page: str,
) -> None:
    own_variable = f"AFTERTURN_{name.upper()}"

    assert value_of(load(), name) == default
    monkeypatch.setenv(page_variable, page)
    assert value_of(load(), name) == page
    monkeypatch.setenv(own_variable, own)
    assert value_of(load(), name) == own
    assert value_of(load(**{name: argument}), name) == argument
    monkeypatch.delenv(page_variable)
    assert value_of(load(), name) == own


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_REDIS_URL", "")
    monkeypatch.setenv("REDIS_URL", "redis://page:1")
    assert load().redis_url == "redis://page:1"


@pytest.mark.parametrize(
    "name", [name for name in Settings.model_fields if PAGE_VARIABLES.get(name) != name.upper()]
)
def test_a_variable_without_our_prefix_is_not_read(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """`TOP_K` or `PREFIX` may be another program's; only the page's own names count without the prefix."""
    monkeypatch.setenv(name.upper(), "redis://elsewhere:1")
    assert value_of(load(), name) == value_of(Settings.model_construct(), name)


def test_a_variable_is_read_with_our_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_TOP_K", "9")
    monkeypatch.setenv("AFTERTURN_KINDS", "fact, preference")
    assert load().top_k == 9
    assert load().kinds == {MemoryKind.FACT, MemoryKind.PREFERENCE}


@pytest.mark.parametrize("value", [*MALFORMED_ANYWHERE, *MALFORMED_STORES])
@pytest.mark.parametrize("name", STORES)
def test_a_malformed_store_or_broker_address_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=rf"^{name} \(AFTERTURN_{name.upper()}\): expected redis://"):
        load(**{name: value})


@pytest.mark.parametrize("value", [*MALFORMED_ANYWHERE, *MALFORMED_SERVERS])
@pytest.mark.parametrize("name", SERVERS)
def test_a_malformed_endpoint_address_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=rf"^{name} \(AFTERTURN_{name.upper()}\): expected http://"):
        load(**{name: value})


def test_no_address_escapes_the_two_tests_above() -> None:
    assert {name for name in Settings.model_fields if name.endswith("_url")} == {*STORES, *SERVERS}


@pytest.mark.parametrize("variable", ["AFTERTURN_REDIS_URL", "REDIS_URL"])
def test_a_malformed_variable_is_refused_by_the_settings_name(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "localhost:6379")
    with pytest.raises(SettingsError, match=r"^redis_url \(AFTERTURN_REDIS_URL\): "):
        load()


@pytest.mark.parametrize(
    "url", ["redis://host", "rediss://user:pw@host:6380/2", "unix:///run/redis.sock", "redis://[::1]:6379"]
)
def test_a_wellformed_store_address_is_kept_as_it_is(url: str) -> None:
    assert load(redis_url=url).redis_url == url


@pytest.mark.parametrize("url", ["amqp://guest:pw@rabbit//", "amqps://rabbit:5671", "sentinel://one:26379"])
def test_a_broker_may_be_of_another_kind_than_the_store(url: str) -> None:
    assert load(broker_url=url).broker == url
    with pytest.raises(SettingsError, match="redis_url"):
        load(redis_url=url)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("top_k", 0),
        ("min_score", 1.1),
        ("min_score", float("nan")),
        ("kinds", {"opinion"}),
        ("embedder", "magic"),
        ("embedding_dimension", 0),
        ("save_timeout", 0),
        ("recall_timeout", -1),
        ("publish_timeout", float("inf")),
        ("text_limit", "many"),
        ("batch_size", 0),
        ("max_attempts", 0),
        ("prefix", ""),
        ("adapter", 7),
    ],
)
def test_a_value_out_of_bounds_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(SettingsError, match=rf"^{name} \(AFTERTURN_{name.upper()}\): "):
        load(**{name: value})


def test_an_error_names_every_setting_that_is_wrong() -> None:
    with pytest.raises(SettingsError, match=r"(?s)top_k.*; batch_size"):
        load(batch_size=0, top_k=0)


def test_an_unknown_setting_is_refused_by_name() -> None:
    with pytest.raises(SettingsError, match=r"^unknown setting topk: docs/settings\.md lists them$"):
        load(topk=3)


def test_the_keyword_arguments_are_the_settings() -> None:
    named = {"adapter", "embedder"}
    assert set(get_type_hints(SettingsOptions)) | named == set(Settings.model_fields)
    assert named <= set(get_type_hints(load_settings))


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load().top_k = 3


SECRETS = ["embedding_api_key", "extraction_api_key", "mem0_api_key", "honcho_api_key"]


@pytest.mark.parametrize("name", SECRETS)
def test_a_key_is_never_shown(name: str) -> None:
    settings = load(**{name: "s3cret"})
    assert value_of(settings, name) == "s3cret"
    assert "s3cret" not in f"{settings!r} {settings!s} {settings.model_dump_json()}"


def test_every_key_is_a_secret() -> None:
    assert {name for name in Settings.model_fields if name.endswith(("_key", "_token", "_password"))} == set(
        SECRETS
    )


@pytest.mark.parametrize(
    "url", ["redis://:s3cret@host:6379/1", "redis://user:s3cret@host", "amqp://user:with@s3cret@host//"]
)
def test_the_password_in_an_address_is_never_shown(url: str) -> None:
    settings = load(broker_url=url)
    assert settings.broker == url
    assert "s3cret" not in f"{settings!r} {settings!s}"
    assert "@host" in repr(settings)


@pytest.mark.parametrize("name", [*STORES, *SERVERS])
@pytest.mark.parametrize(
    "url",
    ["redis://:s3cret@host:port", "http://user:s3cret/x@host", "amqp://u:[s3cret@host", "u:s3cret@host"],
)
def test_an_error_never_quotes_an_address(name: str, url: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load(**{name: url})
    assert "s3cret" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("name", SECRETS)
def test_an_error_never_quotes_a_key(name: str) -> None:
    with pytest.raises(SettingsError, match=name) as refused:
        load(**{name: ["s3cret"]})
    assert "s3cret" not in str(refused.value)
