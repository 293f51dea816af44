"""The running worker: its Celery app, its model, its sweeper, and the stack for development."""
