"""Working hours in a SQLite file."""

__version__ = "0.2.1"
