"""Write docs/reference/python.md from the docstrings of the public names, so that the page cannot say anything else."""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import wallflower
from wallflower.schema.fields import Field

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "python.md"

HEAD = """\
# Python

```python
import wallflower as wf
```

This page is made of the docstrings of every public name; `make reference` writes it, and every example on it is run by the tests. A question is a frozen
dataclass; `price` says what it promises and costs before any row is read, `release` charges and draws. What is not on this page may change
without notice.

Types are those of the source: what may be given. `Spelled` is a number that is written exactly: a whole number, a `Fraction`, or a text such as `"0.1"` or `"1/3"`; where
it is kept it is a `Fraction`. `= ...` marks what may be left out.
"""

NOT_HERE = {
    "stream": "A stream is used through its commands; see [docs/stream.md](../stream.md). Its Python modules are not public."
}
"""Packages whose modules are no public names, and why."""


def public() -> Iterator[tuple[str, Any]]:
    """(name below `wf`, thing): packages, then what they export; without `__all__`, what their modules define."""
    for name in wallflower.__all__:
        thing = getattr(wallflower, name)
        yield name, thing
        if not isinstance(thing, ModuleType) or name in NOT_HERE:
            continue
        exported = getattr(thing, "__all__", None)
        if exported is not None:
            yield from ((f"{name}.{inner}", getattr(thing, inner)) for inner in sorted(exported))
            continue
        for found in pkgutil.iter_modules(thing.__path__):
            module = import_module(f"{thing.__name__}.{found.name}")
            yield from (
                (f"{name}.{found.name}.{inner}", value)
                for inner, value in vars(module).items()
                if not inner.startswith("_")
                and getattr(value, "__module__", None) == module.__name__
                and (inspect.isclass(value) or inspect.isfunction(value))
            )


def page() -> str:
    parts = [HEAD]
    for name, thing in public():
        if isinstance(thing, ModuleType):
            parts.append(f"## wf.{name}\n\n{package(name, thing)}\n")
        else:
            depth = "###" if "." in name else "##"
            parts.append(f"{depth} wf.{name}\n\n{entry(thing)}\n")
    return "\n".join(parts)


def package(name: str, module: ModuleType) -> str:
    said = f"```text\n{inspect.getdoc(module)}\n```"
    return f"{said}\n\n{NOT_HERE[name]}" if name in NOT_HERE else said


def entry(thing: Any) -> str:
    parts = [f"```python\n{signature(thing)}\n```", described(inspect.getdoc(thing) or "")]
    if inspect.isclass(thing):
        fields = documented_fields(thing)
        parts += ["\n".join(f"- `{field}`: {words}" for field, words in fields)] if fields else []
        parts += ["\n".join(f"- `{verb}`: {words}" for verb, words in verbs)] if (verbs := methods(thing)) else []
    return "\n\n".join(part for part in parts if part)


def signature(thing: Any) -> str:
    name = thing.__name__
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return f"class {name}({thing.__bases__[0].__name__})"
    if dataclasses.is_dataclass(thing):
        fields = "".join(f"    {_typed(thing, field)},\n" for field in dataclasses.fields(thing) if field.init)
        return f"{name}(\n{fields})" if fields else f"{name}()"
    if getattr(thing, "_is_protocol", False):
        return f"class {name}(Protocol)"
    return name + _written(inspect.signature(thing))


class Words(str):
    """An annotation as the source writes it, without the quotes that Python would put around it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _written(form: inspect.Signature, *, drop: int = 0) -> str:
    """Arguments, their types and what comes back; a default that has no spelling is `...`."""
    bare = [_bare(one) for one in list(form.parameters.values())[drop:]]
    back = form.return_annotation
    return str(form.replace(parameters=bare, return_annotation=Words(back) if isinstance(back, str) else back))


def _bare(parameter: inspect.Parameter) -> inspect.Parameter:
    kind, default = parameter.annotation, parameter.default
    spelled = default is inspect.Parameter.empty or not repr(default).startswith("<")
    return parameter.replace(
        annotation=Words(kind.strip("\"'")) if isinstance(kind, str) else kind,
        default=default if spelled else Words("..."),
    )


def _typed(kind: type, field: dataclasses.Field[Any]) -> str:
    """`name: type`, and `= ...` where it may be left out. A field that converts has the type of what it takes."""
    given = field.type if isinstance(field.type, str) else inspect.formatannotation(field.type)
    converts = inspect.getattr_static(kind, field.name, None)
    if isinstance(converts, Field):
        reads = type(converts).read if type(converts).__set__ is Field.__set__ else type(converts).__set__
        given = inspect.signature(reads).parameters["value"].annotation
    return f"{field.name}: {given}" + ("" if _required(field) else " = ...")


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def described(text: str) -> str:
    """Words as they are, examples as code."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text):
        lines = paragraph.splitlines()
        start = next((place for place, line in enumerate(lines) if line.startswith(">>>")), None)
        if start is None:
            parts.append(f"```text\n{paragraph}\n```" if lines and lines[0].startswith("Guarantee") else paragraph)
        else:
            parts += ["\n".join(lines[:start])] if start else []
            parts.append("```python\n" + "\n".join(lines[start:]) + "\n```")
    return "\n\n".join(parts)


def documented_fields(kind: type) -> list[tuple[str, str]]:
    """The string that stands under a field, from the source: Python itself does not keep it."""
    try:
        source = inspect.getsource(kind)
    except OSError:
        return []
    found = re.findall(r'^    (\w+): [^\n]+\n    """(.+?)"""$', source, flags=re.MULTILINE | re.DOTALL)
    return [(name, " ".join(words.split())) for name, words in found]


def methods(kind: type) -> list[tuple[str, str]]:
    """Public methods of the class itself, each by the first line of its docstring."""
    found = []
    for name, value in vars(kind).items():
        inner = value.__func__ if isinstance(value, classmethod) else value
        words = inspect.getdoc(inner.fget if isinstance(inner, property) else inner)
        if name.startswith("_") or not words or not (inspect.isfunction(inner) or isinstance(inner, property)):
            continue
        found.append((f"{name}{_called(inner)}", words.splitlines()[0]))
    return found


def _called(verb: Any) -> str:
    """What follows a method's name: its arguments, without the object itself, and what it gives back."""
    if isinstance(verb, property):
        kind = inspect.signature(verb.fget).return_annotation if verb.fget else inspect.Signature.empty
        return "" if kind is inspect.Signature.empty else f": {kind}"
    return _written(inspect.signature(verb), drop=1)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
