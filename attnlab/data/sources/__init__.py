"""Where labelled texts come from. Nothing here imports torch."""

from attnlab.data.sources.babi import BabiSource
from attnlab.data.sources.cnn import NewsQuestions
from attnlab.data.sources.hub import HubSource
from attnlab.data.sources.local import LocalSource
from attnlab.data.sources.package import BBCNews, CachopoNews, RatedSentences
from attnlab.data.sources.planted import PlantedSource
from attnlab.data.sources.source import Source

__all__ = [
    "BBCNews",
    "BabiSource",
    "CachopoNews",
    "HubSource",
    "LocalSource",
    "NewsQuestions",
    "PlantedSource",
    "RatedSentences",
    "Source",
]
