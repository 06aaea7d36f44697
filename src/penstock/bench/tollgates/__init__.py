"""Tollgates: streams of cars that pass gates, a graph of the gates' districts, and queries over both."""
