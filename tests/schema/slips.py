"""Mistakes an owner may make in `samples.GOOD`: what stood there, what stands there now, what is said about it."""

SLIPS = {
    "a typing slip in a key": (
        'neighbours = "add-remove"',
        'neighbors = "add-remove"',
        "line 6: neighbors = \"add-remove\"\n'neighbors' is not a key of [table]. Did you mean 'neighbours'?",
    ),
    "a typing slip in a value": (
        'neighbours = "add-remove"',
        'neighbours = "add_remove"',
        (
            'line 6: neighbours = "add_remove"\n\'neighbours\' must be one of "add-remove", "replace-one", got "add_remove". '
            "Did you mean 'add-remove'?"
        ),
    ),
    "another unit": (
        'unit = "row"',
        'unit = "household"',
        'line 5: unit = "household"\n\'unit\' must be one of "row", "person", got "household".',
    ),
    "text for a number": (
        "max_rows = 1_000_000",
        'max_rows = "many"',
        'line 7: max_rows = "many"\n\'max_rows\' must be a whole number of at least 1, got "many".',
    ),
    "no rows at all": (
        "max_rows = 1_000_000",
        "max_rows = 0",
        "line 7: max_rows = 0\n'max_rows' must be a whole number of at least 1, got 0.",
    ),
    "a size without a unit": (
        "max_rows = 1_000_000",
        'max_rows = 1_000_000\nmemory = "4"',
        'line 8: memory = "4"\n\'memory\' must be a size in quotes such as "4 GiB" (KiB, MiB, GiB or TiB), got "4".',
    ),
    "a word for a flag": (
        "reviewed = true",
        'reviewed = "yes"',
        'line 8: reviewed = "yes"\n\'reviewed\' must be true or false, got "yes". Without quotes, in lower case.',
    ),
    "no ledger": (
        'ledger = "salaries.ledger"\n',
        "",
        "line 1: [table]\n[table] needs 'ledger'. Write, for example, ledger = \"rows.ledger\".",
    ),
    "an unsafe id": (
        'id = "salaries"',
        'id = "../salaries"',
        (
            "line 2: id = \"../salaries\"\n'id' must be at most 64 letters, digits, dots, dashes and underscores, beginning with a letter or "
            'digit, got "../salaries".'
        ),
    ),
    "a misspelled setting for reading": (
        "encoding =",
        "encodign =",
        (
            'line 11: read = {delimiter = ";", encodign = "latin-1", decimal = ","}\n'
            "'encodign' is not a key of [table.read]. Did you mean 'encoding'?"
        ),
    ),
    "a bare float as budget": (
        'epsilon = "2"',
        "epsilon = 0.5",
        (
            "line 18: epsilon = 0.5\n'epsilon' must be a whole number, or a decimal or fraction in quotes, got 0.5. "
            'Write epsilon = "0.5".'
        ),
    ),
    "a budget that is no number": (
        'epsilon = "2"',
        'epsilon = "two"',
        'line 18: epsilon = "two"\n\'epsilon\' must be a number, got "two". For example 10, 0.5, "0.5" or "1/3".',
    ),
    "a budget of nothing": (
        'epsilon = "2"',
        "epsilon = 0",
        "line 18: epsilon = 0\n'epsilon' must be above 0, got 0.",
    ),
    "a delta of one": (
        'delta = "1e-6"',
        "delta = 1",
        "line 15: delta = 1\n'delta' must be at least 0 and below 1, got 1.",
    ),
    "an unknown family": (
        "[budget.dp]",
        "[budget.pd]",
        (
            "line 13: [budget.pd]\n'pd' is not a key of [budget]. "
            "Known here: dp, local-dp, metric-privacy, output-constrained-dp, plain-k-anonymity."
        ),
    ),
    "a family that is budgeted elsewhere": (
        "[budget.dp]",
        "[budget.sensitive-privacy]",
        "line 13: [budget.sensitive-privacy]\n'sensitive-privacy' has no place in [budget]. Each [identify.NAME] has an epsilon of its own.",
    ),
    "a role of another trade": (
        'role = "sensitive"',
        'role = "secret"',
        'line 33: role = "secret"\n\'role\' must be one of "identifier", "quasi-identifier", "sensitive", "insensitive", got "secret".',
    ),
    "no step": (
        'step = "0.01"\n',
        "",
        (
            "line 32: [columns.salary]\n[columns.salary] needs 'step'. Write, for example, step = 1 for whole numbers, "
            'or step = "0.01" for hundredths.'
        ),
    ),
    "the word of another tool": (
        "upper = 5_000_000",
        "max = 5_000_000",
        "line 35: max = 5_000_000\n'max' is not a key of [columns.salary]. Did you mean 'upper'?",
    ),
    "bounds the wrong way round": (
        "upper = 5_000_000",
        "upper = -1",
        "line 35: upper = -1\n'upper' must be above lower (0), got -1.",
    ),
    "a bound off the grid": (
        "upper = 5_000_000",
        "upper = 0.015",
        "line 35: upper = 0.015\n'upper' must be a whole number of steps of 0.01, got 0.015. The nearest are 0.01 and 0.02.",
    ),
    "no outside": (
        'outside = "clip"\n',
        "",
        "line 32: [columns.salary]\n[columns.salary] needs 'outside'. Write, for example, outside = \"clip\".",
    ),
    "an outside value that is not declared": (
        'outside = "Lawyer"',
        'outside = "Lawier"',
        'line 29: outside = "Lawier"\n\'outside\' must be "drop" or a declared value, got "Lawier". Did you mean \'Lawyer\'?',
    ),
    "clipping a category": (
        'outside = "Lawyer"',
        'outside = "clip"',
        (
            'line 29: outside = "clip"\noutside = "clip" is refused: only numbers and dates have bounds. '
            'Name a declared value for outside, or write "drop".'
        ),
    ),
    "clipping what is missing": (
        "missing = 2000-01-01",
        'missing = "clip"',
        (
            'line 49: missing = "clip"\nmissing = "clip" is refused: an empty cell has no nearer bound. '
            'Name a declared value for missing, or write "drop".'
        ),
    ),
    "a value twice": (
        '"Doctor"]',
        '"CEO"]',
        'line 28: values = ["CEO", "Lawyer", "CEO"]\n\'values\' holds "CEO" twice. Every declared value stands once.',
    ),
    "values without quotes that are not texts": (
        '"Doctor"]',
        "true]",
        'line 28: values = ["CEO", "Lawyer", true]\n\'values\' must be a list of texts in quotes, got true. Values are compared as text.',
    ),
    "a file of values that is not there": (
        'values = ["CEO", "Lawyer", "Doctor"]',
        'values = "titles.csv"',
        (
            'line 28: values = "titles.csv"\nthe values file "titles.csv" cannot be read: No such file or directory. '
            "It is looked for beside this file."
        ),
    ),
    "a bin outside the bounds": (
        "200_000.50]",
        "6_000_000]",
        "line 42: bins = [0, 100_000, 6_000_000]\nevery edge in 'bins' must be on the declared grid, from 0 to 5000000, got 6000000.",
    ),
    "bins that do not begin at the lower bound": (
        "bins = [0, 100_000,",
        "bins = [1, 100_000,",
        (
            "line 42: bins = [1, 100_000, 200_000.50]\n'bins' must be a list that starts at the lower bound (0), got [1, 100000, 200_000.50]. "
            "Begin with 0: then every value has exactly one bin."
        ),
    ),
    "bins out of order": (
        "200_000.50]",
        "100_000]",
        "line 42: bins = [0, 100_000, 100_000]\nevery edge in 'bins' must be above the edge before it, got 100000.",
    ),
    "a step for dates": (
        "lower = 1990-01-01",
        "lower = 1990-01-01\nstep = 7",
        "line 47: step = 7\n'step' is for numbers, and dates are counted in days. Leave 'step' out.",
    ),
    "a date and a number": (
        'upper = "2030-12-31"',
        "upper = 2030",
        "line 47: upper = 2030\n'upper' must be a date, as the other bound is, got 2030. For example 2020-12-31.",
    ),
    "a day that does not exist": (
        'upper = "2030-12-31"',
        'upper = "2030-02-30"',
        'line 47: upper = "2030-02-30"\n\'upper\' must be a date, as the other bound is, got "2030-02-30". For example 2020-12-31.',
    ),
    "a domain for an identifier": (
        'role = "identifier"',
        'role = "identifier"\nvalues = ["a"]',
        (
            "line 25: values = [\"a\"]\n'values' has no place in [columns.employee]. "
            "An identifier never reaches a query: it needs its role and nothing else."
        ),
    ),
    "no domain": (
        'values = ["CEO", "Lawyer", "Doctor"]\noutside = "Lawyer"',
        'outside = "drop"',
        (
            "line 26: [columns.title]\n[columns.title] needs a domain. Write values = [...] for categories; lower, upper and step for numbers; "
            "lower and upper for dates."
        ),
    ),
    "two names that differ in case": (
        "[columns.employee]",
        "[columns.Employee]",
        "line 23: [columns.Employee]\n'Employee' and 'employee' differ in case alone, and SQL does not tell them apart.",
    ),
    "an unknown column in a model": (
        'columns = ["salary", "hired"]\nbeta = 24',
        'columns = ["salry", "hired"]\nbeta = 24',
        "line 53: columns = [\"salry\", \"hired\"]\ncolumn 'salry' is not declared. Did you mean 'salary'?",
    ),
    "a model on words": (
        "weights = {salary = 1, hired = 0.5}",
        '\n[identify.words]\ncolumns = ["title"]\nbeta = 1\nradius = 0\nk = 1\nepsilon = 1',
        (
            "line 60: columns = [\"title\"]\ncolumn 'title' is not numeric, and the euclidean distance needs numbers. "
            'Choose another column, or distance = "hamming" or "mixed".'
        ),
    ),
    "a model with no budget": (
        'epsilon = "4"\nweights',
        "weights",
        "line 52: [identify.default]\n[identify.default] needs 'epsilon'. Write, for example, epsilon = \"4\".",
    ),
    "a beta below one": (
        "beta = 24",
        "beta = 0",
        "line 54: beta = 0\n'beta' must be a whole number of at least 1, got 0.",
    ),
    "a beta that no table can pass": (
        "beta = 24",
        "beta = 9007199254740993",
        "line 54: beta = 9007199254740993\n'beta' must be at most 9007199254740992, more rows than any table has, got 9007199254740993.",
    ),
    "a k that no table can pass": (
        "k = 3",
        "k = 9223372036854775805",
        "line 56: k = 9223372036854775805\n'k' must be at most 9007199254740992, more rows than any table has, got 9223372036854775805.",
    ),
    "a negative radius": (
        'radius = "0.26"',
        "radius = -1",
        "line 55: radius = -1\n'radius' must be at least 0, got -1.",
    ),
    "an exponent that would fill the memory": (
        'radius = "0.26"',
        "radius = 1e999999999",
        'line 55: radius = 1e999999999\n\'radius\' must be a number, got 1e999999999. For example 10, 0.5, "0.5" or "1/3".',
    ),
    "a weight for another column": (
        "weights = {salary = 1, hired = 0.5}",
        "weights = {salry = 1}",
        "line 58: weights = {salry = 1}\n'salry' is not a column of this model. Did you mean 'salary'?",
    ),
    "an unknown table": (
        "[identify.default]",
        "[identfy.default]",
        "line 52: [identfy.default]\n'identfy' is not a table of this file. Did you mean 'identify'?",
    ),
    "text without quotes": (
        'id = "salaries"',
        "id = salaries",
        (
            "line 2, column 6: id = salaries\nThis is not valid TOML: Invalid value. "
            "Texts stand in quotes, lists in [...], and every line reads key = value."
        ),
    ),
    "a key twice": (
        "k = 3",
        "k = 3\nk = 4",
        (
            "line 57, column 6: k = 4\nThis is not valid TOML: Cannot overwrite a value. "
            "Texts stand in quotes, lists in [...], and every line reads key = value."
        ),
    ),
}
