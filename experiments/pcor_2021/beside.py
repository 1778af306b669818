"""A section of RESULTS.md: permute-and-flip and the context languages beside the paper's searches, on the same outliers."""

from __future__ import annotations

import numpy as np

from experiments.pcor_2021.study import Setting
from experiments.pcor_2021.written import EPSILONS, LANGUAGES

HEADING = "## Permute-and-flip and context languages beside the paper's searches (LOF, population)"


def beside(results, written, most):
    """`results` and `written`: of the same outliers, in the same order."""
    out = [
        f"{HEADING}\n",
        f"The first {len(results)} of the outliers that Tables 2 and 3 draw; every line is about these alone. Searches that select once may flip instead, at the same price. For `exact` no draw is needed to compare the two: below is the expectation of how many rows the answer has fewer than the best context, over the selection's own noise, averaged over the outliers. Flipping is never worse (`src/wallflower/mechanisms/permute_and_flip.md`), and gains most where few contexts are near the best.\n",
        "| search | ε | rows below the best, exponential | permute-and-flip | mean of the outliers' own quotients | largest quotient |",
        "|---|---|---|---|---|---|",
    ]
    for epsilon in ("0.01", "0.05", "0.1", "0.2", "0.4"):
        short = np.array([one[f"short {Setting('exact', epsilon).name}"] for one in results])
        some = short[short[:, 1] > 1e-9]
        quotients = some[:, 0] / some[:, 1]
        out.append(
            f"| exact | {epsilon} | {short[:, 0].mean():.2f} | {short[:, 1].mean():.2f} | {quotients.mean():.3f} | {quotients.max():.2f} |"
        )
    out += [
        "\nThe searches that see a part of the contexts, one draw for each outlier. The samples of `uniform` and `walk` are not the same for both selections, so most of the difference is theirs.\n",
        "| search | ε | mean ratio, exponential | permute-and-flip | difference, 90 % CI | rows below the best, exponential | permute-and-flip |",
        "|---|---|---|---|---|---|---|",
    ]
    for search in ("uniform", "walk"):
        pair = [ratios(results, Setting(search, "0.2", flip=flip)) for flip in (False, True)]
        short = [(1 - ratio) @ bests(results) / len(results) for ratio in pair]
        out.append(
            f"| {search} | 0.2 | {pair[0].mean():.4f} | {pair[1].mean():.4f} | {interval(pair[1] - pair[0])} | {short[0]:.1f} | {short[1]:.1f} |"
        )
    for search in ("dfs", "bfs"):
        one = ratios(results, Setting(search, "0.2"))
        out.append(
            f"| {search}, n = 50 | 0.2 | {one.mean():.4f} | selects 51 times: – | – | {(1 - one) @ bests(results) / len(one):.1f} | – |"
        )
    out += [
        "\nIn other languages (exact search, permute-and-flip). Every ratio is to the best context of `sets`, so the loss of a simpler language is in it; the means are over the outliers that have a valid context in the language, one draw each.\n",
        "| contexts | at most so many | outliers with a valid context | best context of the language | answer at ε = 0.01 | at ε = 0.05 | at ε = 0.2 |",
        "|---|---|---|---|---|---|---|",
    ]
    for language in LANGUAGES:
        pairs = [(one[language], one[LANGUAGES[0]]["best"]) for one in written if one[language] is not None]
        cells = [
            f"{np.mean([answer[kind] / best for answer, best in pairs]):.3f}" if pairs else "–"
            for kind in ("best", *EPSILONS)
        ]
        out.append(f"| `{language}` | {most[language]:,} | {len(pairs)} of {len(written)} | {' | '.join(cells)} |")
    return "\n".join(out) + "\n"


def ratios(results, setting):
    return np.array([one[setting.name] for one in results if one.get(setting.name) is not None])


def interval(differences):
    half = 1.645 * differences.std(ddof=1) / np.sqrt(len(differences))
    return f"({differences.mean() - half:+.4f}, {differences.mean() + half:+.4f})"


def bests(results):
    return np.array([one["best"] for one in results])
