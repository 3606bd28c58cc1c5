"""Whether a protocol can measure a model at all, checked before anything is trained."""

from collections.abc import Mapping
from typing import Any

from attnlab.errors import IncompatibleError
from attnlab.instantiate import target_class


def check_job(config: Mapping[str, Any]) -> None:
    """Compare what the protocols need with what the model and the data give.

    Raises:
        IncompatibleError: a protocol needs something that is not given.
        ConfigError: a ``_target_`` does not exist.
    """
    given = capabilities(config)
    for name, options in config["protocols"].items():
        lacking = target_class(options, f"protocols.{name}").requires - given
        if lacking:
            raise IncompatibleError(
                f"protocol {name} needs {_list(lacking)}, which this model and data set do not give"
                f" (they give {_list(given)}); choose another model, model/attention or data, or leave {name} out"
            )


def capabilities(config: Mapping[str, Any]) -> frozenset[str]:
    """What the model family, its attention mechanism and the data set declare in ``gives``."""
    parts = {
        "data": config["data"],
        "model": config["model"],
        "model.attention": config["model"].get("attention"),
    }
    return frozenset[str]().union(*(_gives(part, key) for key, part in parts.items() if part))


def _gives(config: Mapping[str, Any], key: str) -> frozenset[str]:
    return frozenset(getattr(target_class(config, key), "gives", ()))


def _list(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
