"""iogate: a storage performance gate that plugs into pytest."""

__version__ = "0.1.0"
