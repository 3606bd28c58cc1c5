"""Protocols: what is measured on a trained model, one row per instance."""
