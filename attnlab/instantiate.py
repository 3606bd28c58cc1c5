"""The one place where configuration becomes objects."""

from collections.abc import Mapping
from typing import Any

from attnlab.errors import AttnlabError, ConfigError


def instantiate(config: Mapping[str, Any], key: str, **arguments: Any) -> Any:  # noqa: ANN401 - whatever it names
    """Build the object that a ``_target_`` names.

    Args:
        config: Plain containers with a ``_target_``.
        key: Where it stands in the configuration, for messages.
        arguments: Passed beside the configured ones.

    Raises:
        ConfigError: the target does not exist, takes no such option, or refuses a value.
    """
    from hydra.errors import HydraException
    from hydra.utils import instantiate as build

    try:
        # Arguments are given to a partial, not merged into the configuration: a merge copies objects.
        factory = build({**config, "_partial_": True}, _convert_="all")
    except HydraException as error:
        raise _translate(error, key) from error
    try:
        return factory(**arguments)
    except AttnlabError:
        raise
    except Exception as error:  # a constructor may refuse its options with any exception
        raise ConfigError(f"{key}: {_first_line(error)}") from error


def target_class(config: Mapping[str, Any], key: str) -> Any:  # noqa: ANN401 - whatever it names
    """The class that a ``_target_`` names, without building it.

    Raises:
        ConfigError: there is no such class.
    """
    from hydra.utils import get_class

    try:
        return get_class(str(config["_target_"]))
    except (ImportError, ValueError, KeyError) as error:
        raise ConfigError(f"{key}._target_: {_first_line(error)}") from error


def _translate(error: Exception, key: str) -> AttnlabError:
    if isinstance(error.__cause__, AttnlabError):
        return error.__cause__
    # Hydra puts the failing key last, as "full_key: encoder"; a top-level failure has none.
    text = str(error.__cause__ or error)
    where = str(error).rpartition("full_key: ")[2].strip() if "full_key: " in str(error) else ""
    return ConfigError(f"{key}{'.' + where if where else ''}: {_first_line(text)}")


def _first_line(error: object) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
