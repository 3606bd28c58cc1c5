"""Sequence encoders of Jain & Wallace (2019) and of Serrano & Smith (2019), after their papers and public code.

Every encoder is built from the size of its input, has an ``output_size``, and maps embedded tokens (B, T, E), the
content mask (B, T) and the lengths (B,) to hidden states (B, T, H). Padding never changes a hidden state. ``summary``
gives one vector (B, H) of a whole sequence, which is what a question asks with.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BiLSTM(nn.Module):
    """One bidirectional LSTM layer; it reads the start and end tokens too.

    Args:
        input_size: Size of the embedded tokens.
        hidden_size: Size per direction; the output is twice as wide.
    """

    def __init__(self, input_size: int, hidden_size: int = 128) -> None:
        super().__init__()
        self.output_size = 2 * hidden_size
        self.lstm = nn.LSTM(input_size, hidden_size, batch_first=True, bidirectional=True)

    def forward(self, embedded: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        """Encode (B, T, E) into (B, T, H)."""
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=embedded.shape[1])
        return hidden

    def summary(self, hidden: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        """The last state of each direction (B, H)."""
        return final_states(hidden, lengths)


class BiGRU(nn.Module):
    """One bidirectional GRU layer (Serrano & Smith 2019).

    Args:
        input_size: Size of the embedded tokens.
        hidden_size: Size per direction; the output is twice as wide.
        dropout: Share of the input that is dropped in training.
    """

    def __init__(self, input_size: int, hidden_size: int = 50, dropout: float = 0.0) -> None:
        super().__init__()
        self.output_size = 2 * hidden_size
        self.dropout = nn.Dropout(dropout)
        self.gru = nn.GRU(input_size, hidden_size, batch_first=True, bidirectional=True)

    def forward(self, embedded: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        """Encode (B, T, E) into (B, T, H)."""
        dropped = self.dropout(embedded)
        packed = pack_padded_sequence(dropped, lengths.cpu(), batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=embedded.shape[1])
        return hidden

    def summary(self, hidden: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        """The last state of each direction (B, H)."""
        return final_states(hidden, lengths)


class Convolution(nn.Module):
    """Parallel convolutions of several widths over the tokens, rectified.

    Args:
        input_size: Size of the embedded tokens.
        hidden_size: Total number of filters, shared equally among the kernels.
        kernel_sizes: Odd widths.
        dropout: Share of the input that is dropped in training.

    Raises:
        ValueError: an even kernel has no middle, or the filters do not divide among the kernels.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int = 128,
        kernel_sizes: Sequence[int] = (1, 3, 5, 7),
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if any(k % 2 == 0 for k in kernel_sizes):
            raise ValueError(f"kernel_sizes must be odd, not {list(kernel_sizes)}")
        if hidden_size % len(kernel_sizes):
            raise ValueError(f"hidden_size {hidden_size} does not divide among {len(kernel_sizes)} kernels")
        self.output_size = hidden_size
        self.dropout = nn.Dropout(dropout)
        filters = hidden_size // len(kernel_sizes)
        self.convolutions = nn.ModuleList(nn.Conv1d(input_size, filters, k, padding=k // 2) for k in kernel_sizes)

    def forward(self, embedded: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        """Encode (B, T, E) into (B, T, H), zero at start, end and padding as published."""
        positions = torch.arange(embedded.shape[1], device=embedded.device)
        real = (positions < lengths.unsqueeze(1)).unsqueeze(-1)
        channels = (self.dropout(embedded) * real).transpose(1, 2)
        filtered = torch.cat([convolution(channels) for convolution in self.convolutions], dim=1)
        return torch.relu(filtered).transpose(1, 2) * mask.unsqueeze(-1)

    def summary(self, hidden: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        """The largest value of each filter (B, H)."""
        return hidden.amax(1)


class Projection(nn.Module):
    """A tanh layer on each token alone, without context ("average" in the code of Jain & Wallace).

    Args:
        input_size: Size of the embedded tokens.
        hidden_size: Size of the output.
    """

    def __init__(self, input_size: int, hidden_size: int = 128) -> None:
        super().__init__()
        self.output_size = hidden_size
        self.projection = nn.Linear(input_size, hidden_size)

    def forward(self, embedded: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        """Encode (B, T, E) into (B, T, H)."""
        hidden: Tensor = torch.tanh(self.projection(embedded))
        return hidden

    def summary(self, hidden: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        """The mean over the content (B, H); the published code averages over start, end and padding too."""
        return content_mean(hidden, mask)


class Identity(nn.Module):
    """No encoder: attention weighs the embeddings themselves.

    Args:
        input_size: Size of the embedded tokens and of the output.
        dropout: Share of them that is dropped in training.
    """

    def __init__(self, input_size: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.output_size = input_size
        self.dropout = nn.Dropout(dropout)

    def forward(self, embedded: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        """Return (B, T, E) as it is, but for dropout."""
        kept: Tensor = self.dropout(embedded)
        return kept

    def summary(self, hidden: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        """The mean over the content (B, H)."""
        return content_mean(hidden, mask)


def final_states(hidden: Tensor, lengths: Tensor) -> Tensor:
    """Last forward and last backward state of a bidirectional layer, (B, H) from (B, T, H)."""
    size = hidden.shape[-1] // 2
    rows = torch.arange(len(hidden), device=hidden.device)
    return torch.cat([hidden[rows, lengths - 1, :size], hidden[:, 0, size:]], -1)


def content_mean(hidden: Tensor, mask: Tensor) -> Tensor:
    """Mean over the content positions, (B, H) from (B, T, H)."""
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(1) / weights.sum(1).clamp_min(1)
