"""Every context decided on a GPU: the processor's flags, bit for bit, sooner.

`device_choice` says whether a question uses one, and refuses in a sentence; `problems` is what the kernel of a detector (`detectors/device`) asks of the rows, as plain arrays;
`slices` how contexts are cut into blocks; `engine` runs them and keeps counts of scores; `cuda` finds a device and drives it
with `kernels.cu`; the tests compile the same source for a processor. `problems`, `slices`, `engine` and `cuda` need numpy alone.
"""
