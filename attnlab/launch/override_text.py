"""Plain values as text in Hydra's override grammar, and back from what the user typed."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attnlab.errors import ConfigError

_UNQUOTED = re.compile(r"[A-Za-z0-9_/][A-Za-z0-9_/.+-]*")
_WORDS = ("true", "false", "null")


def render(value: Any) -> str:  # noqa: ANN401 - any plain value
    """The text that Hydra reads as ``value``; strings are quoted only where they must be.

    Raises:
        ConfigError: the grammar has no text for it.

    Example:
        >>> render(["permutation", "a b", 1e-5, None])
        "[permutation,'a b',1e-05,null]"
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return value if _is_plain(value) else _quoted(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(render(element) for element in value)}]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_dict_key(k)}:{render(v)}" for k, v in value.items()) + "}"
    raise ConfigError(f"{value!r}: a {type(value).__name__} has no place in an override; write it as text in quotes")


def _is_plain(text: str) -> bool:
    return bool(_UNQUOTED.fullmatch(text)) and text.lower() not in _WORDS and not _is_number(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _quoted(text: str) -> str:
    from hydra.core.override_parser.types import Quote, QuotedString

    return QuotedString(text, Quote.single).with_quotes()


def _dict_key(key: Any) -> str:  # noqa: ANN401 - any plain value
    if isinstance(key, bool | int) or (isinstance(key, float) and math.isfinite(key)):
        return render(key)
    if isinstance(key, str) and _is_plain(key):
        return key
    raise ConfigError(f"{{{key!r}: …}}: this key cannot be written in an override; put the mapping in a file of conf/")


@dataclass(frozen=True)
class Given:
    """An override from the command line.

    Attributes:
        text: As typed.
        key: With ``+`` if it had one.
        values: Texts of its values: several for a sweep such as ``seed=0,1``; none for ``~key``.
    """

    text: str
    key: str
    values: tuple[str, ...]

    @property
    def name(self) -> str:
        """The key without ``+``."""
        return self.key.lstrip("+")

    @classmethod
    def parse(cls, text: str) -> "Given":
        """Read an override as Hydra does.

        Raises:
            ConfigError: it is not in Hydra's grammar, or its values cannot be listed.
        """
        from hydra.core.override_parser.overrides_parser import OverridesParser
        from hydra.core.override_parser.types import Glob
        from hydra.errors import HydraException

        try:
            override = OverridesParser.create().parse_override(text)
            if override.is_delete():
                return cls(text, override.get_key_element().lstrip("~"), ())
            if not override.is_sweep_override():
                return cls(text, override.get_key_element(), (_text_of(override.value()),))
            if not override.is_discrete_sweep() or isinstance(override.value(), Glob):
                raise ConfigError(f"{text}: list the values of a study's axis, as in model=bilstm,cnn")
            elements = tuple(_text_of(element) for element in override.sweep_iterator())
        except HydraException as error:
            first = str(error).strip().splitlines()[0]
            raise ConfigError(f"{text}: {first} (quote values with special characters: 'key=\"a, b\"')") from error
        return cls(text, override.get_key_element(), elements)


def _text_of(value: Any) -> str:  # noqa: ANN401 - a parsed value
    return render(_unquote(value))


def _unquote(value: Any) -> Any:  # noqa: ANN401 - a parsed value
    from hydra.core.override_parser.types import QuotedString

    if isinstance(value, QuotedString):
        return value.text
    if isinstance(value, list):
        return [_unquote(element) for element in value]
    if isinstance(value, dict):
        return {_unquote(k): _unquote(v) for k, v in value.items()}
    return value
