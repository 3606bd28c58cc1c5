"""Small hierarchical models and ragged documents."""

from functools import partial

import torch

from attnlab.data.batch import DocumentBatch
from attnlab.models import HierarchicalClassifier
from attnlab.nn import Additive, BiGRU, Convolution, Identity
from tests.conftest import VOCABULARY

WORD_ENCODERS = {
    "gru": partial(BiGRU, hidden_size=4),
    "cnn": partial(Convolution, hidden_size=6, kernel_sizes=(3, 5)),
    "embeddings": Identity,
}
RAGGED = ((3,), (1, 1), (4, 2, 7), (2, 9, 1, 5, 3), (6, 2, 2))
"""Words of the sentences of each document."""


def make_han(encoder="gru", num_classes=2, seed=0, **options):
    """A random model whose attention and predictions are far from uniform."""
    torch.manual_seed(seed)
    build = WORD_ENCODERS[encoder]
    model = HierarchicalClassifier(
        word_encoder=build,
        word_attention=partial(Additive, share=1.0),
        encoder=build,
        attention=partial(Additive, share=1.0),
        optimizer=partial(torch.optim.Adam, lr=1e-3),
        vocab_size=VOCABULARY,
        num_classes=num_classes,
        embedding_dim=10,
        **options,
    )
    with torch.no_grad():
        model.readout.linear.weight.mul_(8)
        for attention in (model.attention, model.word_attention):
            for parameter in attention.parameters():
                parameter.mul_(3)
    return model.eval()


def make_sentences(shape=RAGGED, seed=0):
    """Random documents as lists of sentences of word ids."""
    generator = torch.Generator().manual_seed(seed)
    return [[torch.randint(4, VOCABULARY, (n,), generator=generator).tolist() for n in sizes] for sizes in shape]


def pack(documents, index=None, padding=0):
    """Documents as a batch."""
    sentences = [words for document in documents for words in document]
    counts = torch.tensor([len(document) for document in documents])
    sizes = torch.tensor([len(words) for words in sentences])
    ids = torch.zeros(len(sentences), int(sizes.max()) + padding, dtype=torch.long)
    for row, words in enumerate(sentences):
        ids[row, : len(words)] = torch.tensor(words)
    return DocumentBatch(
        ids=ids,
        mask=torch.arange(int(counts.max()) + padding) < counts[:, None],
        lengths=counts,
        labels=torch.arange(len(documents)) % 2,
        index=torch.arange(len(documents)) if index is None else torch.tensor(index),
        word_mask=ids > 0,
        word_lengths=sizes,
    )
