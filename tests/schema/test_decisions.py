"""`declare --ask`: one question per open line, and the same file as an owner would write."""

from wallflower.schema.decisions import answered, decisions

DRAFT = """\
[table]
unit = "row"  # DECIDE: is every person exactly one row?
max_rows =  # DECIDE: from public knowledge
reviewed = false  # DECIDE: true once every line is right
[columns.ward]
values =  # DECIDE: a list
[budget.dp]
epsilon =  # DECIDE: in quotes
"""


def test_every_open_line_is_one_question_with_its_reason():
    asked = list(decisions(DRAFT))
    assert [each.key for each in asked] == ["unit", "max_rows", "reviewed", "values", "epsilon"]
    assert asked[0].question == '[table] unit ["row"]: is every person exactly one row?'
    assert asked[3].section == "[columns.ward]"


def test_answers_become_toml_and_slips_are_asked_again():
    answers = iter(["", "1_000", "true", "A, B", "much", "0.5"])
    complaints = []

    def ask(_decision, complaint):
        complaints.append(complaint)
        return next(answers)

    text = answered(DRAFT, ask)
    assert "DECIDE" not in text
    assert 'unit = "row"\nmax_rows = 1_000\nreviewed = true' in text
    assert 'values = ["A", "B"]' in text
    assert 'epsilon = "0.5"' in text
    assert sum(map(bool, complaints)) == 1


def test_an_empty_answer_leaves_an_open_line_open():
    assert answered(DRAFT, lambda *_: "").count("DECIDE") == 3


def test_a_word_gets_its_quotes():
    once = iter(["person"])
    drafted = "[table]\nunit =  # DECIDE: who is protected?"
    assert answered(drafted, lambda *_: next(once)) == '[table]\nunit = "person"'
