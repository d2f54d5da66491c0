"""The simulated matchers that all tests of this folder share."""

import pytest

from silbo.hw.build.simulation import Parameters, library
from silbo.hw.driver.registers import CrtMode


@pytest.fixture(scope="session", params=["bitmap", "list"])
def matcher(request):
    """The parameters of a full-size matcher whose simulation is compiled, for both forms of the CRT's rows."""
    parameters = Parameters(crt_mode=CrtMode[request.param.upper()])
    library(parameters)
    return parameters
