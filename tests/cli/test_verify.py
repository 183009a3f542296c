"""`fantope verify`: what holds, and that nothing can be changed without being found."""

import json
import shutil

import numpy as np
import pytest
import scipy.sparse

import fantope
from fantope.cli import main
from fantope.io import checksum
from fantope.io.certificates import digest, write_sealed

# Large enough for the active set, so that the dual point is stored by rows.


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    np.save(folder / "data.npy", fantope.simulate(60, 40, sizes=(6, 4)).Z)
    np.save(folder / "wide.npy", fantope.simulate(40, 900, sizes=(8, 6), random_state=1).Z)
    common = ["--quiet", "--no-figures"]
    assert main(["fit", str(folder / "data.npy"), "-a", "0.4", "-o", str(folder / "fit"), *common]) == 0
    assert main(["path", str(folder / "data.npy"), "--alphas", "0.4,1", "-o", str(folder / "path"), *common]) == 0
    wide = ["fit", str(folder / "wide.npy"), "-a", "0.35", "--tol", "1e-3", "-o", str(folder / "wide"), *common]
    assert main(wide) == 0
    return folder


@pytest.fixture
def copy(made, tmp_path):
    """Results that a test may spoil."""
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy"


def verified(folder, name, capsys, *options):
    capsys.readouterr()
    code = main(["verify", str(folder / name), "--json", *options])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fit", "path", "wide"])
def test_results_hold(name, made, capsys):
    assert main(["verify", str(made / name)]) == 0
    captured = capsys.readouterr()
    assert "The certificate holds" in captured.out and "verify: alpha" in captured.err
    code, told = verified(made, name, capsys)
    assert code == 0 and told["holds"] and told["failures"] == []
    for each in told["solutions"]:
        assert each["feasible"] and each["gap"] <= 1.2 * each["reported_gap"] + 1e-9
    assert main(["verify", str(made / name), "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_the_stored_dual_is_small_where_the_active_set_is(made):
    with np.load(made / "wide" / "certificate.npz") as stored:
        assert "rows" in stored and stored["rows"].shape[0] < 0.6 * stored["rows"].shape[1]
    with np.load(made / "fit" / "certificate.npz") as stored:
        assert stored.keys() == {"alpha", "labels", "kept", "active", "rows"} or "half" in stored


@pytest.mark.parametrize("solver", ["admm", "gradfps"])
def test_dense_duals_are_stored_and_checked(solver, made, tmp_path):
    out = str(tmp_path / "out")
    options = ["-a", "0.4", "--solver", solver, "--tol", "1e-3", "-q", "--no-figures", "-o", out]
    assert main(["fit", str(made / "data.npy"), *options]) == 0
    assert main(["verify", out, "-q"]) == 0


@pytest.mark.slow
def test_results_and_data_can_move_together_or_apart(copy, tmp_path, capsys):
    assert main(["verify", str(copy / "fit"), "-q"]) == 0
    (copy / "data.npy").rename(tmp_path / "elsewhere.npy")
    assert main(["verify", str(copy / "fit"), "-q"]) == 2
    error = capsys.readouterr().err
    assert "data.npy: the data are not where they were; say where they are with --data" in error
    assert main(["verify", str(copy / "fit"), "--data", str(tmp_path / "elsewhere.npy"), "-q"]) == 0


def forge(folder, *names):
    """Make the checksums in run.json agree with files that were changed."""
    record = json.loads((folder / "run.json").read_text())
    for name in names:
        record["files"][name] = checksum(folder / name)
    record["digest"] = digest(record)
    (folder / "run.json").write_text(json.dumps(record))


def change_projection(folder, change):
    X = scipy.sparse.csr_array(scipy.sparse.load_npz(folder / "projection.npz"))
    change(X)
    scipy.sparse.save_npz(folder / "projection.npz", X)


def scale(X):
    X.data *= 1.01


def swap_variables(X):
    """Another feasible point, but a worse one."""
    X.indices[:] = (X.indices + 1) % X.shape[1]
    X.indptr[1:] = X.indptr[:-1].copy()
    X.sort_indices()


def one_nan(X):
    X.data[3] = np.nan


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [(scale, "away from the Fantope"), (swap_variables, "wider than the one reported"), (one_nan, "not finite")],
)
@pytest.mark.parametrize("name", ["fit", "path/solutions/1"])
def test_a_changed_projection_is_found(change, words, name, copy, capsys):
    root, _, inside = name.partition("/")
    if change is swap_variables:
        X = scipy.sparse.load_npz(copy / name / "projection.npz").toarray()
        scipy.sparse.save_npz(copy / name / "projection.npz", scipy.sparse.csr_array(np.roll(X, 1, axis=(0, 1))))
    else:
        change_projection(copy / name, change)
    code, told = verified(copy, root, capsys)
    assert code == 1 and any("was changed after it was written" in each for each in told["failures"])
    forge(copy / root, f"{inside}/projection.npz".lstrip("/"))
    code, told = verified(copy, root, capsys)
    assert code == 1 and len(told["failures"]) == 1 and words in told["failures"][0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fit", "wide"])
@pytest.mark.parametrize("how", ["larger", "noise", "alpha", "labels", "cut", "gone", "garbage"])
def test_a_changed_dual_is_found(name, how, copy, capsys):
    file = copy / name / "certificate.npz"
    with np.load(file) as stored:
        parts = {key: stored[key].copy() for key in stored.files}
    U = parts["rows"] if "rows" in parts else parts["half"]
    if how == "larger":
        U *= 1.5
    elif how == "noise":
        U += 0.1 * parts["alpha"] * np.random.default_rng(0).standard_normal(U.shape)
        np.clip(U, -parts["alpha"], parts["alpha"], out=U)
    elif how == "alpha":
        parts["alpha"] = parts["alpha"] * 0.5
    elif how == "labels":
        parts["labels"] = np.arange(len(parts["labels"]), dtype=np.int32)
    elif how == "cut":
        parts = {key: value[:-1] if key in ("rows", "half", "active") else value for key, value in parts.items()}
        parts["kept"] = parts["kept"][:-1]
    np.savez_compressed(file, **parts)
    if how == "gone":
        file.unlink()
    elif how == "garbage":
        file.write_bytes(b"PK\x03\x04 nothing")
    code, told = verified(copy, name, capsys)
    assert code == 1 and told["failures"]
    if how != "gone":
        forge(copy / name, "certificate.npz")
        code, told = verified(copy, name, capsys)
        assert code == 1 and not told["holds"] and told["failures"]


def test_changed_data_are_found(copy, capsys):
    X = np.load(copy / "data.npy")
    X[:, 0] *= 1.5
    np.save(copy / "data.npy", X)
    code, told = verified(copy, "fit", capsys)
    assert code == 1
    assert any("is not the file that was fitted" in each for each in told["failures"])
    record = json.loads((copy / "fit" / "run.json").read_text())
    record["input"]["sha256"] = checksum(copy / "data.npy")
    record["digest"] = digest(record)
    (copy / "fit" / "run.json").write_text(json.dumps(record))
    code, told = verified(copy, "fit", capsys)
    assert code == 1 and any(each.startswith("alpha = 0.4: ") for each in told["failures"])
    assert any("differ in what they say of data, matrices" in each for each in told["failures"])


@pytest.mark.slow
def test_data_of_another_size_or_broken(copy, capsys):
    X = np.load(copy / "data.npy")
    np.save(copy / "data.npy", X[:, :-1])
    code, told = verified(copy, "fit", capsys)
    assert code == 1 and any("60 × 39 values, but 60 × 40" in each for each in told["failures"])
    (copy / "data.npy").write_bytes(b"")
    code, told = verified(copy, "fit", capsys)
    assert code == 1 and any("is empty" in each for each in told["failures"])


@pytest.mark.parametrize(("name", "value"), [("objective", 99.0), ("dual_bound", 0.0), ("gap", 1e-12), ("alpha", 0.1)])
def test_a_changed_record_is_found(name, value, copy, capsys):
    record = json.loads((copy / "fit" / "run.json").read_text())
    record["solutions"][0][name] = value
    (copy / "fit" / "run.json").write_text(json.dumps(record))
    code, told = verified(copy, "fit", capsys)
    assert code == 1 and told["failures"]


def test_a_changed_or_missing_table_is_found(copy, capsys):
    table = copy / "fit" / "loadings.tsv"
    table.write_text(table.read_text().replace("g", "h").replace("x", "y"))
    (copy / "fit" / "support.tsv").unlink()
    assert main(["verify", str(copy / "fit")]) == 1
    error = capsys.readouterr().err
    assert "loadings.tsv was changed after it was written." in error and "support.tsv is missing." in error


@pytest.mark.slow
def test_every_file_is_covered(copy, capsys):
    """Emptied figures and reports went unnoticed; what the user adds is named."""
    out = copy / "drawn"
    assert main(["fit", str(copy / "data.npy"), "-a", "0.4", "-o", str(out), "--quiet"]) == 0
    assert verified(copy, "drawn", capsys)[1]["not_covered"] == []
    files = [file for file in out.rglob("*") if file.is_file() and file.name != "run.json"]
    assert {".png", ".svg", ".tsv", ".npz"} <= {file.suffix for file in files}
    for file in files:
        content = file.read_bytes()
        file.write_bytes(b"")
        code, told = verified(copy, "drawn", capsys)
        assert code == 1 and any(f"{file.name} was changed" in each for each in told["failures"])
        file.write_bytes(content)
    (out / "notes.txt").write_text("mine")
    code, told = verified(copy, "drawn", capsys)
    assert code == 0 and told["not_covered"] == ["notes.txt"]
    assert main(["verify", str(out)]) == 0
    assert "Not covered by a checksum: notes.txt." in capsys.readouterr().out
    next(out.rglob("*.png")).write_bytes(b"")  # a figure may be edited: the numbers are read back as before
    assert len(fantope.io.read_result(out).solutions) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["solutions"][0].update(status="MAX_ITER"),
        lambda record: record["solutions"][0].update(n_variables=3),
        lambda record: record["solutions"][0].update(explained_variance=99.0),
        lambda record: record["parameters"].update(tol=1e-9),
        lambda record: record.update(files={}),
        lambda record: record["solutions"].pop(),
        lambda record: record.update(created="2020-01-01T00:00:00+00:00"),
    ],
    ids=["status", "n_variables", "explained_variance", "tol", "files", "solution", "created"],
)
def test_any_change_of_the_record_is_found(change, copy, capsys):
    file = copy / "path" / "run.json"
    record = json.loads(file.read_text())
    file.write_text(json.dumps(record))  # another layout of the same content
    assert verified(copy, "path", capsys)[0] == 0
    change(record)
    file.write_text(json.dumps(record))
    code, told = verified(copy, "path", capsys)
    assert code == 1 and any("run.json was changed" in each for each in told["failures"])
    with pytest.raises(ValueError, match="was changed"):
        fantope.io.read_result(copy / "path")


def test_a_record_without_a_digest_is_not_covered(copy, capsys):
    """As fantope 0.1 wrote it, without certificate.json, with checksums of tables and arrays alone."""
    file = copy / "fit" / "run.json"
    record = json.loads(file.read_text())
    del record["digest"], record["files"]["loadings.tsv"], record["files"]["certificate.json"]
    file.write_text(json.dumps(record))
    assert main(["verify", str(copy / "fit"), "--quiet"]) == 1  # what fantope writes now has a digest
    (copy / "fit" / "certificate.json").unlink()
    code, told = verified(copy, "fit", capsys)
    assert code == 0 and told["not_covered"] == ["run.json", "loadings.tsv"]
    assert len(fantope.io.read_result(copy / "fit").solutions) == 1


@pytest.mark.parametrize("name", ["digest", "digesu"])
def test_a_digest_that_is_gone_is_missed(name, copy, capsys):
    file = copy / "fit" / "run.json"
    record = json.loads(file.read_text())
    record["solutions"][0]["n_variables"] += 1
    del record["digest"]
    record[name] = ""
    file.write_text(json.dumps(record))
    code, told = verified(copy, "fit", capsys)
    assert code == 1 and any("run.json was changed" in each for each in told["failures"])


@pytest.mark.parametrize("name", ["n_variables", "explained_variance", "is_projection"])
def test_numbers_of_a_solution_follow_from_it_even_with_a_new_digest(name, copy, capsys):
    file = copy / "fit" / "run.json"
    record = json.loads(file.read_text())
    value = record["solutions"][0][name]
    record["solutions"][0][name] = not value if name == "is_projection" else value + 1
    write_sealed(file, record)
    code, told = verified(copy, "fit", capsys)
    assert code == 1 and any(f"{name} is" in each for each in told["failures"])


def _leaves(value, place=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _leaves(one, (*place, key))
    if not isinstance(value, dict | list):
        yield place


def _other(value):
    if isinstance(value, str):
        return f"x{value}"
    return not value if isinstance(value, bool) else 3 if value is None else value + 1


@pytest.mark.slow
@pytest.mark.parametrize("out", ["fit", "path"])
def test_every_word_of_the_certificate_is_held_against_the_result_even_with_new_digests(out, copy, capsys):
    file, run = copy / out / "certificate.json", copy / out / "run.json"
    written = file.read_text()
    places = [place for place in _leaves(json.loads(written)) if place != ("digest",)]
    assert len(places) > 20
    for place in places:
        record = json.loads(written)
        entry = record
        for key in place[:-1]:
            entry = entry[key]
        entry[place[-1]] = _other(entry[place[-1]])
        write_sealed(file, record)
        sealed = json.loads(run.read_text())
        sealed["files"]["certificate.json"] = checksum(file)
        write_sealed(run, sealed)
        found = fantope.io.verify_folder(copy / out)
        assert not found.holds, place


def test_a_record_nested_too_deep(copy, capsys):
    (copy / "fit" / "run.json").write_text("[" * 100_000)
    assert main(["verify", str(copy / "fit")]) == 2
    assert "run.json: is missing or damaged" in capsys.readouterr().err
    assert main(["fit", str(copy / "data.npy"), "-a", "0.4", "-o", str(copy / "fit"), "--quiet"]) == 2
    assert "is not empty and was not written by" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["projection.npz", "certificate.npz", "solver.npz"])
def test_archives_with_a_damaged_directory(name, copy, capsys):
    """Flags that say "encrypted", numbers of other compressions, lengths that cannot be: one sentence each."""
    file = copy / "fit" / name
    good = file.read_bytes()
    directory = good.index(b"PK\x01\x02")
    for place in [*range(4, 40, 2), *range(directory, directory + 46)]:
        for mask in (0x01, 0x0D):
            damaged = bytearray(good)
            damaged[place] ^= mask
            file.write_bytes(bytes(damaged))
            assert verified(copy, "fit", capsys)[0] == 1
    for method in (1, 9, 12, 14, 99):
        damaged = bytearray(good)
        damaged[directory + 10] = damaged[8] = method
        file.write_bytes(bytes(damaged))
        assert verified(copy, "fit", capsys)[0] == 1


def test_folders_that_are_no_results(copy, tmp_path, capsys):
    for path, words in [(tmp_path / "none", "there is no such folder"), (tmp_path, "is missing or damaged")]:
        assert main(["verify", str(path)]) == 2
        assert words in capsys.readouterr().err
    (copy / "fit" / "run.json").write_text(json.dumps({"command": "fantope demo"}))
    assert main(["verify", str(copy / "fit")]) == 2
    assert "was written by `fantope demo`" in capsys.readouterr().err
    (copy / "fit" / "run.json").write_text(json.dumps({"command": "fantope fit"}))
    assert main(["verify", str(copy / "fit")]) == 2
    assert "run.json: is damaged" in capsys.readouterr().err
