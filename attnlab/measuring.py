"""Measure a trained model by one protocol, to an entry of the store."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lightning as L

from attnlab.data.outputs import Outputs
from attnlab.instantiate import instantiate
from attnlab.job import Job
from attnlab.protocols.protocol import Protocol, unit_of
from attnlab.records import RecordWriter, gather_records
from attnlab.report.figures import draw, save
from attnlab.report.spec import to_dict
from attnlab.report.summary import summarise
from attnlab.store.document import write_json, write_yaml
from attnlab.store.entry import write_entry
from attnlab.store.provenance import provenance
from attnlab.training import build_trainer

if TYPE_CHECKING:
    import pyarrow as pa

    from attnlab.data import TextDataModule


def measure(
    job: Job,
    name: str,
    model: L.LightningModule,
    data: "TextDataModule",
    folder: Path,
    others: Mapping[str, Sequence[Outputs]],
) -> None:
    """Run a protocol over the evaluation split and fill a store entry with what it finds.

    Args:
        job: The job.
        name: Protocol, as named under ``protocols``.
        model: The trained model.
        data: The data module, set up.
        folder: Draft of the entry.
        others: What the further models that the protocol declares say of the split.
    """
    protocol = build_protocol(job.config, name, at_level(job.config, model), others)
    start = time.perf_counter()
    records = run_protocol(protocol, data, job.config["split"], job.config["trainer"], folder)
    seconds = time.perf_counter() - start
    write_result(protocol, records, list(data.classes), folder)
    write_yaml(
        folder / "config.yaml",
        {
            "protocol": name,
            "model_key": job.model_key,
            "models": _models(job, name),
            "choices": job.choices,
            **job.config,
        },
    )
    write_json(folder / "provenance.json", {"seconds": round(seconds, 3), **provenance()})
    write_entry("results", folder)


def build_protocol(
    config: Mapping[str, Any], name: str, model: L.LightningModule, others: Mapping[str, Sequence[Outputs]]
) -> Protocol:
    """A protocol with the model that it measures and, where it declares further ones, what they say."""
    options = {key: value for key, value in config["protocols"][name].items() if key != "models"}
    further = {"models": others} if others else {}
    protocol: Protocol = instantiate(options, f"protocols.{name}", model=model, **further)
    return protocol


def _models(job: Job, name: str) -> list[str]:
    """Keys of all models that a result needs."""
    others = [further for jobs in job.further[name].values() for further in jobs]
    return list(dict.fromkeys([job.model_key, *(key for other in others for key in other.models)]))


def at_level(config: Mapping[str, Any], model: L.LightningModule) -> L.LightningModule:
    """The model as its attention layer of ``level`` shows it; itself for the last layer."""
    if not config.get("level"):
        return model
    view: L.LightningModule = instantiate(config["level"], "level", model=model)
    return view


def run_protocol(
    protocol: Protocol, data: "TextDataModule", split: str, trainer_config: dict[str, object], folder: Path
) -> "pa.Table":
    """Records of a protocol on a split, one row per instance.

    Args:
        protocol: Holds the trained model.
        data: The data module, set up.
        split: ``train``, ``validation`` or ``test``.
        trainer_config: Options of Lightning's Trainer.
        folder: Where parts of the records are written meanwhile.

    Raises:
        RuntimeError: an instance was not measured exactly once.
    """
    writer = RecordWriter(folder, data.dataset(split), split)
    trainer = build_trainer(
        trainer_config,
        False,
        [writer],
        # Gradients are taken with respect to embeddings, which inference mode would forbid.
        inference_mode=False,
        enable_checkpointing=False,
        default_root_dir=str(folder),
    )
    trainer.test(protocol, dataloaders=data.dataloader(split), verbose=False)
    return gather_records(folder, len(data.dataset(split)))


def write_result(protocol: Protocol, records: "pa.Table", classes: list[str], folder: Path) -> None:
    """Write records, summary, figures, and what draws them again without the protocol's code."""
    import pyarrow.parquet as pq

    pq.write_table(records, folder / "records.parquet", compression="zstd")
    statistics, figures = protocol.summarised_by(), protocol.drawn_as()
    write_json(folder / "summary.json", summarise(records, statistics, classes))
    (folder / "figures").mkdir()
    for figure in figures:
        save(draw(records, figure, classes), folder / "figures", figure.name)
    specification = {
        "classes": classes,
        "unit": unit_of(protocol.model),
        "statistics": [to_dict(s) for s in statistics],
        "figures": [to_dict(f) for f in figures],
    }
    write_json(folder / "specification.json", specification)
