"""set_erasure against the published way: one decoder call for each prefix, one instance at a time, until the flip.

Both sides get the same encoded documents of a random model of the published size; the loop is also given the orders,
which attnlab computes in its time, with the optimum beside them. Removals are compared before the ratio is printed.
Peak memory is that of attnlab alone, beyond what was held before. With many classes a random model's decision flips
early, and the loop stops there. Run: python benchmarks/set_erasure.py [--lengths 20 200 2000] [--classes 2]
"""

import argparse
import ctypes
import time
from functools import partial
from pathlib import Path

import torch

from attnlab.data.batch import Batch
from attnlab.models import SequenceClassifier
from attnlab.nn import Additive, BiLSTM
from attnlab.protocols.erasure.set_erasure import SetErasure
from attnlab.protocols.erasure.weights import NUMBERS_AT_ONCE
from attnlab.protocols.protocol import Observation

NAMES = ("attention", "gradient", "product", "random")
CHUNK_MB = NUMBERS_AT_ONCE * 8 / 2**20
POSITIONS = 16384
"""Of an evaluation batch, as data.eval_positions has it; of at most 256 instances."""


def build(classes):
    """A random model whose attention is uneven and whose decisions hang on several tokens."""
    torch.manual_seed(0)
    model = SequenceClassifier(BiLSTM, Additive, partial(torch.optim.Adam, lr=1e-3), 2000, classes).eval()
    with torch.no_grad():
        model.attention.score.weight.mul_(5)
        model.readout.linear.weight.mul_(20)
    return model


@torch.no_grad()
def observe(model, length):
    """A full evaluation batch of documents of one length."""
    instances = min(256, POSITIONS // length)
    generator = torch.Generator().manual_seed(length)
    ids = torch.randint(4, 2000, (instances, length + 2), generator=generator)
    mask = torch.zeros_like(ids, dtype=torch.bool)
    mask[:, 1:-1] = True
    labels = torch.zeros(instances, dtype=torch.long)
    batch = Batch(ids, mask, torch.full((instances,), length + 2), labels, torch.arange(instances))
    encoded = model.encode(batch)
    attention = model.attend(encoded)
    return Observation(model, batch, encoded, attention, model.decode(encoded, attention))


def predict_one(linear, hidden, attention):
    """Class that the output layer gives one instance under attention (T,) over its hidden states (T, H)."""
    logits = linear(attention @ hidden)
    return int(logits.argmax()) if len(logits) > 1 else int(logits[0] > 0)


def removals_of_one(linear, hidden, attention, order, prediction):
    """Weights erased in an order, one more at each decoder call, until the decision flips; -1 for never."""
    weights = attention.clone()
    for removed, position in enumerate(order, 1):
        weights[position] = 0
        if predict_one(linear, hidden, torch.nn.functional.normalize(weights, p=1, dim=0)) != prediction:
            return removed
    return -1


@torch.no_grad()
def published_way(seen, orders, instances):
    """Removals of the first instances by each order (instances, 4)."""
    found = []
    for i in range(instances):
        n = int(seen.length[i])
        given = (seen.model.readout.linear, seen.encoded.hidden[i], seen.attention[i])
        prediction = int(seen.prediction[i])
        found.append([removals_of_one(*given, order[:n].tolist(), prediction) for order in orders[i]])
    return torch.tensor(found)


def peak_of(function):
    """Result of a call and the greatest memory it held beyond what was held before, in MB; NaN outside Linux."""
    if not Path("/proc/self/clear_refs").exists():
        return function(), float("nan")
    ctypes.CDLL(None).malloc_trim(0)  # freed memory that is still held would hide what is taken anew
    Path("/proc/self/clear_refs").write_text("5")
    before = _high_water()
    result = function()
    return result, _high_water() - before


def _high_water():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def timed(function, rounds=7):
    """Least seconds of several calls."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


@torch.no_grad()
def compare(model, length, looped):
    """One line of the table."""
    seen = observe(model, length)
    protocol = SetErasure(model, draws=1)
    columns, peak = peak_of(lambda: protocol.measure(seen))
    ours = timed(lambda: protocol.measure(seen)) / len(seen.batch)
    looped = min(looped, len(seen.batch))
    orders = protocol.orders(seen)[:, [0, 1, 2, 4]]
    start = time.perf_counter()
    found = published_way(seen, orders, looped)
    loop = (time.perf_counter() - start) / looped
    removed = torch.stack([columns[f"removed_{name}"][:looped] for name in NAMES], 1)
    differing = int((removed != found).sum())
    flips = torch.where(found < 0, length, found).double().mean()
    print(
        f"{length:>9} {len(seen.batch):>9} {1e3 * loop:>11.2f} ms {1e3 * ours:>9.3f} ms {loop / ours:>7.0f}x "
        f"{flips:>12.1f} {differing:>5} of {found.numel():<4} {peak:>8.0f} MB"
    )
    if peak > 8 * CHUNK_MB:
        raise SystemExit(f"{peak:.0f} MB at {length} positions: more than chunks explain")
    return differing


def main():
    """Print one line per length; times are per instance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lengths", type=int, nargs="+", default=[20, 200, 2000], help="content positions")
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--looped", type=int, default=8, help="instances given to the loop")
    options = parser.parse_args()
    model = build(options.classes)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {options.classes} classes, orders {NAMES};")
    print(f"times per instance; {CHUNK_MB:.0f} MB of sums at a time")
    print("positions instances        loop      attnlab    ratio  probes/order  different  peak memory")
    differing = sum([compare(model, length, options.looped) for length in options.lengths])
    if differing:
        raise SystemExit(f"{differing} removals differ")


if __name__ == "__main__":
    main()
