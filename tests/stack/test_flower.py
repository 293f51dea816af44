"""Who may see Flower, and how it is started."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from flower.options import default_options

from afterturn import load_settings
from afterturn.errors import SettingsError
from afterturn_worker.flower import check_access, flower_app, flower_arguments, is_loopback


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_needs_no_password(address: str) -> None:
    assert is_loopback(address)
    check_access(address, {})


@pytest.mark.parametrize(
    "address", ["", "0.0.0.0", "::", "192.168.1.5", "flower.example", "127.0.0.1.example"]
)
def test_any_other_address_needs_one(address: str) -> None:
    with pytest.raises(SettingsError, match="FLOWER_BASIC_AUTH=user:password"):
        check_access(address, {"FLOWER_BASIC_AUTH": " "})
    check_access(address, {"FLOWER_BASIC_AUTH": "ann:secret"})
    check_access(address, {"FLOWER_AUTH": ".*@example\\.com"})


@pytest.mark.parametrize("value", ["secret", ":secret", "ann:", "ann:secret,secret"])
def test_a_malformed_password_is_refused_without_showing_it(value: str) -> None:
    with pytest.raises(SettingsError, match="FLOWER_BASIC_AUTH is malformed") as caught:
        check_access("127.0.0.1", {"FLOWER_BASIC_AUTH": value})
    assert "secret" not in str(caught.value)


def test_the_command_refuses_an_open_flower_and_says_what_to_set() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FLOWER_")}
    done = subprocess.run(
        [sys.executable, "-m", "afterturn", "flower", "--address", "0.0.0.0"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "set FLOWER_BASIC_AUTH=user:password" in done.stderr


def test_flower_knows_every_argument_that_it_is_given() -> None:
    names = [
        part.lstrip("-").partition("=")[0] for part in flower_arguments("127.0.0.1", 5555, read_only=True)[1:]
    ]
    assert "read_only" in names
    assert all(name in default_options for name in names)
    assert "--read_only" not in flower_arguments("127.0.0.1", 5555, read_only=False)


def test_flower_lists_our_queues_before_any_worker_runs() -> None:
    app = flower_app(load_settings(queue_prefix="mine"))
    names = sorted(queue.name for queue in app.conf.task_queues)
    assert names == ["mine.deliver", "mine.embed", "mine.extract", "mine.maintain"]
