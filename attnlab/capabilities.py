"""Whether a protocol can measure a model at all, checked before anything is trained and without torch."""

from collections.abc import Mapping
from typing import Any

from attnlab.declared import declared
from attnlab.errors import ConfigError, IncompatibleError


def check_job(config: Mapping[str, Any]) -> None:
    """Compare what the protocols and the attention mechanism need with what the model and the data give.

    Raises:
        IncompatibleError: something is needed that is not given.
        ConfigError: a ``_target_`` does not exist.
    """
    given = capabilities(config)
    attention = config["model"].get("attention")
    if attention and "given_attention" in _declared(attention, "model.attention", "requires") - given:
        raise IncompatibleError(
            "model/attention=frozen imposes weights from outside; name them by"
            " data.attention=<records.parquet of protocol=[predictions], one for each split>"
        )
    offered = _declared(config["data"], "data", "gives")
    missing = _declared(config["model"], "model", "requires") - offered
    if missing:
        raise IncompatibleError(
            f"this model needs data that give {_list(missing)}, but they give {_list(offered)};"
            " choose another model or another data._target_"
        )
    level = config.get("level")
    absent = _declared(level, "level", "requires") - _declared(config["model"], "model", "gives") if level else None
    if absent:
        raise IncompatibleError(f"level: this needs a model that gives {_list(absent)}, such as model=han_gru")
    for name, options in config["protocols"].items():
        lacking = _declared(options, f"protocols.{name}", "requires") - given
        if lacking:
            raise IncompatibleError(
                f"protocol {name} needs {_list(lacking)}, which this model and data set do not give"
                f" (they give {_list(given)}); choose another model, model/attention or data, or leave {name} out"
            )


def capabilities(config: Mapping[str, Any]) -> frozenset[str]:
    """What the model family, its attention mechanism and the data set declare in ``gives``.

    Where an attention layer other than the last is measured, what it declares counts in place of the model's own.
    """
    parts = {"data": config["data"], "model": config["model"], "model.attention": config["model"].get("attention")}
    if config.get("level"):
        parts = {"data": config["data"], "level": config["level"]}
    imposed = {"given_attention"} if config["data"].get("attention") or config.get("given") else set()
    return frozenset(imposed).union(*(_declared(part, key, "gives") for key, part in parts.items() if part))


def _declared(config: Mapping[str, Any], key: str, attribute: str) -> frozenset[str]:
    try:
        return declared(str(config["_target_"]), attribute)
    except (ConfigError, KeyError) as error:
        raise ConfigError(f"{key}: {error}") from error


def _list(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
