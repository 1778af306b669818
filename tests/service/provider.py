"""A small OpenID provider on loopback, for tests: it lets a named subject in at once, or lies in a chosen way."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey


@cache
def key_of(owner: str) -> RSAKey:
    """Drawn once for every provider of these tests: nothing changes a key, and a new one for each took most of their time."""
    return RSAKey.generate_key(2048, {"kid": "one"})


class Provider:
    def __init__(self) -> None:
        self.key = key_of("provider")
        self.stranger = key_of("stranger")
        self.subject = "subject-1"
        self.lie = ""
        self.codes: dict[str, dict[str, str]] = {}
        self.issuer = ""

    def token(self, query: dict[str, str]) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer if self.lie != "issuer" else "https://elsewhere.example",
            "aud": query["client_id"] if self.lie != "audience" else "another-client",
            "sub": self.subject,
            "nonce": query["nonce"] if self.lie != "nonce" else "replayed",
            "iat": now,
            "exp": now + 300 if self.lie != "expired" else now - 300,
        }
        if self.lie == "shared key":  # signed with the public key's bytes as if they were a secret that both know
            return jwt.encode({"alg": "HS256", "kid": "one"}, claims, OctKey.import_key(self.key.as_pem(private=False)))
        return jwt.encode(
            {"alg": "RS256", "kid": "one"}, claims, self.stranger if self.lie == "signature" else self.key
        )


@contextmanager
def provider():
    state = Provider()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_arguments) -> None:
            pass

        def _json(self, value) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            split = urlsplit(self.path)
            if split.path == "/.well-known/openid-configuration":
                self._json(
                    {
                        "issuer": state.issuer,
                        "authorization_endpoint": f"{state.issuer}/authorize",
                        "token_endpoint": f"{state.issuer}/token",
                        "jwks_uri": f"{state.issuer}/keys",
                    }
                )
            elif split.path == "/keys":
                self._json({"keys": [state.key.as_dict(private=False)]})
            elif split.path == "/authorize":
                query = {name: values[0] for name, values in parse_qs(split.query).items()}
                code = f"code-{len(state.codes)}"
                state.codes[code] = query
                self.send_response(303)
                self.send_header(
                    "Location", f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"
                )
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            form = {k: v[0] for k, v in parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()).items()}
            query = state.codes.pop(form.get("code", ""), None)
            if query is None or form.get("client_secret") != "the secret" or not _verified(query, form):
                self.send_error(400)
                return
            self._json({"id_token": state.token(query), "access_token": "x", "token_type": "Bearer"})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.issuer = f"http://127.0.0.1:{server.server_port}"
    # It looks this often whether it is to stop, and each of dozens of tests waits for that: half a second unless said otherwise.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _verified(query: dict[str, str], form: dict[str, str]) -> bool:
    """PKCE: whoever brings the code must know what its challenge was made of."""
    import base64
    import hashlib

    digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=") == query["code_challenge"]
