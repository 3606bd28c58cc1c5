"""Attention-level protocols against a plain loop over instances in the style of the published scripts.

Both sides get the same encoded batch, permutations and starting points; their results are compared before the
ratio is printed. Run: python benchmarks/attention_protocols.py [--instances 256] [--searched 24]
"""

import argparse
import time
from functools import partial

import numpy as np
import torch

from attnlab.data.batch import Batch
from attnlab.functional.adversarial import best_admissible, smoothed_jsd
from attnlab.functional.permutation import random_permutations
from attnlab.models import SequenceClassifier
from attnlab.nn import Additive, BiLSTM
from attnlab.protocols.adversarial.adversarial_attention import AdversarialAttention
from attnlab.protocols.adversarial.permutation import Permutation
from attnlab.protocols.diagnostic.attention_leverage import AttentionLeverage
from attnlab.protocols.protocol import Observation


def observe(instances, length=40):
    """Random sentences seen by a random model of the published size, with weights that make attention uneven."""
    torch.manual_seed(0)
    model = SequenceClassifier(BiLSTM, Additive, partial(torch.optim.Adam, lr=1e-3), 2000, 2).eval()
    with torch.no_grad():
        model.attention.score.weight.mul_(40)
        model.readout.linear.weight.mul_(20)
    lengths = torch.randint(8, length + 1, (instances,)).sort().values
    positions = torch.arange(length)
    ids = torch.randint(4, 2000, (instances, length)) * (positions < lengths[:, None])
    mask = (positions > 0) & (positions < lengths[:, None] - 1)
    batch = Batch(ids, mask, lengths, torch.zeros(instances, dtype=torch.long), torch.arange(instances))
    with torch.no_grad():
        encoded = model.encode(batch)
        attention = model.attend(encoded)
        return Observation(model, batch, encoded, attention, model.decode(encoded, attention))


def predict_one(seen, i, n, attention):
    """Probability of one instance under attention over its n content positions, from its hidden states."""
    linear = seen.model.readout.linear
    context = (attention.unsqueeze(-1) * seen.encoded.hidden[i, 1 : n + 1]).sum(-2)
    return torch.sigmoid(linear(context)).squeeze(-1)


@torch.no_grad()
def permutation_loop(seen, draws):
    """Median change of the prediction, one instance and one permutation at a time."""
    medians = []
    for i, n in enumerate(seen.length.tolist()):
        attention = seen.attention[i, 1 : n + 1]
        before = predict_one(seen, i, n, attention)
        order = random_permutations(seen.batch.mask[i : i + 1], draws, 0, [i])[0, :, 1 : n + 1] - 1
        changes = [float((predict_one(seen, i, n, attention[o]) - before).abs()) for o in order]
        medians.append(np.median(changes))
    return torch.tensor(medians)


def search_loop(seen, start, steps, epsilon):
    """ε-max JSD by the published search, one instance at a time."""
    return torch.stack([search_one(seen, i, n, start[i], steps, epsilon) for i, n in enumerate(seen.length.tolist())])


def search_one(seen, i, n, start, steps, epsilon):
    """The search for one instance: K scores by Adam, the pair term by a loop over pairs."""
    attention = seen.attention[i, 1 : n + 1]
    before = predict_one(seen, i, n, attention).detach()
    scores = start[:, 1 : n + 1].clone().requires_grad_(True)
    optimizer = torch.optim.Adam([scores], lr=0.01, amsgrad=True)
    K = len(start)
    for _ in range(steps):
        optimizer.zero_grad()
        adversary = torch.softmax(scores, -1)
        excess = torch.relu((predict_one(seen, i, n, adversary) - before).abs() - epsilon)
        pairs = sum(smoothed_jsd(adversary[a], adversary[b]) for a in range(K) for b in range(a))
        loss = 500 / K * excess.sum() - smoothed_jsd(adversary, attention).sum() - pairs / (K * (K - 1))
        loss.backward()
        optimizer.step()
    adversary = torch.softmax(scores.detach(), -1)
    change = (predict_one(seen, i, n, adversary) - before).abs()
    return best_admissible(adversary[None], change[None], attention[None], epsilon)[0][0]


def first(seen, count):
    """The longest instances, as an observation of their own."""
    keep = slice(len(seen.batch) - count, None)
    batch = Batch(*(getattr(seen.batch, f)[keep] for f in ("ids", "mask", "lengths", "labels", "index")))
    with torch.no_grad():
        encoded = seen.model.encode(batch)
        attention = seen.model.attend(encoded)
        return Observation(seen.model, batch, encoded, attention, seen.model.decode(encoded, attention))


def timed(function):
    """Seconds and result of a call, after nothing: both sides are cold alike."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def report(name, loop, ours, difference):
    """One line of the table."""
    print(
        f"{name:<32} loop {1e3 * loop:9.2f} ms   attnlab {1e3 * ours:8.3f} ms   "
        f"ratio {loop / ours:7.1f}x   {difference}"
    )


@torch.no_grad()
def main():
    """Print one line per protocol; times are per instance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=512, help="for permutation")
    parser.add_argument("--searched", type=int, default=24, help="instances given to the loop search")
    options = parser.parse_args()
    seen = observe(options.instances)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; per instance")

    protocol = Permutation(seen.model, draws=100, seed=0)
    protocol.measure(seen)
    ours, columns = timed(lambda: protocol.measure(seen))
    loop, medians = timed(lambda: permutation_loop(seen, 100))
    gap = (columns["median_tvd"] - medians).abs().max()
    report("permutation", loop / len(seen.batch), ours / len(seen.batch), f"largest difference {gap:.1e}")

    search = AdversarialAttention(seen.model, epsilon=0.05, solver="search")
    ours, columns = timed(lambda: search.measure(seen))
    few = first(seen, options.searched)
    start = search._start(few)
    with torch.enable_grad():
        loop, jsd = timed(lambda: search_loop(few, start, 500, 0.05))
    batched = columns["jsd"][-options.searched :]
    note = f"mean JSD {batched.mean():.4f} and {jsd.mean():.4f}"
    report("adversarial_attention, search", loop / options.searched, ours / len(seen.batch), note)

    exact = AdversarialAttention(seen.model, epsilon=0.05, solver="exact")
    ours, columns = timed(lambda: exact.measure(seen))
    note = f"mean JSD {columns['jsd'][-options.searched :].mean():.4f} (optimum)"
    report("adversarial_attention, exact", loop / options.searched, ours / len(seen.batch), note)

    leverage = AttentionLeverage(seen.model)
    ours, _ = timed(lambda: leverage.measure(seen))
    print(f"{'attention_leverage':<34} attnlab {1e3 * ours / len(seen.batch):8.3f} ms (nothing published to compare)")


if __name__ == "__main__":
    main()
