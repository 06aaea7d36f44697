"""Continuous queries at work: what is evaluated when, over which engine, and what comes out."""
