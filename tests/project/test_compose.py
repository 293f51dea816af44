"""docker-compose.yml, as far as it can be checked without an engine: schema, commands, settings, exposure."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
import yaml

from afterturn.queues import Queue
from afterturn.settings import ENV_PREFIX, PAGE_VARIABLES, Settings
from tests.support.project import ROOT, pyproject, run
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from afterturn_worker.embedded import EmbeddedStore

FILE = ROOT / "docker-compose.yml"
COMPOSE: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
WORKERS = {f"worker-{queue}": queue for queue in Queue}
KNOWN_VARIABLES = {ENV_PREFIX + name.upper() for name in Settings.model_fields} | set(PAGE_VARIABLES.values())


def check_schema(file: Path) -> tuple[int, str]:
    """Exit code and output of a check against the compose specification's schema."""
    command = ("-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(file))
    checked = run(sys.executable, *command)
    return checked.returncode, checked.stdout


def test_the_file_meets_the_compose_specification() -> None:
    code, output = check_schema(FILE)
    assert code == 0, output


def test_the_schema_notices_a_mistyped_key(tmp_path: Path) -> None:
    wrong = tmp_path / "docker-compose.yml"
    wrong.write_text(FILE.read_text(encoding="utf-8").replace("cap_drop:", "cap_drops:"), encoding="utf-8")
    assert check_schema(wrong)[0] != 0


def test_the_services_are_redis_a_worker_for_each_queue_and_flower() -> None:
    assert set(SERVICES) == {"redis", "flower", *WORKERS}


def test_redis_writes_a_log_and_evicts_nothing() -> None:
    redis = SERVICES["redis"]
    assert redis["command"] == "redis-server --appendonly yes --maxmemory-policy noeviction"
    assert "redis-data:/data" in redis["volumes"]
    assert "redis-data" in COMPOSE["volumes"]


@pytest.mark.parametrize(("service", "queue"), WORKERS.items())
def test_a_worker_is_started_by_the_one_command_for_it(service: str, queue: Queue) -> None:
    command = SERVICES[service]["command"]
    assert command[:4] == ["afterturn", "worker", "--queue", queue.value]
    assert command[4:5] in ([], ["--concurrency"])


@pytest.mark.parametrize("service", [*WORKERS, "flower"])
def test_the_command_line_takes_the_command(service: str) -> None:
    program, name, *arguments = SERVICES[service]["command"]
    project = pyproject()["project"]
    assert program in project["scripts"]
    value = project["entry-points"]["afterturn.commands"][name]
    command = EntryPoint(name, value, "afterturn.commands").load()
    assert isinstance(command, click.Command)
    command.make_context(name, arguments)


@pytest.mark.parametrize("service", [*WORKERS, "flower"])
def test_an_image_is_built_from_a_stage_of_the_dockerfile(service: str) -> None:
    stages = re.findall(
        r"^FROM \S+ AS (\S+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE
    )
    target = SERVICES[service]["build"]["target"]
    assert target in stages
    assert target == {"worker-embed": "worker-embed", "flower": "flower"}.get(service, "worker-light")


@pytest.mark.parametrize("service", [*WORKERS, "flower"])
def test_every_variable_given_to_a_service_is_one_that_it_reads(service: str) -> None:
    variables = set(SERVICES[service]["environment"])
    assert variables - {"FLOWER_BASIC_AUTH"} <= KNOWN_VARIABLES
    assert SERVICES[service]["environment"]["AFTERTURN_REDIS_URL"] == "redis://redis:6379"


def test_every_variable_named_anywhere_in_the_file_exists() -> None:
    named = set(re.findall(r"AFTERTURN_[A-Z_]+", FILE.read_text(encoding="utf-8")))
    assert named <= KNOWN_VARIABLES


def test_all_that_read_settings_read_the_same_file() -> None:
    files = [SERVICES[service]["env_file"] for service in [*WORKERS, "flower"]]
    assert all(file == [{"path": "afterturn.env", "required": False}] for file in files)


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_has_a_health_check_with_bounds(service: str) -> None:
    check = SERVICES[service]["healthcheck"]
    assert check["test"][0] in {"CMD", "CMD-SHELL"}
    assert {"interval", "timeout", "retries"} <= set(check)


@pytest.mark.parametrize(("service", "queue"), WORKERS.items())
def test_a_workers_health_check_asks_that_very_worker(service: str, queue: Queue) -> None:
    command = SERVICES[service]["healthcheck"]["test"][1]
    assert f'--destination "{queue}-1@$$HOSTNAME"' in command
    assert '--broker "$${AFTERTURN_BROKER_URL:-$$AFTERTURN_REDIS_URL}"' in command


def test_that_health_check_passes_while_the_worker_lives_and_fails_after(
    store: EmbeddedStore, prefix: str, tmp_path: Path
) -> None:
    variables = {
        "PATH": f"{Path(sys.executable).parent}:{os.defpath}",
        "HOME": str(tmp_path),
        "HOSTNAME": socket.gethostname(),
        "AFTERTURN_REDIS_URL": store.url,
        "AFTERTURN_QUEUE_PREFIX": prefix,
        "AFTERTURN_EXTRACT": "none",
    }
    check = SERVICES["worker-maintain"]["healthcheck"]["test"][1].replace("$$", "$")
    # in its container the worker is process 1 and gets this name by itself
    command = [*SERVICES["worker-maintain"]["command"], "--name", "maintain-1"]
    with (tmp_path / "worker.log").open("wb") as log:
        worker = subprocess.Popen(command, env=variables, stdout=log, stderr=log)

    def healthy() -> bool:
        assert worker.poll() is None, (tmp_path / "worker.log").read_text(encoding="utf-8")
        return run("sh", "-c", check, env=variables).returncode == 0

    try:
        wait_until(healthy, timeout=60, what="the health check's success")
        worker.terminate()
        assert worker.wait(30) == 0
    finally:
        worker.kill()
        worker.wait()
    assert run("sh", "-c", check, env=variables).returncode != 0


@pytest.mark.parametrize("service", [*WORKERS, "flower"])
def test_a_service_waits_until_redis_answers(service: str) -> None:
    assert SERVICES[service]["depends_on"] == {"redis": {"condition": "service_healthy"}}


@pytest.mark.parametrize("service", SERVICES)
def test_what_ends_is_started_again_and_may_be_scaled(service: str) -> None:
    assert SERVICES[service]["restart"] == "unless-stopped"
    assert "container_name" not in SERVICES[service]


def test_flower_does_not_start_without_a_password() -> None:
    assert SERVICES["flower"]["environment"]["FLOWER_BASIC_AUTH"].startswith("${FLOWER_BASIC_AUTH:?")


def test_nothing_is_published_beyond_this_machine() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert len(published) == 2
    assert all(port.startswith("127.0.0.1:") for port in published)


@pytest.mark.parametrize(
    ("service", "bound"), [("worker-extract", "extraction_timeout"), ("worker-embed", "embedding_timeout")]
)
def test_a_worker_is_given_longer_to_end_than_one_call_takes(service: str, bound: str) -> None:
    grace = int(SERVICES[service]["stop_grace_period"].removesuffix("s"))
    assert grace > Settings.model_fields[bound].default
