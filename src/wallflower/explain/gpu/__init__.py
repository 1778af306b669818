"""Every context decided on a GPU: the processor's flags, bit for bit, sooner.

`device_choice` says whether a question uses one, and refuses in a sentence; `problems` is what a detector asks of the rows, as plain arrays;
`slices` how contexts are cut into blocks; `engine` runs them and keeps counts of scores; `cuda` finds and drives a device, `host` compiles
the same source, `kernels.cu`, for a processor, which is how it is tested. `problems`, `slices`, `engine`, `cuda` and `host` need numpy alone.
"""
