"""Protocols that change attention against the model."""
