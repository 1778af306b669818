"""Messages over MQTT 5, through paho: carries bytes and knows no privacy.

Quality of service 1, one clean session per connection, one subscription per topic. The broker may lose what it has acknowledged when
it is killed; nothing here repairs that, because a sensor sends again until its receipt comes. A topic that sends more than its quota, or
at quality of service 0, which no party of ours does, is acknowledged, dropped and unsubscribed, and tried again later: nothing less keeps
the broker's queue free for the others.
"""

from __future__ import annotations

import queue
import ssl
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from wallflower.errors import UsageError
from wallflower.stream.messages import LARGEST
from wallflower.stream.quota import Quotas
from wallflower.stream.transport import Delivery

INFLIGHT = 32
"""Deliveries the broker may have open with a party; it holds the rest back until some are dealt with."""
QUEUED = 64
"""Publications that may wait for the broker's acknowledgement; then `send` refuses."""
AT_ONCE = 50
"""Topics in one request to subscribe; with the longest prefix and names it is shorter than any broker's largest packet here."""
_REFUSED = {0x84: "protocol", 0x86: "name or password", 0x87: "name or password", 0x8A: "banned", 0x85: "client id"}


@dataclass(frozen=True, kw_only=True)
class Login:
    """How a party proves who it is. The broker's access list goes by `user`."""

    user: str | None = None
    password: str | None = None
    ca: Path | None = None
    """The certificate authority that signed the broker's certificate, for mqtts://; None trusts the system's."""


def paho() -> Any:
    """The library that speaks MQTT."""
    try:
        from paho.mqtt import client
    except ImportError:
        raise UsageError("MQTT needs paho-mqtt.", hint="Run: pip install 'wallflower[stream]'") from None
    return client


class MqttTransport:
    """One party's connection; it comes back by itself, waiting longer each time, and subscribes anew."""

    def __init__(
        self,
        broker: str,
        topics: Sequence[str],
        *,
        client: str,
        login: Login,
        quota: float | None = None,
        largest: int = LARGEST,
    ) -> None:
        """`quota` is how many messages a second one topic may bring; `largest` how long a message may be."""
        self._paho = paho()
        self._topics, self._broker, self._name, self._login = list(topics), broker, client, login
        self._quotas = None if quota is None else Quotas(quota)
        self._largest = largest
        self._inbox: queue.Queue[tuple[int, Any]] = queue.Queue(maxsize=8 * INFLIGHT)
        self.dropped: Counter[str] = Counter()
        """What never reached the party: floods, retained and oversized messages."""
        self.cut_off: Counter[str] = Counter()
        """How often each topic was unsubscribed."""
        self._problem = ""
        self.connections = 0
        self._up = self._clogged = False
        self._client = self._open()

    def _open(self) -> Any:
        from paho.mqtt.packettypes import PacketTypes
        from paho.mqtt.properties import Properties

        paho = self._paho
        client = paho.Client(
            paho.CallbackAPIVersion.VERSION2, client_id=self._name, protocol=paho.MQTTv5, manual_ack=True
        )
        client.max_inflight_messages_set(20)
        client.max_queued_messages_set(QUEUED)
        client.reconnect_delay_set(1, 30)
        client.on_connect = self._connected
        client.on_disconnect = self._disconnected
        client.on_message = self._arrived
        parts = urlsplit(self._broker)
        if self._login.user is not None:
            client.username_pw_set(self._login.user, self._login.password)
        if parts.scheme == "mqtts":
            client.tls_set_context(_tls(self._login.ca))
        wishes = Properties(PacketTypes.CONNECT)
        wishes.ReceiveMaximum = INFLIGHT
        wishes.MaximumPacketSize = self._largest + 1024
        port = parts.port or (8883 if parts.scheme == "mqtts" else 1883)
        client.connect_async(parts.hostname or "", port, keepalive=30, clean_start=True, properties=wishes)
        client.loop_start()
        return client

    def send(self, topic: str, payload: bytes, /) -> bool:
        if not self._up:
            return False
        return int(self._client.publish(topic, payload, qos=1).rc) == 0

    def receive(self, timeout: float, /) -> Delivery | None:
        if self._problem:
            raise UsageError(f"the broker at {self._broker} refuses this party: {self._problem}.", hint=_HINT)
        if self._clogged:
            self._start_afresh()
        self._let_in_again()
        try:
            connection, message = self._inbox.get(timeout=timeout) if timeout > 0 else self._inbox.get_nowait()
        except queue.Empty:
            return None
        client = self._client

        def done() -> None:
            if connection == self.connections:  # an older connection's numbers mean nothing to this one
                client.ack(message.mid, message.qos)

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

    def _start_afresh(self) -> None:
        """A new connection with a clean session, and an empty inbox: the broker forgets what it held, and outboxes send again."""
        self.close()
        self._clogged = False
        self.dropped["reconnections"] += 1
        with suppress(queue.Empty):
            while True:
                self._inbox.get_nowait()
        self._client = self._open()

    def _let_in_again(self) -> None:
        if self._quotas is not None and self._up:
            for topic in self._quotas.due(time.monotonic()):
                self._client.subscribe([(topic, _once())])

    def _connected(self, client: Any, _userdata: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        if reason.is_failure:
            if reason.value in _REFUSED:
                self._problem = _REFUSED[reason.value]
            return
        self.connections += 1
        wanted = [topic for topic in self._topics if self._quotas is None or not self._quotas.is_cut_off(topic)]
        for start in range(0, len(wanted), AT_ONCE):
            client.subscribe([(topic, _once()) for topic in wanted[start : start + AT_ONCE]])
        self._up = True

    def _disconnected(self, _client: Any, _userdata: Any, _flags: Any, _reason: Any, _properties: Any) -> None:
        self._up = False

    def _arrived(self, client: Any, _userdata: Any, message: Any) -> None:
        """On the network thread. Whatever is not handed on is acknowledged here, or the broker's window would stay taken."""
        if self._quotas is not None and not self._welcome(client, message):
            client.ack(message.mid, message.qos)
            return
        try:
            self._inbox.put_nowait((self.connections, message))
        except queue.Full:
            self.dropped["inbox_full"] += 1
            self._clogged = True
            client.ack(message.mid, message.qos)

    def _welcome(self, client: Any, message: Any) -> bool:
        quotas, topic, now = self._quotas, message.topic, time.monotonic()
        if quotas is None:
            return True
        if message.retain:
            self.dropped["retained"] += 1
            return False
        if quotas.is_cut_off(topic):
            self.dropped["flood"] += 1
            return False
        if message.qos == 0 or not quotas.fair(topic, now):
            self.dropped["flood"] += 1
            if quotas.cut_off(topic, now):
                client.unsubscribe(topic)
                self.cut_off[topic] += 1
            return False
        return True


_HINT = (
    "Give --user and a password by --password-file or WALLFLOWER_MQTT_PASSWORD; the broker's own list must know both."
)


def _once() -> Any:
    """Quality of service 1, nothing of one's own, and nothing that was retained before."""
    from paho.mqtt.subscribeoptions import SubscribeOptions

    return SubscribeOptions(qos=1, noLocal=True, retainHandling=2)


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
