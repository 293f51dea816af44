"""All settings, in one frozen object made at the edge and passed in.

Precedence: constructor argument, then `AFTERTURN_<NAME>`, then the variable that the adapters' page names
(`REDIS_URL`, `MEM0_URL`, …), then the default. Below this module nothing reads the environment.
`docs/settings.md` lists them; a test holds that table to this class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypedDict, Unpack
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasChoices, AliasGenerator, Field, SecretStr, field_validator
from pydantic import ValidationError as PydanticValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from afterturn.errors import SettingsError
from afterturn.model import MemoryKind

ENV_PREFIX = "AFTERTURN_"
PAGE_VARIABLES: dict[str, str] = {
    "redis_url": "REDIS_URL",
    "hindsight_url": "HINDSIGHT_URL",
    "mem0_url": "MEM0_URL",
    "mem0_api_key": "MEM0_ADMIN_API_KEY",
    "honcho_url": "HONCHO_URL",
    "honcho_workspace": "HONCHO_APP_NAME",
    "honcho_api_key": "HONCHO_API_KEY",
}
"""The variables that the adapters' page names itself; ours win over them."""

STORE_SCHEMES = ("redis", "rediss", "unix")
BROKER_SCHEMES = (*STORE_SCHEMES, "amqp", "amqps", "sentinel")
HTTP_SCHEMES = ("http", "https")


def _address(*schemes: str) -> AfterValidator:
    def check(value: str) -> str:
        expected = f"expected {'://… or '.join(schemes)}://…"
        try:
            parts = urlsplit(value)
            parts.port  # noqa: B018 - urlsplit parses the port, and refuses it, only when asked
        except ValueError:
            # urlsplit's own words quote what it took for the port, which may be half of a password
            raise ValueError(
                f"{expected}, with a port from 0 to 65535 and `/`, `[` and `@` in a password percent-encoded"
            ) from None
        if parts.scheme not in schemes:
            raise ValueError(f"{expected}, got the scheme {parts.scheme!r}")
        if not (parts.hostname or parts.scheme == "unix"):
            raise ValueError(f"{expected}, got no host")
        return value

    return AfterValidator(check)


StoreUrl = Annotated[str, _address(*STORE_SCHEMES)]
BrokerUrl = Annotated[str, _address(*BROKER_SCHEMES)]
HttpUrl = Annotated[str, _address(*HTTP_SCHEMES)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
EmbedderChoice = Literal["auto", "sentence-transformers", "openai", "none"]
Kinds = Annotated[frozenset[MemoryKind], NoDecode]


def _env(name: str) -> AliasChoices:
    names = [ENV_PREFIX + name.upper()]
    if name in PAGE_VARIABLES:
        names.append(PAGE_VARIABLES[name])
    return AliasChoices(*names)


class Settings(BaseSettings):
    """Everything that can be configured. Build it with `load_settings`, which raises our own error."""

    model_config = SettingsConfigDict(
        frozen=True,
        env_prefix=ENV_PREFIX,
        extra="ignore",
        populate_by_name=True,
        env_ignore_empty=True,
        hide_input_in_errors=True,
        alias_generator=AliasGenerator(validation_alias=_env),
    )

    # where things are
    adapter: str = Field(
        "redis", description="Name of the memory adapter (entry point `afterturn.adapters`)."
    )
    redis_url: StoreUrl = Field("redis://localhost:6379", description="Store and journal.")
    broker_url: BrokerUrl | None = Field(None, description="Celery broker; unset: the same as `redis_url`.")
    prefix: str = Field("afterturn:memory", min_length=1, description="Prefix of every key in the store.")
    queue_prefix: str = Field("afterturn", description="Queues are named `<queue_prefix>.<queue>`.")

    # ranking
    top_k: int = Field(6, ge=1, description="Most hits that a recall returns.")
    min_score: float = Field(0.15, ge=-1, le=1, description="Hits with a lower score are dropped.")
    kinds: Kinds = Field(frozenset(), description="Recall only these kinds, separated by commas; empty: all.")

    # embedding
    embedder: EmbedderChoice = Field(
        "auto",
        description="`auto`: in process where sentence-transformers is installed, else `embedding_url`, else none.",
    )
    embedding_model: str = Field("all-MiniLM-L6-v2", description="Model name, local folder or hub id.")
    embedding_url: HttpUrl | None = Field(
        None, description="OpenAI-compatible base URL, such as `http://host/v1`."
    )
    embedding_api_key: SecretStr | None = Field(None, description="Bearer token for `embedding_url`.")
    embedding_dimension: int | None = Field(
        None, ge=1, description="Expected vector length; checked at start."
    )
    embedding_timeout: Seconds = Field(10.0, description="Seconds for one embedding call in a worker.")

    # extraction
    extract: str = Field(
        "auto",
        description="`auto`: the model at `extraction_url`, else rules; `rules`; `none`; or `package.module:function`.",
    )
    extraction_url: HttpUrl | None = Field(
        None, description="OpenAI-compatible base URL, such as `http://host/v1`."
    )
    extraction_model: str | None = Field(None, description="Chat model that extracts facts.")
    extraction_api_key: SecretStr | None = Field(None, description="Bearer token for `extraction_url`.")
    extraction_timeout: Seconds = Field(60.0, description="Seconds for one extraction call.")

    # bounds of the client
    save_timeout: Seconds = Field(
        0.1, description="Seconds that `save` may wait for one answer of the journal."
    )
    recall_timeout: Seconds = Field(
        0.2, description="Seconds that `recall` may wait for the embedder, and for the store."
    )
    publish_timeout: Seconds = Field(
        1.0, description="Seconds for one socket operation of the background publisher."
    )
    text_limit: int = Field(100_000, ge=1, description="Longer texts are stored cut, in characters.")

    # the pipeline
    batch_size: int = Field(16, ge=1, description="Most turns that one `embed` task takes.")
    embed_lease: Seconds = Field(
        30.0, description="Seconds until a turn that a dead `embed` worker held is taken again."
    )
    extract_lease: Seconds = Field(180.0, description="The same for `extract`.")
    deliver_lease: Seconds = Field(60.0, description="The same for `deliver`.")
    sweep_interval: Seconds = Field(
        1.0, description="Seconds between two looks for turns that nobody is working on."
    )
    sweep_grace: Seconds = Field(
        2.0, description="Seconds that a turn may be overdue before workers are woken again."
    )
    max_attempts: int = Field(
        5, ge=1, description="Starts of one step before the turn becomes a dead letter."
    )
    retry_delay: Seconds = Field(1.0, description="First wait after a transient error; doubles, with jitter.")
    retry_delay_max: Seconds = Field(300.0, description="Longest wait between two tries.")
    retry_for: Seconds = Field(
        7 * 86_400.0, description="Seconds after which transient errors end in a dead letter."
    )
    status_ttl: Seconds = Field(86_400.0, description="Seconds that a finished turn's status is kept.")

    # vendors (defaults are the adapters' page's)
    hindsight_url: HttpUrl = Field("http://localhost:8888", description="Hindsight server.")
    mem0_url: HttpUrl = Field("http://localhost:8000", description="mem0 server.")
    mem0_api_key: SecretStr | None = Field(None, description="mem0 API key.")
    honcho_url: HttpUrl = Field("http://localhost:8001", description="Honcho server.")
    honcho_workspace: str = Field("ai-memory", description="Honcho workspace id.")
    honcho_api_key: SecretStr = Field(SecretStr("dev-no-auth"), description="Honcho API key.")

    @field_validator("kinds", mode="before")
    @classmethod
    def _split_kinds(cls, value: Any) -> Any:
        return (
            [kind.strip() for kind in value.split(",") if kind.strip()] if isinstance(value, str) else value
        )

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, _without_password(value) if isinstance(value, str) else value

    @property
    def broker(self) -> str:
        """The broker's address: `broker_url`, else the store's."""
        return self.broker_url or self.redis_url


def _without_password(value: str) -> str:
    scheme, separator, rest = value.partition("://")
    credentials, at, place = rest.rpartition("@")
    return f"{scheme}://…@{place}" if separator and at and credentials else value


class SettingsOptions(TypedDict, total=False):
    """The settings as keyword arguments, less `adapter` and `embedder`; a test holds the names to `Settings`."""

    redis_url: str
    broker_url: str | None
    prefix: str
    queue_prefix: str
    top_k: int
    min_score: float
    kinds: frozenset[MemoryKind] | set[MemoryKind]
    embedding_model: str
    embedding_url: str | None
    embedding_api_key: str | SecretStr | None
    embedding_dimension: int | None
    embedding_timeout: float
    extract: str
    extraction_url: str | None
    extraction_model: str | None
    extraction_api_key: str | SecretStr | None
    extraction_timeout: float
    save_timeout: float
    recall_timeout: float
    publish_timeout: float
    text_limit: int
    batch_size: int
    embed_lease: float
    extract_lease: float
    deliver_lease: float
    sweep_interval: float
    sweep_grace: float
    max_attempts: int
    retry_delay: float
    retry_delay_max: float
    retry_for: float
    status_ttl: float
    hindsight_url: str
    mem0_url: str
    mem0_api_key: str | SecretStr | None
    honcho_url: str
    honcho_workspace: str
    honcho_api_key: str | SecretStr


def load_settings(
    *, adapter: str | None = None, embedder: EmbedderChoice | None = None, **options: Unpack[SettingsOptions]
) -> Settings:
    """Settings from arguments, the environment and the defaults, in that order.

    Raises:
        SettingsError: naming each setting that is malformed, never its value where that may be a secret.
    """
    unknown = sorted(set(options) - set(Settings.model_fields))
    if unknown:
        raise SettingsError(f"unknown setting {', '.join(unknown)}: docs/settings.md lists them")
    named = {"adapter": adapter, "embedder": embedder, **options}
    given: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    try:
        return Settings(**given)
    except PydanticValidationError as error:
        raise SettingsError(
            "; ".join(_explain(detail) for detail in error.errors(include_input=False))
        ) from None


def _explain(detail: Any) -> str:
    place = str(detail["loc"][0]) if detail["loc"] else "settings"
    field = next((name for name in Settings.model_fields if place.lower() in _names_of(name)), place)
    return f"{field} ({ENV_PREFIX}{field.upper()}): {detail['msg'].removeprefix('Value error, ')}"


def _names_of(field: str) -> set[str]:
    return {field, (ENV_PREFIX + field).lower(), PAGE_VARIABLES.get(field, field).lower()}
