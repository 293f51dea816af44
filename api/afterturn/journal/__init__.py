"""The journal: which turns are accepted, and how far each has come. Redis holds it; the broker only wakes workers."""
