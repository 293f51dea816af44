"""The memory adapters: one file each, over one contract (`base`)."""
