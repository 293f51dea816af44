"""Every error that afterturn raises, in one tree.

.. code-block:: text

    AfterturnError
    ├── ValidationError (ValueError)      a program passed something wrong; nothing was written
    │   ├── ScopeError
    │   ├── TurnError
    │   ├── QueryError
    │   └── SettingsError
    ├── TransientError                    the same call may succeed later; tasks retry it
    │   ├── StoreUnavailable
    │   ├── BrokerUnavailable
    │   ├── EmbedderUnavailable
    │   └── ExtractorUnavailable
    ├── PermanentError                    the same call will fail again; tasks do not retry it
    │   ├── EmbedderRejected
    │   ├── ExtractorRejected
    │   └── StepFailed
    ├── MissingExtra (ImportError)        an optional part is not installed
    ├── StackFailed                       a part of the development stack did not start
    ├── Forgotten                         the write came after a forget; nothing was written
    ├── UnknownTurn (LookupError)
    └── WaitTimeout (TimeoutError)

Messages name the setting, the limit or the status code. They never carry conversation text or keys,
since they end up in logs and dashboards.
"""

from __future__ import annotations


class AfterturnError(Exception):
    """The root: catch it to catch everything that afterturn raises."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").partition("\n")[0])


class ValidationError(AfterturnError, ValueError):
    """A value passed by the program is refused; nothing was written."""


class ScopeError(ValidationError):
    """A scope is incomplete or has a value that no store could key on."""


class TurnError(ValidationError):
    """A turn has nothing to remember, or a field of the wrong type."""


class QueryError(ValidationError):
    """A recall was asked with a query or time of the wrong type."""


class SettingsError(ValidationError):
    """A setting is malformed, or settings contradict each other."""


class TransientError(AfterturnError):
    """Something outside failed in a way that may pass.

    Attributes:
        retry_after: seconds that the other side asked to wait, or None.
    """

    def __init__(self, message: str | None = None, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StoreUnavailable(TransientError):
    """The memory store or journal did not answer in time."""


class BrokerUnavailable(TransientError):
    """The broker took no message in time."""


class EmbedderUnavailable(TransientError):
    """The embedder did not answer in time."""


class ExtractorUnavailable(TransientError):
    """The model that extracts facts did not answer usefully."""


class PermanentError(AfterturnError):
    """Something outside refused, and would refuse again."""


class EmbedderRejected(PermanentError):
    """The embedder refused the request, or answers with vectors of another size."""


class ExtractorRejected(PermanentError):
    """The model that extracts facts refused the request."""


class StepFailed(PermanentError):
    """A step of the pipeline failed for a reason that afterturn does not know."""


class MissingExtra(AfterturnError, ImportError):
    """An optional part of afterturn is not installed."""


class StackFailed(AfterturnError):
    """A part of the development stack did not start, or its folder is in use."""


class Forgotten(AfterturnError):
    """The scope was forgotten after this turn was accepted; nothing was written."""


class UnknownTurn(AfterturnError, LookupError):
    """No turn with this id is known: it was never accepted, or its status has expired."""


class WaitTimeout(AfterturnError, TimeoutError):
    """The turn was not finished within the time given."""
