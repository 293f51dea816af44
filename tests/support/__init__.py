"""Helpers of the test suite."""
