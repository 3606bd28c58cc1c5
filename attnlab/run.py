"""One job, from composed configuration to stored results."""

import logging
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.errors import ConfigError
from attnlab.instantiate import instantiate
from attnlab.job import Job
from attnlab.logger.mirror import NoMirror
from attnlab.results import Result
from attnlab.store.entry import write_entry

if TYPE_CHECKING:
    import lightning as L

    from attnlab.data import TextDataModule
    from attnlab.data.outputs import Outputs

log = logging.getLogger(__name__)


def run(job: Job, folder: Path) -> list[Result]:
    """Do what the store does not have yet, and return all results of the job.

    Args:
        job: The job.
        folder: Where logs and links to the results go.

    Raises:
        AttnlabError: the user asked for something that cannot be; raised before anything is trained.
    """
    missing = job.missing
    mirror: NoMirror = instantiate(job.config["logger"], "logger")
    with mirror.opened(job, folder) as shown:
        if missing:
            _Execution(job, folder, shown).run(missing)
        else:
            log.info("all %d results are in the store, %s", len(job.result_keys), job.store.root)
    results = [Result(name, job.store.path("results", key)) for name, key in job.result_keys.items()]
    for result in results:
        _link(folder / result.protocol, result.folder)
    _link(folder / "model", job.store.path("models", job.model_key))
    return results


def train_model(job: Job, folder: Path) -> None:
    """Train the model of a job, unless the store has it.

    Args:
        job: The job.
        folder: Where logs go.

    Raises:
        AttnlabError: the user asked for something that cannot be; raised before anything is trained.
    """
    if not job.store.has("models", job.model_key):
        mirror: NoMirror = instantiate(job.config["logger"], "logger")
        with mirror.opened(job, folder) as shown:
            _Execution(job, folder, shown).model()


def _link(link: Path, target: Path) -> None:
    """Show a store entry in the run folder; where the file system has no links, name its path in a file."""
    if not target.exists() or link.is_symlink():
        return
    try:
        link.symlink_to(target, target_is_directory=True)
    except OSError:
        link.with_suffix(".path.txt").write_text(f"{target}\n", encoding="utf-8")


class _Execution:
    """The part of a job that needs torch; everything that can be refused is refused in the constructor."""

    def __init__(self, job: Job, folder: Path, mirror: NoMirror) -> None:
        self.job = job
        self.folder = folder
        self.mirror = mirror
        for each in (job, *job.all_further()):
            check_options(each)
        if job.source is None:
            self.data.prepare_data()  # what is wrong with the data shows before any work

    @cached_property
    def data(self) -> "TextDataModule":
        """The data, with the outputs of the model that the job's own is trained on."""
        from attnlab.data.given import impose_attention, read_records

        data: TextDataModule = instantiate(self.job.config["data"], "data")
        data.prepare_data()
        data.setup()
        if data.num_classes < 2:
            raise ConfigError("data: a classifier needs two labels or more")
        if self.job.source is not None:
            source, key = self.job.source, f"outputs of model {self.job.config['given']['model']}"
            for split, job in source.jobs.items():
                records = self._further(job) / "records.parquet"
                impose_attention(data.dataset(split), read_records(records, key, source.column), split, key)
        return data

    def run(self, protocols: list[str]) -> None:
        """Find or train the model, then measure it."""
        model = self.model()
        for name in protocols:
            self._measure(name, model)

    def model(self) -> "L.LightningModule":
        """Find or train the model."""
        from attnlab.models.trained import load_model
        from attnlab.training import train

        job, key, data = self.job, self.job.model_key, self.data
        with job.store.lock("models", key):
            if job.store.has("models", key):
                log.info("model %s is in the store", key)
                return load_model(job.store.path("models", key))
            log.info("training %s, seed %d, as model %s", job.cell, job.config["seed"], key)
            with job.store.create("models", key) as draft, self.mirror.training(job, self.folder) as loggers:
                model = train(job.config, data, draft, job.store.unfinished(key), loggers)
                write_entry("models", draft, job.choices)
            log.info("trained model %s", key)
            return model

    def _measure(self, name: str, model: "L.LightningModule") -> None:
        from attnlab.measuring import measure

        job, key = self.job, self.job.result_keys[name]
        others = {one: [self._outputs(other) for other in jobs] for one, jobs in job.further[name].items()}
        with job.store.lock("results", key):
            if job.store.has("results", key):
                return
            log.info("measuring %s", name)
            with job.store.create("results", key) as draft:
                measure(job, name, model, self.data, draft, others)
        self.mirror.publish(job, Result(name, job.store.path("results", key)), self.folder)

    def _outputs(self, job: Job) -> "Outputs":
        """What a further model says of the split, in the order of the job's own data."""
        from attnlab.data.given import aligned, read_records

        key, split = f"outputs of model {job.model_key}", self.job.config["split"]
        return aligned(self.data.dataset(split), read_records(self._further(job) / "records.parquet", key), split, key)

    def _further(self, job: Job) -> Path:
        """The one result of a job that this one needs, made where the store does not have it."""
        if job.missing:
            _Execution(job, self.folder, self.mirror.further()).run(job.missing)
        (key,) = job.result_keys.values()
        return job.store.path("results", key)


def check_options(job: Job) -> None:
    """Build small stand-ins of everything that is configured, so that a wrong option shows before any work.

    Raises:
        AttnlabError: an option is wrong, or parts of the configuration do not go together.
    """
    from attnlab.capabilities import check_job
    from attnlab.measuring import at_level, build_protocol
    from attnlab.models.trained import build_model
    from attnlab.training import build_trainer

    config = job.config
    check_job(config)
    instantiate(config["data"], "data")
    model = build_model(config["model"], {"vocab_size": 5, "num_classes": 2, "pos_weight": None})
    _check_selection(config, getattr(model, "monitored", None))
    for name in config["protocols"]:
        build_protocol(config, name, at_level(config, model), {one: [] for one in job.further[name]})
    for name, options in config["callbacks"].items():
        if options:
            instantiate(options, f"callbacks.{name}")
    instantiate(config["vectors"], "vectors")
    build_trainer(config["trainer"], False, [])


def _check_selection(config: Mapping[str, Any], monitored: tuple[str, ...] | None) -> None:
    monitor, mode = config["selection"]["monitor"], config["selection"]["mode"]
    if monitored is not None and monitor not in monitored:
        raise ConfigError(f"selection.monitor={monitor}: choose one of {', '.join(monitored)}")
    if mode not in ("max", "min"):
        raise ConfigError(f"selection.mode={mode}: choose max or min")
    if config["trainer"].get("limit_val_batches") == 0:
        raise ConfigError("trainer.limit_val_batches=0 leaves nothing to select the epoch by")
