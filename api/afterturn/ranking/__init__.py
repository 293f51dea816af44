"""How records are ranked: pure functions and numpy, no I/O."""
