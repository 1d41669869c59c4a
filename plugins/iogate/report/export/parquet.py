"""Parquet: the rows of the CSV in typed columns; `values` is a list."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict, fields

from iogate.errors import IogateError
from iogate.report.export.rows import FlatRow, rows
from iogate.report.results import Results

_TYPES = {"int": "int64", "float": "float64", "bool": "bool_", "str": "string"}


def export(sessions: Sequence[Results]) -> bytes:
    """Return sessions as a Parquet file. Raises IogateError where pyarrow is not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise IogateError(
            f"Parquet needs pyarrow: {error}", remedy="install it: pip install 'iogate[parquet]'"
        ) from error
    types = {item.name: str(item.type).split(" | ")[0] for item in fields(FlatRow)}
    columns = [
        pyarrow.field(
            name,
            getattr(pyarrow, _TYPES[type])() if type in _TYPES else pyarrow.list_(pyarrow.float64()),
        )
        for name, type in types.items()
    ]
    table = pyarrow.Table.from_pylist([asdict(row) for row in rows(sessions)], pyarrow.schema(columns))
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()
