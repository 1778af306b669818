import pytest

from tests.service.desks import House


@pytest.fixture
def house(tmp_path):
    """A demo service whose clock is ours."""
    made = House.build(tmp_path)
    yield made
    made.desk.database.close()
