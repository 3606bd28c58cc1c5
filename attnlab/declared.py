"""What a class declares in its body, read from its source without importing it.

A sweep checks thousands of cells before it starts any; importing torch for that would take longer than the check.
"""

import ast
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from attnlab.errors import ConfigError


def declared(target: str, attribute: str) -> frozenset[str]:
    """The names that a class, or the nearest of its bases, declares in ``attribute = frozenset({...})``.

    Args:
        target: Dotted path of a class, as in ``_target_``.
        attribute: Such as ``gives`` or ``requires``.

    Returns:
        The names; none where nothing is declared.

    Raises:
        ConfigError: there is no such class.
    """
    found = _find_class(target)
    if found is None:
        raise ConfigError(f"_target_ {target}: there is no such class")
    return _declared(*found, attribute)


def _declared(file: Path, node: ast.ClassDef, attribute: str) -> frozenset[str]:
    annotated = (statement for statement in node.body if isinstance(statement, ast.AnnAssign))
    for statement in annotated:
        named = isinstance(statement.target, ast.Name) and statement.target.id == attribute
        if named and isinstance(statement.value, ast.Call):
            arguments = statement.value.args
            return frozenset(ast.literal_eval(arguments[0])) if arguments else frozenset()
    for base in node.bases:
        found = _named(file, base.id) if isinstance(base, ast.Name) else None
        if found is not None:
            names = _declared(*found, attribute)
            if names:
                return names
    return frozenset()


def _find_class(target: str) -> tuple[Path, ast.ClassDef] | None:
    module, _, name = target.rpartition(".")
    file = _module_file(module)
    return _named(file, name) if file else None


def _named(file: Path, name: str) -> tuple[Path, ast.ClassDef] | None:
    """A class that a module defines or imports under a name."""
    for statement in _parse(file).body:
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            return file, statement
    for module, original in _imports(file, name):
        found = _find_class(f"{module}.{original}")
        if found is not None:
            return found
    return None


def _imports(file: Path, name: str) -> Iterator[tuple[str, str]]:
    for statement in ast.walk(_parse(file)):
        if isinstance(statement, ast.ImportFrom) and statement.module:
            for alias in statement.names:
                if (alias.asname or alias.name) == name:
                    yield statement.module, alias.name


@lru_cache(maxsize=256)
def _parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@lru_cache(maxsize=256)
def _module_file(module: str) -> Path | None:
    """Source of a module; only its top package is looked up, so that no parent is imported."""
    top, *rest = module.split(".")
    spec = find_spec(top) if top else None
    file = Path(spec.origin or "") if spec else Path()
    if file.suffix != ".py" or not file.is_file():
        return None  # built in, or compiled
    for part in rest:
        folder = file.parent / part
        file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
        if not file.is_file():
            return None
    return file
