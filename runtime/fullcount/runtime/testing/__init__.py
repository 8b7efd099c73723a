"""For tests of connectors: a front that breaks the way to a server, and the conformance kit."""
