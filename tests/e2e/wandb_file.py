"""Read an offline W&B run back from its file; W&B itself ships no reader."""

import json
import struct
from pathlib import Path

from wandb.proto import wandb_internal_pb2 as pb

BLOCK, HEADER = 32768, 7


def records(path: Path) -> list[pb.Record]:
    """Records of a ``.wandb`` file: LevelDB's log format, after a header of 7 bytes."""
    data, place, whole, found = path.read_bytes(), 7, b"", []
    while place + HEADER <= len(data):
        left = BLOCK - place % BLOCK
        if left < HEADER:
            place += left
            continue
        _, length, kind = struct.unpack("<IHB", data[place : place + HEADER])
        if kind == 0:
            break
        whole += data[place + HEADER : place + HEADER + length]
        place += HEADER + length
        if kind in (1, 4):  # whole, or the last part
            record = pb.Record()
            record.ParseFromString(whole)
            found.append(record)
            whole = b""
    return found


def put(target: dict, keys: list[str], value: object) -> None:
    """Set a nested value."""
    for key in keys[:-1]:
        target = target.setdefault(key, {})
    target[keys[-1]] = value


def read_run(path: Path) -> dict:
    """What a run holds: id, group, job type, tags, config, summary, history, files and exit code."""
    run = {"config": {}, "summary": {}, "history": [], "files": [], "exit": None}
    for record in records(path):
        kind = record.WhichOneof("record_type")
        if kind == "run":
            run |= {"id": record.run.run_id, "group": record.run.run_group, "job_type": record.run.job_type}
            run["tags"] = list(record.run.tags)
            run["config"].update({u.key: json.loads(u.value_json) for u in record.run.config.update})
        elif kind == "summary":
            for item in record.summary.update:
                put(run["summary"], [item.key] if item.key else list(item.nested_key), json.loads(item.value_json))
        elif kind == "history":
            run["history"].append({i.key or i.nested_key[0]: json.loads(i.value_json) for i in record.history.item})
        elif kind == "files":
            run["files"] += [f.path for f in record.files.files]
        elif kind == "exit":
            run["exit"] = record.exit.exit_code
    return run


def runs(folder: Path) -> list[dict]:
    """Every offline run under a folder."""
    return [read_run(path) for path in sorted(folder.rglob("*.wandb"))]
