"""Exact samplers: integers and fractions in, integers out; no float ever touches a draw.

    entropy           where the bits come from: the operating system, or a seed that marks a release as not private
    uniform           an integer below n; how many of m fair coins show heads
    coins             True with probability e^(−x), or 1/(1+e^ε)
    laplace           discrete Laplace
    enclosure         integers on both sides of 2^bits·e^(−x), as tight as asked
    scores            what every selection asks of its scores
    levels            the lazy inverse CDF that `selection` stands on
    permute_and_flip  permute-and-flip
    selection         one of millions of scored candidates: exponential mechanism, permute-and-flip, h without replacement

Only `mechanisms` and `audit` import samplers; anyone may name the type `entropy.Entropy`. Every sampler is compared with its
exact law (`tests/noise`, `tests/statistics`); Laplace noise and the selections also with OpenDP.

Why not OpenDP at run time: it cannot be seeded for tests, it has no selection by levels, and one call costs several times as much
(`python -m benchmarks.noise` measures both). It is the oracle instead.
"""
