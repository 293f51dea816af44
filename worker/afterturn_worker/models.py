"""Models in forked children."""

from __future__ import annotations

import os
import sys


def share_cores(children: int) -> None:
    """Give torch, where it is loaded, this child's share of the cores.

    The parent must have loaded the model without running it: threads that torch starts for a first inference
    don't survive a fork, and the child would wait for them for ever.
    """
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // children))
