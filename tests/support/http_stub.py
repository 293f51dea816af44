"""A scriptable HTTP server on a real loopback socket.

    with HttpStub([Answer(503), Answer(body={"ok": True})]) as stub:
        client.get(stub.url + "/things")
        assert stub.requests[0].path == "/things"

Answers come from a list (in order; the last one repeats) or from a function of the request. What the function
raises becomes a 500 and is raised again when the stub is left.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias


@dataclass(frozen=True)
class Request:
    """A request as it came in; header names are lower-cased."""

    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        """The decoded body."""
        return json.loads(self.content)


@dataclass(frozen=True)
class Answer:
    """What to send back.

    Attributes:
        body: bytes as they are, a string as UTF-8, anything else as JSON.
        delay: seconds before the first byte.
        gate: nothing is sent before this event is set (at most 60 seconds).
        chunks: send the body in pieces of this many bytes, `pause` seconds apart.
        cut: `"connection"` resets the connection before any byte, `"body"` in the middle of the body.
    """

    status: int = 200
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    gate: threading.Event | None = None
    chunks: int | None = None
    pause: float = 0.0
    cut: str | None = None

    @property
    def content(self) -> bytes:
        """The body's bytes."""
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


Script: TypeAlias = Sequence[Answer] | Callable[[Request], Answer]


class HttpStub:
    """A threaded server that answers by its script and keeps what was asked.

    Attributes:
        requests: every request, in the order they came in.
        connections: how many connections were opened.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[Request] = []
        self.connections = 0
        self._lock = threading.Lock()
        self._failures: list[Exception] = []
        self._ended = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """`http://127.0.0.1:<port>`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if self._failures:
            raise self._failures[0]

    def answer(self, request: Request) -> Answer:
        """Record a request, and choose its answer."""
        with self._lock:
            self.requests.append(request)
            number = len(self.requests) - 1
        if not callable(self.script):
            return self.script[min(number, len(self.script) - 1)]
        try:
            return self.script(request)
        except Exception as error:  # noqa: BLE001 - the server thread's boundary: raised again on exit
            self._failures.append(error)
            return Answer(500)

    def wait(self, seconds: float) -> None:
        """Pause, but no longer than the stub lives."""
        self._ended.wait(seconds)

    def opened(self) -> None:
        """Count a connection."""
        with self._lock:
            self.connections += 1


def closed_url() -> str:
    """The URL of a loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a kept-alive connection would be waited for

    def handle_error(self, *_: object) -> None:
        """A client that hung up is what many tests are about."""


def _handler(stub: HttpStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
            stub.opened()

        def handle_request(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, self.rfile.read(length))
            _send(self, stub, stub.answer(request))

        def log_message(self, *_: object) -> None:
            """Nothing on standard error."""

    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.handle_request)
    return Handler


def _send(handler: BaseHTTPRequestHandler, stub: HttpStub, answer: Answer) -> None:
    if answer.gate is not None:
        answer.gate.wait(60)
    if answer.delay:
        stub.wait(answer.delay)
    if answer.cut == "connection":
        _reset(handler)
        return
    content = answer.content
    handler.send_response(answer.status)
    for name, value in {"content-type": "application/json", **answer.headers}.items():
        handler.send_header(name, value)
    handler.send_header("content-length", str(len(content)))
    handler.end_headers()
    size = answer.chunks or max(1, len(content))
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    if answer.cut == "body":
        handler.wfile.write(content[: len(content) // 2])
        _reset(handler)
        return
    for piece in pieces:
        handler.wfile.write(piece)
        stub.wait(answer.pause)


def _reset(handler: BaseHTTPRequestHandler) -> None:
    """Close with RST rather than FIN: the peer sees a broken connection, not an end."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True
