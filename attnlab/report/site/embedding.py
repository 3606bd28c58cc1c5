"""Data in the form that a page can load from a disk: scripts, since ``fetch`` refuses files."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""What could end a script or a line of it; in JSON these stand in strings alone."""


def script_json(content: Any) -> str:  # noqa: ANN401 - any plain value
    """JSON that means the same inside a script, whatever texts it holds."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escaped in UNSAFE.items():
        text = text.replace(character, escaped)
    return text


def pack(values: Any) -> str:  # noqa: ANN401 - anything that numpy takes
    """Numbers as base64 of little-endian 32-bit floats; NaN stands for what is not there."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def write_part(path: Path, content: Any) -> None:  # noqa: ANN401 - any plain value
    """A script that hands its content to the page under its own name."""
    name = script_json(path.stem)
    path.write_text(f"attnlabParts[{name}] = {script_json(content)};\n", encoding="utf-8")
