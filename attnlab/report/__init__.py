"""Summaries, tables and figures from records alone. Nothing here imports torch."""
