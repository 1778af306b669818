"""A small TCP proxy on loopback that can cut every connection that runs through it."""

from __future__ import annotations

import contextlib
import socket
import threading


class Proxy:
    """Carries bytes to a port until it cuts what runs through it; afterwards new connections are carried again."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self._left: list[int] = []
        self.cuts = 0
        """How often it was cut off by `cut_after`."""
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._port))
            except OSError:
                near.close()
                continue
            with self._lock:
                self._pairs.append((near, far))
            thread = threading.Thread(target=self._serve, args=(near, far), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, near: socket.socket, far: socket.socket) -> None:
        back = threading.Thread(target=self._carry, args=(far, near), daemon=True)
        back.start()
        self._carry(near, far)
        back.join()
        near.close()  # not while the other thread reads from it: its number could be another connection's by then
        far.close()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if self._is_the_last():
                    self.cut()
                    break
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _is_the_last(self) -> bool:
        with self._lock:
            if not self._left:
                return False
            self._left[0] -= 1
            if self._left[0] > 0:
                return False
            del self._left[0]
            self.cuts += 1
            return True

    def cut_after(self, *pieces: int) -> None:
        """Cut when so many pieces more have come, of either direction; the last of them is lost. Then when so many more have."""
        with self._lock:
            self._left = list(pieces)

    def cut(self) -> None:
        """End every connection at once, in the middle of whatever it was carrying."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._threads[0].join()  # no connection is taken in any more
        self.cut()
        for thread in self._threads[1:]:
            thread.join()
