"""What holds for every test, on however busy a machine and however the run was started."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# Nothing is timed, so that a busy machine fails nothing.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# A run in the background of a script inherits that interrupts are ignored, and would hand that on to the commands that tests
# start and then interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
