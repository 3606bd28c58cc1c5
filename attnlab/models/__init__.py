"""Model families: LightningModules that give encode, attend and decode."""

from attnlab.models.hierarchical_classifier import HierarchicalClassifier
from attnlab.models.sequence_classifier import SequenceClassifier

__all__ = ["HierarchicalClassifier", "SequenceClassifier"]
