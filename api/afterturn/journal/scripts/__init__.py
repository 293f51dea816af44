"""The journal's Lua scripts: each file's head comment is its contract."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import redis
    from redis.commands.core import Script


def load_script(client: redis.Redis, name: str) -> Script:
    """The script `name`.lua, to be called with keys and args; sent to the server once."""
    return client.register_script((Path(__file__).parent / f"{name}.lua").read_text(encoding="utf-8"))
