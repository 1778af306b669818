"""Counts and profiles of more rows than one process can hold: the same kernels, strip by strip or part beside part, and the same integers.

    halos      how far a strip must see beyond its own rows, for each thing that is counted
    tasks      what is computed in a strip or a part, wherever it lies
    degrees    degrees of all rows, and the rows near the threshold with them
    core       the deepest core of a graph that no strip sees whole
    profile    covers and profiles from the rows near the threshold
    measure    the count and the profile of a table

Why every number is that of the whole table is in `parts.md`.
"""
