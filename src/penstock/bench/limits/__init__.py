"""Tollgates, streets and districts: three queries, each next to SQL that is written by hand for it."""
