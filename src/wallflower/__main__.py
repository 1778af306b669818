"""`wallflower` and `python -m wallflower`."""

from __future__ import annotations

import gc
import os
import signal
import sys

SOON = 0.01
"""Seconds until an interrupt is raised again that was dropped where it arrived."""


class _Stopping:
    """What this process has been asked by signals, and how it leaves."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self._heard = [signal.SIGTERM]
        # One that is ignored stays so: interrupts for a command in the background of a script, the end of its terminal under nohup.
        self._heard += [
            number for number in (signal.SIGINT, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN
        ]

    def note(self) -> None:
        """Only remember, while what could say a sentence is being loaded."""
        for number in self._heard:
            signal.signal(number, lambda asked, _frame: self.asked.append(asked))

    def obey(self) -> None:
        """Leave as by an exception, so that the private folders that may hold rows are removed.

        Libraries in the middle of their work may turn that exception into one of their own: what was asked is kept beside it.
        """
        sys.unraisablehook = self._dropped
        for number in self._heard:
            signal.signal(number, self._stop)

    def _stop(self, number: int, _frame: object) -> None:
        self.asked.append(number)
        self._leave()

    def _leave(self, *_: object) -> None:
        if self.asked[0] == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + self.asked[0])

    def _dropped(self, error: sys.UnraisableHookArgs) -> None:
        """Python drops what is raised where nobody can catch it, such as a call from compiled code: leave a moment later."""
        if self.asked and error.exc_type in {KeyboardInterrupt, SystemExit}:
            signal.signal(signal.SIGALRM, self._leave)
            signal.setitimer(signal.ITIMER_REAL, SOON)
        else:
            sys.__unraisablehook__(error)

    def ignore(self) -> None:
        """What was asked is done or given up. While Python shuts down it puts back the system's own way with signals, which
        is to die: one that comes then must not make a finished command look killed.
        """
        for number in {signal.SIGINT, signal.SIGALRM, *self._heard}:
            signal.signal(number, signal.SIG_IGN)


def main() -> None:
    """Run the command line; being told to stop, even while modules are still being loaded, is never a bug."""
    _open_closed_places()
    gc.set_threshold(50_000, 20, 20)  # a short command mostly loads modules, which are no garbage
    stopping = _Stopping()
    stopping.note()
    from wallflower.cli.app import run, stopped

    code = None
    try:
        stopping.obey()
        if not stopping.asked:
            code = run(sys.argv[1:], stopping.asked)
    except BaseException:
        if not stopping.asked:
            raise
    stopping.ignore()
    code = stopped(sys.argv[1:], stopping.asked[0]) if code is None else code
    _forget_unread_words()
    sys.exit(code)


def _open_closed_places() -> None:
    """What a shell has closed (`>&-`) would be the place of the next file that is opened, and what is printed would go there.

    Instead nothing can be read from it or printed to it, which is told as it is of a disk that is full; words for the owner are dropped.
    """
    for name, flags, mode in (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        if getattr(sys, name) is None:
            place = os.open(os.devnull, flags)  # the lowest number that is free, and so the one that was closed
            os.set_inheritable(place, True)  # or it would be closed again in the processes of a service
            setattr(sys, name, os.fdopen(place, mode, closefd=False))


def _forget_unread_words() -> None:
    """What could not be printed would fail once more while Python shuts down, which makes 120 of any exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
