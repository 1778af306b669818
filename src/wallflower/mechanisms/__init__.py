"""Noise plus a promise: the only code that draws for a release.

By how far one neighbouring change moves the input, which is the caller's to prove (`guarantee(distance=…, neighbours=…)`):

    laplace             DiscreteLaplace         an integer plus noise
    exponential         Exponential             one of many scored candidates; bounded range, so best where many selections compose
    permute_and_flip    PermuteAndFlip          one of many scored candidates; never worse than Exponential for a single selection
    top                 TopH                    h of many scored candidates, without replacement
    logistic            FadingResponse          a bit, flipped the less the further its answer is from changing

By what the rows allow (`guarantee(neighbours=…)`; `profiles` says how far an integer can move within t changes):

    lomax               Lomax                   an integer plus noise on a smooth bound of its sensitivity
    inverse_sensitivity InverseSensitivity      an integer of a public range, by how many rows would have to change
    noisy_scale         NoisyScale              an upper bound of a smooth scale
    quantile            Quantile                a quantile of numbers on a public grid

For the readings of a sensor:

    perturbation        Perturbation            noise on each reading, column by column
    layer               LayerResponse           how far out a reading lies
    layer_price         LayerPrice              what the two cost together
    alarm_clock         AlarmClock              one alarm a period at most
    sampled_slot        SampledSlot             one slot of a period, and its state

`shuffle` and `uniform` look at no row. A mechanism is a frozen value, and calling it draws; `LayerPrice` is but a price. The law of each draw is public
(`log_probabilities` and the like) so that audits need no sampling. The proof lies beside each in a Markdown file of the same name, pinned to the code.
"""
