"""Protocols that describe attention without intervening on it."""
