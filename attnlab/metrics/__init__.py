"""Metrics for training and evaluation, correct under distributed evaluation."""
