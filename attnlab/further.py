"""Further models that a protocol declares, as changes of the job's own configuration. Nothing here imports torch.

::

    models:                                     # of a protocol
      uniform:                                  # a name, by which the protocol knows the model
        model: {attention: {_target_: attnlab.nn.Uniform, _partial_: true}}
      seeded:
        each: {seed: [1, 2, 3]}                 # one model for each value
      guided:
        model: {attention: {_target_: attnlab.nn.Frozen, _partial_: true}}
        given: {by: {}, output: attention}      # trained on what another model says: here the job's own

A change with a ``_target_`` replaces what it stands for; others are merged into it. ``as`` holds changes that come
before the others, ``choices`` what listings call the model, and ``given.by`` the changes that make the other model.
Beside the names, ``only`` lists those that are meant, and ``parts`` holds what declarations refer to.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attnlab.errors import ConfigError

Config = dict[str, Any]

RESERVED = frozenset({"as", "each", "given", "choices"})

_DIAGNOSTIC = "attnlab.protocols.diagnostic"
_SUBSTITUTION: Config = {
    "_target_": f"{_DIAGNOSTIC}.attention_substitution.AttentionSubstitution",
    "trained": [],
    "seed": None,
}

OUTPUTS: dict[str, tuple[str, str, Config]] = {
    "attention": ("predictions", "attention", {"_target_": f"{_DIAGNOSTIC}.predictions.Predictions"}),
    "gradient": (
        "gradient_correlation",
        "gradient",
        {"_target_": f"{_DIAGNOSTIC}.gradient_correlation.GradientCorrelation", "target": "predicted"},
    ),
    "random": ("attention_substitution", "random", _SUBSTITUTION),
    "permuted": ("attention_substitution", "permuted", _SUBSTITUTION),
}
"""What a model can give another, by name: the protocol that records it, the column, and the protocol's options.

A ``seed`` among them is the job's.
"""


@dataclass(frozen=True)
class Declaration:
    """One further model.

    Attributes:
        config: The job's configuration with the changes.
        choices: Options chosen in each group, as listings show them.
        source: The model whose outputs it is trained on, and which output; None where it is trained on labels alone.
    """

    config: Config
    choices: dict[str, str]
    source: "tuple[Declaration, str] | None" = None


@dataclass(frozen=True)
class Declarer:
    """Makes declarations from the changes that a protocol's options hold.

    Attributes:
        config: Resolved configuration of the job.
        choices: Option chosen in each group.
    """

    config: Mapping[str, Any]
    choices: Mapping[str, str] = field(default_factory=dict)

    def of_protocol(self, name: str) -> dict[str, list[Declaration]]:
        """Every further model that a protocol of the job needs, by the name that the protocol gives it.

        Raises:
            ConfigError: a declaration is malformed.
        """
        key = f"protocols.{name}.models"
        declared = dict(self.config["protocols"][name].get("models") or {})
        declared.pop("parts", None)
        only = declared.pop("only", None)
        unknown = [one for one in only or () if one not in declared]
        if unknown:
            raise ConfigError(f"protocols.{name}: there is no {unknown[0]!r}; choose from {', '.join(declared)}")
        chosen = declared if only is None else {one: declared[one] for one in only}
        return {one: list(self._variants(changes or {}, f"{key}.{one}")) for one, changes in chosen.items()}

    def _variants(self, changes: Mapping[str, Any], key: str) -> Iterator[Declaration]:
        each = dict(changes.get("each") or {})
        for path, values in each.items():
            if not isinstance(values, Sequence) or isinstance(values, str) or not values:
                raise ConfigError(f"{key}.each.{path}: expected a list of one value or more, not {values}")
        for values in itertools.product(*each.values()):
            varied = {name: change for name, change in changes.items() if name != "each"}
            for path, value in zip(each, values, strict=True):
                varied = merged(varied, _nested(path, value))
            yield self._declaration(varied, key)

    def _declaration(self, changes: Mapping[str, Any], key: str) -> Declaration:
        unknown = {name for name in changes if name not in self.config} - RESERVED
        if unknown:
            raise ConfigError(f"{key}: a configuration has no {sorted(unknown)[0]!r}")
        config = merged(self.config, changes.get("as") or {})
        config = merged(config, {name: c for name, c in changes.items() if name not in {*RESERVED, "seed"}})
        if "seed" in changes:
            config = _reseeded(config, self.config["seed"], changes["seed"])
        choices = {**self.choices, **(changes.get("choices") or {})}
        if changes.get("given") is None:
            return Declaration(config, choices)
        given = changes["given"]
        output = given.get("output", "attention")
        if output not in OUTPUTS:
            raise ConfigError(f"{key}.given.output={output}: choose one of {', '.join(OUTPUTS)}")
        (source,) = self._variants({**(given.get("by") or {})}, f"{key}.given.by")
        return Declaration(config, choices, (source, output))


def merged(config: Mapping[str, Any], changes: Mapping[str, Any]) -> Config:
    """A configuration with changes: a mapping with a ``_target_`` replaces, others are merged key by key."""
    result = dict(config)
    for key, change in changes.items():
        before = result.get(key)
        together = isinstance(before, Mapping) and isinstance(change, Mapping) and "_target_" not in change
        result[key] = merged(before, change) if together and isinstance(before, Mapping) else change
    return result


def _nested(path: str, value: Any) -> Config:  # noqa: ANN401 - any plain value
    for name in reversed(path.split(".")):
        value = {name: value}
    return dict(value)


def _reseeded(config: Any, old: int, new: int) -> Any:  # noqa: ANN401 - any plain value
    """The configuration with every key that repeats the seed changed."""
    if not isinstance(config, Mapping):
        return config
    return {key: new if key == "seed" and value == old else _reseeded(value, old, new) for key, value in config.items()}
