"""For tests of connectors: the conformance kit, and a front that breaks the way to a server.

`ConnectorConformance` brings every check into pytest; `Bed` is what it needs; `fullcount.runtime.testing.front` and
`tcp_front` stand between a connector and its server, `faults` is what goes wrong there.
"""

from fullcount.runtime.testing import faults
from fullcount.runtime.testing.bed import Act, Bed, Fault, Nonconformity
from fullcount.runtime.testing.conformance import CHECKS, Check, ConnectorConformance

__all__ = ["CHECKS", "Act", "Bed", "Check", "ConnectorConformance", "Fault", "Nonconformity", "faults"]
