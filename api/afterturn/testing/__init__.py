"""For those who write an adapter: the contract that every one passes, as pytest tests.

.. code-block:: python

    # conftest.py: failing assertions of the suite then show their values
    pytest.register_assert_rewrite("afterturn.testing")

    # test_my_adapter.py
    class TestMyAdapter(AdapterContract):
        @pytest.fixture
        def adapter(self) -> MyAdapter:
            return MyAdapter()

Needs pytest, and nothing else that afterturn does not need.
"""

from __future__ import annotations

from afterturn.testing.contract import AdapterContract

__all__ = ["AdapterContract"]
