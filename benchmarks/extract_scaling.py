"""How extraction grows with its workers: one, then four `extract` workers beside one `embed` worker.

Run: python benchmarks/extract_scaling.py

The model is a stub that takes 500 ms an answer. Turns are embedded before the `extract` workers start, so what is
timed is extraction alone: the rate of answers between the first tenth and the last of a run. The `embed` worker
embeds the facts meanwhile.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from rich.console import Console
from rich.table import Table

from afterturn import Memory, Scope, Turn, TurnState, load_settings
from afterturn.queues import Queue
from afterturn_worker.embedded import EmbeddedStore

ANSWER_SECONDS = 0.5
CONCURRENCY = 2
"""Threads of each `extract` worker."""
TURNS = {1: 60, 4: 200}
"""Turns of each run, by number of workers."""


@dataclass
class Model:
    """A chat endpoint that thinks for half a second and finds one fact."""

    answered: list[float] = field(default_factory=list)

    def start(self) -> ThreadingHTTPServer:
        """Serve on a free port until shut down."""
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                time.sleep(ANSWER_SECONDS)
                facts = json.dumps({"facts": [{"text": f"The user counted {len(model.answered)}"}]})
                body = json.dumps({"choices": [{"message": {"content": facts}}]}).encode()
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                model.answered.append(time.monotonic())

            def log_message(self, *_: object) -> None:
                """Nothing on standard error."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

        server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server


def main() -> None:
    """Measure and print."""
    rates = {workers: rate_of(workers) for workers in TURNS}
    table = Table("extract workers", "answers a second", "times one worker")
    for workers, rate in rates.items():
        table.add_row(str(workers), f"{rate:.1f}", f"{rate / rates[1]:.2f}")
    console = Console()
    console.print(table)
    console.print(
        f"{CONCURRENCY} threads a worker, {ANSWER_SECONDS:g} s an answer; the goal is at least 3.00"
    )


def rate_of(workers: int) -> float:
    """Answers a second with so many `extract` workers."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        store = EmbeddedStore(folder / "store")
        store.start()
        stack.callback(store.stop)
        model = Model()
        server = model.start()
        stack.callback(server.shutdown)
        environment = {
            "AFTERTURN_REDIS_URL": store.url,
            "AFTERTURN_EXTRACTION_URL": f"http://127.0.0.1:{server.server_port}/v1",
            "AFTERTURN_EXTRACTION_MODEL": "stub",
        }
        start_worker(stack, folder, environment, Queue.EMBED, 1)
        memory = stack.enter_context(
            Memory(load_settings(redis_url=store.url, embedder="none", save_timeout=5))
        )
        ids = [save(memory, number) for number in range(TURNS[workers])]
        wait_for(memory, ids, {TurnState.EXTRACTING})
        for _ in range(workers):
            start_worker(stack, folder, environment, Queue.EXTRACT, CONCURRENCY)
        wait_for(memory, ids, {TurnState.STORED})
        return steady_rate(model.answered)


def save(memory: Memory, number: int) -> str:
    """Save one turn; its id."""
    return memory.save(Scope(f"t{number % 7}", user_id="alice"), Turn(user=f"I counted to {number}.")).turn_id


def start_worker(
    stack: ExitStack, folder: Path, environment: dict[str, str], queue: Queue, concurrency: int
) -> None:
    """Start a worker process that ends with the stack."""
    command = [
        sys.executable,
        "-m",
        "afterturn",
        "worker",
        "--queue",
        queue,
        "--concurrency",
        str(concurrency),
    ]
    log = stack.enter_context((folder / f"{queue}.log").open("ab"))
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=log, stderr=log)
    stack.callback(process.wait)
    stack.callback(process.kill)


def wait_for(memory: Memory, ids: list[str], states: set[TurnState]) -> None:
    """Wait until each turn is in one of the states."""
    for turn_id in ids:
        while memory.status(turn_id).state not in states:
            time.sleep(0.05)


def steady_rate(answered: list[float]) -> float:
    """Answers a second between the first tenth and the last of all answers."""
    moments = sorted(answered)
    first, last = len(moments) // 10, len(moments) * 9 // 10
    return (last - first) / (moments[last] - moments[first])


if __name__ == "__main__":
    main()
