import pytest

from tests.service.desks import House, LaidOut


@pytest.fixture(scope="session")
def laid_out(tmp_path_factory):
    return LaidOut.build(tmp_path_factory.mktemp("service"))


@pytest.fixture
def house(laid_out, tmp_path):
    """A demo service whose clock is ours."""
    made = House.build(laid_out, tmp_path)
    yield made
    made.desk.database.close()
