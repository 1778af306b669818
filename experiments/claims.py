"""The claims of the five papers that `summary` looks up, paper by paper."""

from __future__ import annotations

from experiments.lookup import At, Claim

PAPERS = {
    "pcor_2021": "PCOR, SIGMOD 2021",
    "sensitive_privacy_2022": "Sensitive privacy, 2022",
    "outlier_counts_2015": "Outlier counts, 2015",
    "streams_2017": "Streams, 2017",
    "plain_k_anonymity_2009": "Plain k-anonymity, EDBT 2009",
}

_SEARCHES, _BY_EPSILON = "Tables 2 and 3", "Tables 8 and 9"
_RATIO = "ours: mean ratio"


def _bfs(epsilon: str) -> At:
    return At(_BY_EPSILON, ("bfs, the paper's cost", "50", epsilon), _RATIO)


def _exact(epsilon: str) -> At:
    return At(_BY_EPSILON, ("exact", "–", epsilon), _RATIO)


EXPLAIN = [
    Claim(
        "pcor_2021", "mean utility ratio of the private answer at ε = 0.2 (LOF, population)", "0.90 (bfs)", _bfs("0.2"),
        _exact("0.2"), "partly", "the rows are not the paper's; looking at every context makes the search unnecessary",
    ),
    Claim(
        "pcor_2021", "the same at ε = 0.05", "0.67 (bfs)", _bfs("0.05"), _exact("0.05"), "yes, in shape",
        "one selection at ε instead of n + 1 at a share of it",
    ),
    Claim(
        "pcor_2021", "directed searches beat uniform sampling", "uniform 0.65, bfs 0.90",
        At(_SEARCHES, ("uniform, the paper's cost",), _RATIO), _exact("0.2"), "no", "on these rows they are within each other's intervals",
    ),
    Claim(
        "pcor_2021", "no loss above e^ε was seen", "on contexts valid for both tables",
        At("What the promise leaves open", ("salary-reduced", "grubbs"), "largest δ"), "`--guarantee full` has no condition", "no",
        "outside the common contexts the loss is infinite; the column shows the largest δ seen",
    ),
]  # fmt: skip

_DP = "DP ours"
IDENTIFY = [
    Claim(
        "sensitive_privacy_2022", "true anomalies of Mammography", "75", At("Table 1", ("Mammography",), "ours, labelled"),
        At("Table 1", ("Mammography",), "ours, all"), "only if unlabelled ones are not counted", "the text does not say which are counted",
    ),
    Claim(
        "sensitive_privacy_2022", "mean error of SP, random values, Synthetic", "3.2173E-5",
        At("Table 2", ("Synthetic",), "SP ours"), At("Table 2", ("Synthetic",), "ours (λ*_k)"), "yes",
        "it is the error of an empty place, whatever the data are",
    ),
    Claim(
        "sensitive_privacy_2022", "mean error of DP, random values", "0.4750", At("Table 2", ("Synthetic",), _DP),
        At("Table 2", ("Synthetic",), "ours (λ*_k)"), "yes", "1/(1 + e^0.1); SP's promise is weaker, which is what buys the gap",
    ),
    Claim(
        "sensitive_privacy_2022", "baseline B2 costs 2ε", "0.2", At("What B1 and B2 cost in truth", ("Mammography",), "B2, claimed"),
        At("What B1 and B2 cost in truth", ("Mammography",), "B2, true"), "no", "the count it noises moves by up to A·β",
    ),
    Claim(
        "sensitive_privacy_2022", "answering every record at ε = 0.1", "0.1 each",
        At("What answering every record costs", ("Mammography",), "all answers cost at least"),
        At("What answering every record costs", ("Mammography",), "charged at most"), "no",
        "a record influences every question near it; the ledger charges by ball",
    ),
]  # fmt: skip

_FIGURE_3 = "Figure 3: Synthetic 1"
COUNT = [
    Claim(
        "outlier_counts_2015", "noise of the smooth mechanism, Synthetic 1, ε = 0.7", "below 7",
        At(_FIGURE_3, ("0.7",), "smooth, Theorem 2"), At(_FIGURE_3, ("0.7",), "Lomax, ours"), "no",
        "impossible under the paper's own theorem ([proof](outlier_counts_2015/why_not_7.md))",
    ),
    Claim(
        "outlier_counts_2015", "the same at ε = 0.9, capped at the global sensitivity", "below 7",
        At(_FIGURE_3, ("0.9",), "the same, capped"), At(_FIGURE_3, ("0.9",), "Lomax, ours"), "no", "as above",
    ),
    Claim(
        "outlier_counts_2015", "top-h selection spends ε (precision at h = 1, ε = 1.6, Synthetic 2)", "figure without numbers",
        At("Figure 5", ("1", "1.6"), "precision, as published"), At("Figure 5", ("1", "1.6"), "precision, ours"), "no",
        "the published exponent spends 2ε",
    ),
]  # fmt: skip

STREAM = [
    Claim(
        "streams_2017", "outliers found at ε = 0.1, separation 220", "about 75 %", At("Figure 3", ("220", "0.1", "stated"), "paper, DBSCAN 0.8"),
        At("Figure 3", ("220", "0.1", "stated"), "private, decided"), "depends on DBSCAN's parameters, which are not named",
        "the paper's accuracy is bought with true radii shown to the corrector; a private bit at this ε says nothing",
    ),
    Claim(
        "streams_2017", "outliers found at ε = 1, separation 220", "correction not always needed",
        At("Figure 3", ("220", "1", "stated"), "paper, DBSCAN 0.8"), At("Figure 3", ("220", "1", "stated"), "private, decided"), "brittle",
        "stated ε = 1 is a total of about 2 over two columns; at that total the private bit finds them against everyone",
    ),
]  # fmt: skip

_LEVELS = "Levels and attacks"
_MATCHING = "Level matching beside them"
PUBLISH = [
    Claim(
        "plain_k_anonymity_2009", "information loss of ExpC, 10,000 rows", "below 1", At("Figure 13 (a)", ("10,000",), "ExpC"),
        At("Figure 13 (a)", ("10,000",), "hybrid"), "no", "and rows must be suppressed: Theorem 6.2 is false",
    ),
    Claim(
        "plain_k_anonymity_2009", "stopping the attacks of Theorems 4.1 and 4.2 is enough (abnormal people found, Adult)", "the attacks considered",
        At(_LEVELS, ("adult", "48,842", "attack"), "abnormal people"), At(_LEVELS, ("adult", "48,842", "candidate"), "abnormal people"),
        "no", "the adversary knows real quasi-identifiers, not corners; level candidate rules this out",
    ),
    Claim(
        "plain_k_anonymity_2009", "Theorem 5.1 protects (abnormal people found, Adult)", "proved",
        At(_LEVELS, ("adult", "48,842", "strict"), "abnormal people"), At(_LEVELS, ("adult", "48,842", "candidate"), "abnormal people"),
        "here, but not in general", "the theorem is false ([counterexamples](plain_k_anonymity_2009/COUNTEREXAMPLES.md)), at more suppression",
    ),
    Claim(
        "plain_k_anonymity_2009", "removing outliers hides them (abnormal people found)", "baseline",
        At(_LEVELS, ("adult", "48,842", "remove all (NOT PRIVATE)"), "abnormal people"),
        At(_LEVELS, ("adult", "48,842", "candidate"), "abnormal people"), "no", "others become outliers in their groups",
    ),
    Claim(
        "plain_k_anonymity_2009", "local outliers are anonymised, not left out (outliers published, 10,000 rows of Adult)", "all of them (Theorem 6.2)",
        At(_MATCHING, ("adult", "10,000", "strict"), "outliers published"), At(_MATCHING, ("adult", "10,000", "matching"), "outliers published"),
        "no", "Theorem 6.2 is false; level matching takes flags to be known and hides which value is whose",
    ),
]  # fmt: skip

CLAIMS = [*EXPLAIN, *IDENTIFY, *COUNT, *STREAM, *PUBLISH]
