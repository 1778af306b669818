"""The OpenAPI description of the JSON interface, made from the authorisation table and the forms: it cannot fall behind."""

from __future__ import annotations

from typing import Any

from wallflower.service.authorisation import ROUTES, Route
from wallflower.service.forms import FORMS, Field, Form
from wallflower.version import __version__

WORDS = {
    ("GET", "/api/v1/openapi.json"): "This description.",
    ("GET", "/api/v1/tables"): "The tables you have a role in.",
    ("GET", "/api/v1/tables/{table}"): "What is public of a table: columns, roles, domains, your shares.",
    ("POST", "/api/v1/tables/{table}/price"): "What a question would promise and cost. Reads no row, spends nothing.",
    (
        "POST",
        "/api/v1/tables/{table}/rehearse",
    ): "The question tried on public or made-up rows. Spends nothing; 202: ask again.",
    ("POST", "/api/v1/tables/{table}/requests"): "Submit a question with its purpose; the owner, or a policy, decides.",
    ("GET", "/api/v1/requests"): "Your requests.",
    ("GET", "/api/v1/requests/{request}"): "The release, once its tick has come; 202 before.",
    ("GET", "/api/v1/requests/{request}/file"): "The published file of an answer that has one.",
    ("POST", "/api/v1/requests/{request}/withdraw"): "Withdraw a request that waits.",
    ("GET", "/api/v1/tables/{table}/ledger"): "What has been spent and what is left.",
}
BODIES = {
    "/api/v1/tables/{table}/price": "Question",
    "/api/v1/tables/{table}/rehearse": "Question",
    "/api/v1/tables/{table}/requests": "Request",
}
OWN_ID = {
    "type": "string",
    "pattern": "^[A-Za-z0-9._-]{1,64}$",
    "description": "Your own id of this request: sent twice it is one.",
}
ERROR = {
    "type": "object",
    "required": ["ok", "error"],
    "properties": {
        "ok": {"const": False},
        "error": {
            "type": "object",
            "required": ["kind", "message", "hint"],
            "properties": {name: {"type": "string"} for name in ("kind", "message", "hint")},
        },
    },
}


def document() -> dict[str, Any]:
    """The whole description, version 3.1."""
    paths: dict[str, Any] = {}
    for route in ROUTES:
        if route.path.startswith("/api/v1"):
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    questions = [_question(form) for form in FORMS.values()]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Wallflower",
            "version": __version__,
            "description": "Ask about outliers; every answer is charged.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Error": ERROR,
                "Question": {"oneOf": questions},
                "Request": {"oneOf": [_with_purpose(question) for question in questions]},
            },
        },
        "security": [{"token": []}],
    }


def _operation(route: Route) -> dict[str, Any]:
    names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    said: dict[str, Any] = {
        "summary": WORDS[route.method, route.path],
        "operationId": f"{route.method.lower()}{route.path.replace('/', '_').replace('{', '').replace('}', '')}",
        "parameters": [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names],
        "responses": {str(code): _response(words, error=code >= 400) for code, words in _answers(route)},
    }
    if route.path in BODIES:
        schema = {"$ref": f"#/components/schemas/{BODIES[route.path]}"}
        said["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return said


def _answers(route: Route) -> list[tuple[int, str]]:
    found = [(200, "Done."), (401, "Not logged in."), (403, "Not allowed, or it does not exist.")]
    if route.subject == "request" or route.path.endswith("/requests"):
        found += [(202, "Accepted, or not answered yet.")]
    return [
        *found,
        (409, "Refused by the budget or the ledger."),
        (413, "Too long."),
        (415, "Not JSON."),
        (422, "Refused, with the reason."),
    ]


def _response(words: str, *, error: bool) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"} if error else {"type": "object"}
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def _question(form: Form) -> dict[str, Any]:
    fields = {field.name: _field(field) for field in form.fields}
    needed = [field.name for field in form.fields if field.needed]
    return {
        "type": "object",
        "description": form.title,
        "required": ["command", "fields"],
        "properties": {
            "command": {"const": form.command},
            "fields": {"type": "object", "required": needed, "properties": fields, "additionalProperties": False},
        },
    }


def _with_purpose(question: dict[str, Any]) -> dict[str, Any]:
    purpose = {"type": "string", "minLength": 1, "maxLength": 300}
    return {
        **question,
        "required": [*question["required"], "purpose"],
        "properties": {**question["properties"], "purpose": purpose, "id": OWN_ID},
    }


def _field(field: Field) -> dict[str, Any]:
    text: dict[str, Any] = {"type": "string", "description": f"{field.label} {field.hint}".strip()}
    if field.kind == "columns":
        return {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": text["description"]}
    if field.kind == "number":
        return {
            "type": ["integer", "string"],
            "minimum": 0,
            "pattern": "^[0-9]{1,9}$",
            "description": text["description"],
        }
    if field.kind == "choice":
        return {**text, "enum": list(field.choices)}
    return text
