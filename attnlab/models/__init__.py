"""Model families: LightningModules that give encode, attend and decode."""

from attnlab.models.hierarchical_classifier import HierarchicalClassifier
from attnlab.models.imitation import Imitation
from attnlab.models.pair_classifier import PairClassifier
from attnlab.models.sequence_classifier import SequenceClassifier
from attnlab.models.word_level import WordLevel

__all__ = ["HierarchicalClassifier", "Imitation", "PairClassifier", "SequenceClassifier", "WordLevel"]
