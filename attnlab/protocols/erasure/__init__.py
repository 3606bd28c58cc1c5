"""Protocols that remove something and see what changes."""
