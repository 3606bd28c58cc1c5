"""Training by attnlab against a bare PyTorch loop over the same batches, and bucketed batches against file order.

Both sides train the same model from the same initialisation on the same batches, without a dev set; rounds alternate.
Run: python benchmarks/training.py [--rounds 3] [OVERRIDE ...]
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import lightning as L

from attnlab.config.composing import compose
from attnlab.instantiate import instantiate
from attnlab.models.trained import build_model
from attnlab.training import build_trainer


def prepare(overrides, bucket):
    """Configuration and data module of a job."""
    config, _ = compose([*overrides, f"data.bucket={str(bucket).lower()}", "trainer.max_epochs=1"])
    module = instantiate(config["data"], "data")
    module.prepare_data()
    module.setup()
    return config, module


def fresh(config, module):
    """The model, initialised alike every time."""
    L.seed_everything(0, verbose=False)
    task = {
        "vocab_size": module.vocab_size,
        "num_classes": module.num_classes,
        "pos_weight": module.pos_weight,
    }
    return build_model(config["model"], task)


def bare(config, module):
    """Seconds of one epoch in a plain loop."""
    model = fresh(config, module).train()
    optimizer = model.configure_optimizers()
    loader = module.train_dataloader()
    start = time.perf_counter()
    for batch in loader:
        optimizer.zero_grad()
        loss = model.loss(model(batch), batch.labels)
        loss.backward()
        optimizer.step()
    return time.perf_counter() - start


def lightning(config, module):
    """Seconds of one epoch by the Trainer as attnlab builds it."""
    model = fresh(config, module)
    with tempfile.TemporaryDirectory() as folder:
        options = {"default_root_dir": str(Path(folder)), "enable_checkpointing": False}
        trainer = build_trainer(config["trainer"], False, [], **options)
        loader = module.train_dataloader()
        start = time.perf_counter()
        trainer.fit(model, train_dataloaders=loader)
        return time.perf_counter() - start


def main():
    """Print medians over the rounds and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("overrides", nargs="*", help="of the configuration, such as data=nyt")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    seconds = {}
    prepared = {bucket: prepare(options.overrides, bucket) for bucket in (True, False)}
    for _ in range(options.rounds):
        for bucket in (True, False):
            for name, run in (("bare loop", bare), ("attnlab", lightning)):
                seconds.setdefault((name, bucket), []).append(run(*prepared[bucket]))
    median = {key: statistics.median(values) for key, values in seconds.items()}
    for (name, bucket), value in median.items():
        print(f"{name:<10} {'bucketed' if bucket else 'file order':<11} {value:7.2f} s per epoch")
    for bucket in (True, False):
        # Pair by pair, so that the ratio holds when the machine's speed drifts.
        pairs = zip(seconds["attnlab", bucket], seconds["bare loop", bucket], strict=True)
        ratio = statistics.median(ours / plain for ours, plain in pairs)
        print(f"attnlab / bare loop, {'bucketed' if bucket else 'file order':<11} {ratio:.3f}")
    for name in ("bare loop", "attnlab"):
        print(f"file order / bucketed, {name:<10} {median[name, False] / median[name, True]:.3f}")


if __name__ == "__main__":
    main()
