"""A declaration that uses every part of the file, and a way to change one line of it."""

GOOD = """\
[table]
id = "salaries"
source = "salaries.csv"
key = "employee"
unit = "row"
neighbours = "add-remove"
max_rows = 1_000_000
reviewed = true
test = false
ledger = "salaries.ledger"
read = {delimiter = ";", encoding = "latin-1", decimal = ","}

[budget.dp]
epsilon = "4"
delta = "1e-6"

[budget.output-constrained-dp]
epsilon = "2"

[budget.plain-k-anonymity]
publications = 1

[columns.employee]
role = "identifier"

[columns.title]
role = "quasi-identifier"
values = ["CEO", "Lawyer", "Doctor"]
outside = "Lawyer"
missing = "drop"

[columns.salary]
role = "sensitive"
lower = 0
upper = 5_000_000
step = "0.01"
outside = "clip"
missing = "drop"
centre = 0.5
scale = 1000
weight = "1/3"
bins = [0, 100_000, 200_000.50]

[columns.hired]
role = "insensitive"
lower = 1990-01-01
upper = "2030-12-31"
outside = "drop"
missing = 2000-01-01
bins = [1990-01-01, 2000-01-01]

[identify.default]
columns = ["salary", "hired"]
beta = 24
radius = "0.26"
k = 3
epsilon = "4"
weights = {salary = 1, hired = 0.5}
"""


def changed(old: str, new: str, text: str = GOOD) -> str:
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the sample"
    return text.replace(old, new)
