"""A stub for each HTTP API that has a dialect: real replies over several pages, and what goes wrong with each."""

from tests.support.stubs.addresses import ADDRESSES
from tests.support.stubs.aws import AWS
from tests.support.stubs.base import COUNT, NAMES, PAGE, Fault, Stub, StubServer
from tests.support.stubs.links import LINKS
from tests.support.stubs.positions import POSITIONS
from tests.support.stubs.singles import SINGLES
from tests.support.stubs.tokens import TOKENS

STUBS: list[Stub] = [*ADDRESSES, *AWS, *LINKS, *POSITIONS, *SINGLES, *TOKENS]

__all__ = ["COUNT", "NAMES", "PAGE", "STUBS", "Fault", "Stub", "StubServer"]
