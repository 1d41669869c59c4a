"""Data that are laid out without numpy are as incompressible, and no block comes twice."""

import zlib

from iogate.target.layout import permuted

BLOCK, CHUNK = 4096, 4 * 2**20


def test_data_without_numpy_are_incompressible_and_no_block_comes_twice():
    made = permuted()
    chunks = [bytes(made(CHUNK)) for _ in range(3)]
    for chunk in chunks:
        assert len(zlib.compress(chunk[: 2**20], 1)) > 2**20
    blocks = [chunk[place : place + BLOCK] for chunk in chunks for place in range(0, CHUNK, BLOCK)]
    assert len(set(blocks)) == len(blocks)
    assert len(zlib.compress(chunks[0][:16000] + chunks[1][:16000], 9)) > 32000


def test_the_last_chunk_is_as_long_as_it_should_be():
    assert len(permuted()(3 * BLOCK)) == 3 * BLOCK
