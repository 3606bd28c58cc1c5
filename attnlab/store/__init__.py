"""Trained models and results on disk, each under the key of what determines it. Nothing here imports torch."""

from attnlab.store.key import model_key, result_key
from attnlab.store.store import Store

__all__ = ["Store", "model_key", "result_key"]
