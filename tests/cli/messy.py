"""Six exports as offices send them, made up: each with repeated people and its own traps."""

from __future__ import annotations

import random


def _lines(seed, header, row, *, delimiter, rows=160):
    drawn = random.Random(seed)
    cells = [header, *(row(drawn) for _ in range(rows))]
    return "\n".join(delimiter.join(each) for each in cells) + "\n"


def german_visits():
    """Semicolons, Latin-1, decimal comma, points between thousands, 31.12.2020, "unbekannt", 999 for an unknown age."""

    def row(drawn):
        who = drawn.randint(1, 40)
        age = "unbekannt" if drawn.random() < 0.02 else "999" if drawn.random() < 0.01 else str(20 + who)
        cost = f"{drawn.randint(1, 9)}.{drawn.randint(100, 999)},{drawn.randint(10, 99)}"
        cost = cost if drawn.random() < 0.4 else f"{drawn.randint(10, 999)},50"
        day = f"{drawn.randint(1, 28):02}.{drawn.randint(1, 12):02}.{drawn.randint(2019, 2023)}"
        return [f"P{who:03}", day, age, cost, drawn.choice(["Innere", "Chirurgie", "Gynäkologie"])]

    text = _lines(1, ["Patient", "Besuch", "Alter", "Kosten", "Station"], row, delimiter=";")
    return "visits.csv", text.encode("latin-1"), "Alter"


def american_payments():
    """A byte-order mark, quoted amounts with commas, 12/31/2020, "N/A"."""

    def row(drawn):
        amount = f'"{drawn.randint(1, 9)},{drawn.randint(100, 999)}.25"' if drawn.random() < 0.5 else "N/A"
        amount = amount if drawn.random() < 0.9 else f"{drawn.randint(1, 99)}.00"
        day = f"{drawn.randint(1, 12):02}/{drawn.randint(1, 28):02}/{drawn.randint(2019, 2023)}"
        return [str(drawn.randint(100, 140)), day, amount, drawn.choice(["OH", "NY", "CA"])]

    text = _lines(2, ["customer_id", "paid", "amount", "state"], row, delimiter=",")
    return "payments.csv", b"\xef\xbb\xbf" + text.encode(), "amount"


def survey():
    """Tabs, Windows' own encoding, -9 for a refused answer, an empty cell here and there."""

    def row(drawn):
        hours = "-9" if drawn.random() < 0.05 else "" if drawn.random() < 0.05 else str(drawn.randint(0, 60))
        return [
            f"R{drawn.randint(1, 50)}",
            str(drawn.randint(18, 90)),
            hours,
            drawn.choice(["yes", "no", "don’t know"]),
        ]

    text = _lines(3, ["respondent_id", "age", "hours", "agrees"], row, delimiter="\t")
    return "survey.txt", text.encode("cp1252"), "hours"


def readings():
    """ISO timestamps, "null", decimals of every length, a device of one person in many rows."""

    def row(drawn):
        value = "null" if drawn.random() < 0.02 else f"{drawn.uniform(15, 30):.{drawn.randint(0, 4)}f}"
        moment = f"2024-{drawn.randint(1, 12):02}-{drawn.randint(1, 28):02}T{drawn.randint(0, 23):02}:15:00"
        return [f"user-{drawn.randint(1, 30)}", moment, value, str(drawn.randint(40, 180))]

    return "readings.csv", _lines(4, ["user_id", "at", "celsius", "pulse"], row, delimiter=",").encode(), "pulse"


def laboratory():
    """Pipes, SAS dates, missing as a lone point, a value below the limit of detection."""

    def row(drawn):
        value = "." if drawn.random() < 0.02 else f"{drawn.uniform(0.1, 9.9):.2f}"
        value = value if drawn.random() < 0.98 else "<0.1"
        day = f"{drawn.randint(1, 28):02}{drawn.choice(['JAN', 'FEB', 'MAR', 'DEC'])}2021"
        return [f"{drawn.randint(7000, 7040)}", day, value]

    return "lab.txt", _lines(5, ["patient_id", "taken", "creatinine"], row, delimiter="|").encode(), "creatinine"


def french_wages():
    """Semicolons, narrow spaces between thousands, decimal comma, two ways of writing dates, "inconnu"."""

    def row(drawn):
        wage = f"{drawn.randint(1, 4)}\u202f{drawn.randint(100, 999)},{drawn.randint(10, 99)}"
        wage = wage if drawn.random() < 0.97 else "inconnu"
        day = f"{drawn.randint(1, 28):02}/{drawn.randint(1, 12):02}/{drawn.randint(2019, 2023)}"
        day = day if drawn.random() < 0.8 else f"{drawn.randint(2019, 2023)}-03-15"
        return [f"E{drawn.randint(1, 45)}", day, wage, drawn.choice(["Paris", "Lyon", "Orléans"])]

    text = _lines(6, ["employee_id", "payé", "salaire", "ville"], row, delimiter=";")
    return "wages.csv", text.encode(), "salaire"


EXPORTS = (german_visits, american_payments, survey, readings, laboratory, french_wages)
