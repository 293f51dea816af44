"""What people say is readable in the store, and nowhere else: not in Flower, its API, logs, events or messages."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from afterturn import Scope, Turn, TurnState
from afterturn.queues import Queue
from afterturn_worker.embedded import EmbeddedStore, free_port
from tests.support.fakes import MARKER
from tests.support.monitor import Monitor
from tests.support.pipeline import Pipeline
from tests.support.waiting import wait_until

DATATABLE = (
    "/tasks/datatable?draw=1&start=0&length=100&search[value]=&order[0][column]=0&order[0][dir]=asc"
    "&columns[0][data]=name"
)
SCOPE = Scope("private-thread", user_id="private-user")


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedStore]:
    """A broker of its own, so that all it sees are messages."""
    server = EmbeddedStore(tmp_path / "broker")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def flower(broker: EmbeddedStore, prefix: str, tmp_path: Path) -> Iterator[httpx.Client]:
    """A client, logged in, of a Flower that watches the pipeline's broker."""
    port = free_port()
    environment = {
        **os.environ,
        "AFTERTURN_BROKER_URL": broker.url,
        "AFTERTURN_QUEUE_PREFIX": f"q-{prefix}",
        "FLOWER_BASIC_AUTH": "operator:secret",
    }
    with (tmp_path / "flower.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "afterturn", "flower", "--port", str(port)],
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", auth=("operator", "secret"), timeout=20) as client:
        wait_until(lambda: _answers(client), timeout=60, what="Flower answering")
        yield client
    process.terminate()
    process.wait(20)


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/healthcheck").status_code == 200
    except httpx.TransportError:
        return False


def pages(flower: httpx.Client) -> dict[str, str]:
    """Each page and API answer that Flower has about our workers and tasks."""
    workers = flower.get("/api/workers", params={"refresh": "true"}).raise_for_status().json()
    tasks = flower.get("/api/tasks").raise_for_status().json()
    paths = [
        *("/workers", "/tasks", "/broker", "/metrics", "/api/workers", "/api/tasks", "/api/queues/length"),
        "/workers?json=1",
        DATATABLE,
        *(f"/worker/{name}" for name in workers),
        *(f"/task/{task_id}" for task_id in tasks),
        *(f"/api/task/info/{task_id}" for task_id in tasks),
    ]
    return {path: flower.get(path).raise_for_status().text for path in paths}


def test_no_text_is_found_in_flower_logs_or_messages(
    own_pipeline: Callable[..., Pipeline], broker: EmbeddedStore, flower: httpx.Client
) -> None:
    pipeline = own_pipeline(
        BROKER_URL=broker.url, EXTRACT="tests.support.fakes:raise_with_text", MAX_ATTEMPTS="2"
    )
    with Monitor(broker.url) as monitor:
        pipeline.start(Queue.EMBED, Queue.EXTRACT)
        with pipeline.memory(broker_url=broker.url) as memory:
            accepted = memory.save(SCOPE, Turn(user=f"{MARKER} user", assistant=f"{MARKER} assistant"))
            status = memory.wait(accepted.turn_id, timeout=60)
        shown = wait_until(lambda: _finished(pages(flower)), what="Flower showing the failed task")
        messages = monitor.text()
    assert status.state is TurnState.DEAD
    assert accepted.turn_id in messages, "the messages were seen, and carry the id"
    for path, page in {**shown, "logs": pipeline.logs(), "messages": messages, "status": str(status)}.items():
        assert MARKER not in page, path
        assert "private-user" not in page, path
    for path in ("/api/tasks", DATATABLE):
        assert accepted.turn_id in shown[path], f"{path} shows the task by its turn's id"
    assert "RuntimeError at fakes.py" in pipeline.logs(), "the failure itself is told"


def _finished(shown: dict[str, str]) -> dict[str, str]:
    return shown if "FAILURE" in shown["/api/tasks"] and "SUCCESS" in shown["/api/tasks"] else {}


def test_flower_lists_workers_by_their_queue(
    own_pipeline: Callable[..., Pipeline], broker: EmbeddedStore, flower: httpx.Client
) -> None:
    own_pipeline(BROKER_URL=broker.url).start(Queue.EXTRACT, Queue.MAINTAIN)
    names = wait_until(
        lambda: sorted(flower.get("/api/workers", params={"refresh": "true"}).json()), what="workers listed"
    )
    assert [name.partition("-")[0] for name in names] == ["extract", "maintain"]


def test_flower_shows_nothing_without_a_password(flower: httpx.Client) -> None:
    for path in ("/", "/workers", "/tasks", "/broker", "/api/workers", "/api/tasks"):
        assert httpx.get(f"{flower.base_url}{path}").status_code == 401, path
