"""`wallflower` and `python -m wallflower`."""

from __future__ import annotations

import gc
import signal
import sys

SOON = 0.01
"""Seconds until an interrupt is raised again that was dropped where it arrived."""


def main() -> None:
    """Run the command line; being told to stop, even while modules are still being loaded, is never a bug."""
    asked_to_stop: list[int] = []

    def note(number: int, _frame: object) -> None:
        """For the moment in which what could say a sentence is being loaded."""
        asked_to_stop.append(number)

    def stop(number: int, _frame: object) -> None:
        """Leave as by an exception, so that the private folders that may hold rows are removed.

        Libraries in the middle of their work may turn that exception into one of their own: what was asked is kept beside it.
        """
        asked_to_stop.append(number)
        leave()

    def leave(*_: object) -> None:
        if asked_to_stop[0] == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + asked_to_stop[0])

    def lost(error: sys.UnraisableHookArgs) -> None:
        """Python drops what is raised where nobody can catch it, such as a call from compiled code: leave a moment later."""
        if asked_to_stop and error.exc_type in {KeyboardInterrupt, SystemExit}:
            signal.signal(signal.SIGALRM, leave)
            signal.setitimer(signal.ITIMER_REAL, SOON)
        else:
            sys.__unraisablehook__(error)

    gc.set_threshold(50_000, 20, 20)  # a short command mostly loads modules, which are no garbage
    heard = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as for a command in the background of a script
        heard.append(signal.SIGINT)
    for number in heard:
        signal.signal(number, note)
    from wallflower.cli.app import run, stopped

    code = None
    try:
        sys.unraisablehook = lost
        for number in heard:
            signal.signal(number, stop)
        if not asked_to_stop:
            code = run(sys.argv[1:], asked_to_stop)
    except BaseException:
        if not asked_to_stop:
            raise
    # What was asked is done or given up. While Python shuts down it puts back the system's own way with interrupts, which
    # is to die: one that comes then must not make a finished command look killed.
    for number in (signal.SIGINT, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(stopped(sys.argv[1:], asked_to_stop[0]) if code is None else code)


if __name__ == "__main__":
    main()
