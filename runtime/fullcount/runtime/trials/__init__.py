"""Tests of workflows (`test` blocks, `fullcount test`): the real engine on a stage made of what a test gives.

In code such a test is called a *trial*. Nothing here decides what a rule selects, what evidence licenses or what an act
may do: sources, workspace and clock are stand-ins, and everything between them is the product itself.
"""
