"""Servers of ours that speak other people's protocols, for tests on the loopback."""
