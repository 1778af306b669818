"""Messages over MQTT 5, through paho: carries bytes and knows no privacy.

Quality of service 1, one clean session per connection. The broker may lose what it has acknowledged when it is killed;
nothing here repairs that, because a sensor sends again until its receipt comes.
"""

from __future__ import annotations

import queue
import ssl
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from wallflower.errors import UsageError
from wallflower.stream.messages import LARGEST
from wallflower.stream.transport import Delivery

INFLIGHT = 32
"""Deliveries the broker may have open with a party; it holds the rest back until some are dealt with."""
QUEUED = 64
"""Publications that may wait for the broker's acknowledgement; then `send` refuses."""
_REFUSED = {0x84: "protocol", 0x86: "name or password", 0x87: "name or password", 0x8A: "banned", 0x85: "client id"}


@dataclass(frozen=True, kw_only=True)
class Login:
    """How a party proves who it is. The broker's access list goes by `user`."""

    user: str | None = None
    password: str | None = None
    ca: Path | None = None
    """The certificate authority that signed the broker's certificate, for mqtts://; None trusts the system's."""


class MqttTransport:
    """One party's connection; it comes back by itself, waiting longer each time, and subscribes anew."""

    def __init__(self, broker: str, topics: Sequence[str], *, client: str, login: Login) -> None:
        try:
            from paho.mqtt import client as paho
            from paho.mqtt.packettypes import PacketTypes
            from paho.mqtt.properties import Properties
        except ImportError:
            raise UsageError("MQTT needs paho-mqtt.", hint="Run: pip install 'wallflower[stream]'") from None
        self._topics = list(topics)
        self._broker = broker
        self._inbox: queue.Queue[tuple[int, Any]] = queue.Queue(maxsize=8 * INFLIGHT)
        self.overflowed = 0
        self._problem = ""
        self.connections = 0
        self._up = False
        self._client = paho.Client(
            paho.CallbackAPIVersion.VERSION2, client_id=client, protocol=paho.MQTTv5, manual_ack=True
        )
        self._client.max_inflight_messages_set(20)
        self._client.max_queued_messages_set(QUEUED)
        self._client.reconnect_delay_set(1, 30)
        self._client.on_connect = self._connected
        self._client.on_disconnect = self._disconnected
        self._client.on_message = self._arrived
        parts = urlsplit(broker)
        if login.user is not None:
            self._client.username_pw_set(login.user, login.password)
        if parts.scheme == "mqtts":
            self._client.tls_set_context(_tls(login.ca))
        wishes = Properties(PacketTypes.CONNECT)
        wishes.ReceiveMaximum = INFLIGHT
        wishes.MaximumPacketSize = LARGEST + 1024
        port = parts.port or (8883 if parts.scheme == "mqtts" else 1883)
        self._client.connect_async(parts.hostname or "", port, keepalive=30, clean_start=True, properties=wishes)
        self._client.loop_start()

    def send(self, topic: str, payload: bytes, /) -> bool:
        if not self._up:
            return False
        return int(self._client.publish(topic, payload, qos=1).rc) == 0

    def receive(self, timeout: float, /) -> Delivery | None:
        if self._problem:
            raise UsageError(f"the broker at {self._broker} refuses this party: {self._problem}.", hint=_HINT)
        try:
            connection, message = self._inbox.get(timeout=timeout) if timeout > 0 else self._inbox.get_nowait()
        except queue.Empty:
            return None

        def done() -> None:
            if connection == self.connections:  # an older connection's numbers mean nothing to this one
                self._client.ack(message.mid, message.qos)

        return Delivery(message.topic, message.payload, done)

    def close(self) -> None:
        """Say goodbye and stop the network thread."""
        self._up = False
        self._client.disconnect()
        with suppress(
            AttributeError
        ):  # paho forgets its thread as it ends, perhaps between looking for it and waiting for it
            self._client.loop_stop()
        # Paho closes its waking pair of sockets only when it is collected, at whatever moment that is.
        self._client._reset_sockets()  # noqa: SLF001 - it has no public door

    def _connected(self, client: Any, _userdata: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        if reason.is_failure:
            if reason.value in _REFUSED:
                self._problem = _REFUSED[reason.value]
            return
        self.connections += 1
        client.subscribe([(topic, _once()) for topic in self._topics])
        self._up = True

    def _disconnected(self, _client: Any, _userdata: Any, _flags: Any, _reason: Any, _properties: Any) -> None:
        self._up = False

    def _arrived(self, _client: Any, _userdata: Any, message: Any) -> None:
        try:  # the broker counts what is open, so no more than INFLIGHT of ours wait here
            self._inbox.put_nowait((self.connections, message))
        except queue.Full:  # only a flood at quality of service 0, which no party of ours sends, gets here
            self.overflowed += 1


_HINT = (
    "Give --user and a password by --password-file or WALLFLOWER_MQTT_PASSWORD; the broker's own list must know both."
)


def _once() -> Any:
    from paho.mqtt.subscribeoptions import SubscribeOptions

    return SubscribeOptions(qos=1, noLocal=True)


class _ClosingContext(ssl.SSLContext):
    """Shakes hands as soon as a socket is wrapped, and closes it when that fails: paho forgets the socket of a refused handshake."""

    def wrap_socket(self, *arguments: Any, **settings: Any) -> ssl.SSLSocket:
        wrapped = super().wrap_socket(*arguments, **settings)
        try:
            wrapped.do_handshake()
        except BaseException:
            wrapped.close()
            raise
        return wrapped


def _tls(ca: Path | None) -> ssl.SSLContext:
    context = _ClosingContext(ssl.PROTOCOL_TLS_CLIENT)  # checks the certificate and the host's name
    try:
        if ca is None:
            context.load_default_certs()
        else:
            context.load_verify_locations(cafile=str(ca))
    except (OSError, ssl.SSLError):
        raise UsageError(f"the certificate authority '{ca}' cannot be read.", hint="It is a PEM file.") from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
