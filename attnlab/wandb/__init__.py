"""Weights & Biases: how a store looks there, and what makes it look so. Nothing here imports torch."""
