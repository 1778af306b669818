"""Noise plus a promise: the only code that draws for a release.

    laplace             DiscreteLaplace         an integer plus noise
    exponential         Exponential             one of many scored candidates; bounded range, so best where many selections compose
    permute_and_flip    PermuteAndFlip          one of many scored candidates; never worse than Exponential for a single selection
    top                 TopH                    h of many scored candidates, without replacement
    logistic            FadingResponse          a bit, flipped the less the further its answer is from changing

Each is a frozen value. `guarantee(distance=…, neighbours=…)` says what a draw promises when one neighbouring change moves the input by
at most `distance`; that bound is the caller's to prove. Calling it draws. The law of each draw is public (`log_probabilities` and the
like) so that audits need no sampling. The proof lies beside each in a Markdown file of the same name, pinned to the code.
"""
