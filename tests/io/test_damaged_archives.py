"""Data in .npz archives whose directory is damaged: an answer or a sentence, never a traceback."""

import numpy as np
import pytest

import fantope
from fantope.errors import FileError
from fantope.io import Reading
from fantope.io.readers import read
from fantope.io.results import load_dual, load_projection, write_solution
from fantope.problem.certificate import CertificateError


@pytest.mark.slow
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


@pytest.mark.parametrize(("file", "name"), [("certificate.npz", "labels"), ("projection.npz", "indices")])
@pytest.mark.parametrize("other", [np.full(3, 1j), np.full(3, np.nan)])
def test_indices_that_are_none(file, name, other, tmp_path):
    """Complex labels were read as real ones, with a warning; so were indices that are not numbers."""
    sol = fantope.solve(np.diag([3.0, 2.0, 1.0]), 1, 0.5)
    write_solution(tmp_path, ".", sol)
    with np.load(tmp_path / file) as stored:
        arrays = {**stored, name: other}
    np.savez(tmp_path / file, **arrays)
    load = load_projection if file == "projection.npz" else lambda folder: load_dual(folder, sol.covariance)
    with pytest.raises(CertificateError, match="cannot be read"):
        load(tmp_path)
