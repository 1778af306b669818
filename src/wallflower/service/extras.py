"""What the service needs beyond the package itself, told before anything starts."""

from __future__ import annotations

from importlib.util import find_spec

from wallflower.errors import UsageError


def check_installed() -> None:
    missing = [name for name in ("starlette", "uvicorn", "jinja2") if find_spec(name) is None]
    if missing:
        raise UsageError(f"the service needs {', '.join(missing)}.", hint="Run: pip install 'wallflower[service]'")
