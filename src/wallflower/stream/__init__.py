"""Which readings misbehave, seen through noise that was added at their source.

The parties `sensor`, `analyst` and `corrector` are pure state machines over `messages` and know nothing else of this package: the
import graph is the trust model, so nothing is imported here. By task: `declaration` (read by `parser`) says what is
public; `assembly` makes parties and the promise from it; `book` is a sensor's ledger and outbox; `sensor_loop` and `analyst_loop` put
parties to work on a line; `results` keeps decisions; `transport` carries messages in one process and `mqtt` between hosts; `broker` writes mosquitto's configuration;
`sensor_process` keeps a sensor busy, with readings from `feed`; `simulation` runs everything in one process, and `simulated_fleet` gives it
readings and remembers them; `facts` is what each party can say at the end.
"""
