"""Mirrors of the store: W&B and CSV. What they show can be made again from the store; nothing depends on them."""

from attnlab.logger.csv import CsvMirror
from attnlab.logger.mirror import NoMirror
from attnlab.logger.wandb import WandbMirror

__all__ = ["CsvMirror", "NoMirror", "WandbMirror"]
