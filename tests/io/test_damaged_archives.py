"""Data in .npz archives whose directory is damaged: an answer or a sentence, never a traceback."""

import numpy as np
import pytest

from fantope.errors import FileError
from fantope.io import Reading
from fantope.io.readers import read


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_flags_compressions_and_lengths_that_cannot_be(save, tmp_path):
    file = tmp_path / "data.npz"
    save(file, X=np.arange(60.0).reshape(12, 5))
    good = file.read_bytes()
    directory = good.index(b"PK\x01\x02")
    refused = 0
    for place in [*range(4, 30), *range(directory, directory + 46)]:
        for value in (1, 9, 12, 14, 99, 255):
            damaged = bytearray(good)
            damaged[place] = value
            if 6 <= place < 10:  # flags and compression, which the directory repeats
                damaged[directory + place + 2] = value
            file.write_bytes(bytes(damaged))
            try:
                assert read(file, Reading()).shape == (12, 5)
            except FileError as error:
                assert str(file) in str(error)
                refused += 1
    assert refused > 50
