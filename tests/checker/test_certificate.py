"""certificate.json, and the program that checks it without fantope: what holds, and that nothing else passes."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fantope
from checking import PROGRAM, checker, reseal
from fantope.cli import main
from fantope.io.certificates import digest, write_sealed
from fantope.io.fingerprint import checksum

ROOT = Path(__file__).parents[2]


def write_inputs(folder):
    Z = fantope.simulate(50, 30, sizes=(6, 4)).Z
    table = pd.DataFrame(Z.copy(), [f"s,{i}" for i in range(50)], [f"g{i}" for i in range(30)])
    table.to_csv(folder / "plain.csv")
    table.T.to_csv(folder / "genes.tsv.gz", sep="\t")
    table.iloc[3, 4] = np.nan
    table.iloc[:, 7] = 2.0
    table.to_csv(folder / "holes.csv", sep=";", decimal=",")
    np.save(folder / "wide.npy", fantope.simulate(40, 500, sizes=(8, 6), random_state=1).Z.astype(np.float32))
    np.savez(folder / "other.npz", X=Z)
    np.save(folder / "values.npy", Z)
    np.save(folder / "S.npy", np.cov(Z.T))
    weights = np.ones((30, 30))
    weights[0, 1] = weights[1, 0] = weights[5] = weights[:, 5] = np.inf
    weights[2, 3] = weights[3, 2] = 0.0
    np.save(folder / "weights.npy", weights)
    (folder / "groups.txt").write_text("\n".join("abcdef"[i // 5] for i in range(30)))


RUNS = {
    "plain": ("fit", "plain.csv", "-a", "0.2", "--kind", "correlation"),
    "path": ("path", "plain.csv", "--alphas", "0.4,1"),
    "genes": ("fit", "genes.tsv.gz", "--transpose", "-a", "0.2", "-d", "3", "--no-center"),
    "holes": ("fit", "holes.csv", "--impute", "mean", "--drop-constant", "-a", "0.3", "--kind", "correlation"),
    "wide": ("fit", "wide.npy", "-a", "0.35", "--tol", "1e-3"),
    "weights": ("fit", "plain.csv", "-a", "0.3", "--weights", "weights.npy"),
    "pca": ("fit", "plain.csv", "-a", "0"),
    "other": ("fit", "other.npz", "-a", "0.3"),
    "ranks": ("path", "plain.csv", "--alphas", "0.2,0.4", "--kind", "correlation", "--method", "spearman"),
    "pairs": ("path", "holes.csv", "--alphas", "0.2,0.4", "--missing", "pairwise", "--drop-constant"),
    "mcp": ("fit", "plain.csv", "-a", "0.3", "--penalty", "mcp"),
    "given": ("fit", "S.npy", "--kind", "precomputed", "-a", "0.3"),
    "non-negative": ("fit", "plain.csv", "-a", "0.3", "--penalty", "non-negative"),
    "smooth": ("path", "plain.csv", "--alphas", "0.2,0.4", "--penalty", "smooth:0.5"),
    "trend": ("fit", "plain.csv", "-a", "0.1", "--penalty", "trend:2:0.5"),
    "group": ("fit", "plain.csv", "-a", "0.2", "--penalty", "group:GROUPS:0.4"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    write_inputs(folder)
    for name, (command, data, *options) in RUNS.items():
        given = [str(folder / each) if each.endswith(".npy") else each for each in options]
        given = [each.replace("GROUPS", str(folder / "groups.txt")) for each in given]
        out = ["-o", str(folder / name), "--quiet", "--no-figures"]
        assert main([command, str(folder / data), *given, *out]) == 0
    return folder


@pytest.fixture
def copy(made, tmp_path):
    """Results that a test may spoil."""
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy"


def verdicts(folder, name, *options):
    """Return the exit codes of the checker and of `fantope verify`."""
    return checker.main([str(folder / name), *options]), main(["verify", str(folder / name), "--quiet"])


def edit(folder, change, *, names=("certificate.json", "run.json"), sealed=True):
    for name in names:
        record = json.loads((folder / name).read_text())
        change(record)
        if sealed:
            write_sealed(folder / name, record)
        else:
            (folder / name).write_text(json.dumps(record))
    if sealed:
        reseal(folder)


def rewrite(file, **arrays):
    with np.load(file) as stored:
        content = {**stored, **arrays}
    np.savez_compressed(file, **content)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("exact", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_kind_of_result_holds(name, exact, made, capsys):
    options = ["--exact"] if exact else []
    if name == "other":  # the values of a format that the checker does not read, as .npy
        assert checker.main([str(made / name), *options]) == 2
        options.insert(0, str(made / "values.npy"))
    if exact and name == "wide":  # too large for rational numbers, and the program says so
        assert checker.main([str(made / name), *options]) == 2
        return
    assert checker.main([str(made / name), *options]) == 0
    out = capsys.readouterr().out
    assert "the optimum is in [" in out and "All of it holds" in out


@pytest.mark.slow
def test_the_program_is_one_short_file_without_fantope(made, tmp_path):
    text = PROGRAM.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 250
    shutil.copy(PROGRAM, tmp_path)
    script = (
        "import sys, runpy; sys.modules.update(fantope=None, scipy=None, numba=None)\n"
        "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / PROGRAM.name), str(made / "plain"), str(made / "plain.csv")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr


def test_the_schema_is_that_of_what_is_written(made):
    schema = json.loads((ROOT / "checker" / "certificate.schema.json").read_text())
    for name in RUNS:
        certificate = json.loads((made / name / "certificate.json").read_text())
        assert set(certificate) == set(schema["required"]) and certificate["digest"] == digest(certificate)
        for part, entries in (("matrix", certificate["matrices"]), ("solution", certificate["solutions"])):
            for entry in entries:
                described = schema["$defs"][part]
                assert set(entry) == set(described["required"]) == set(described["properties"])
                known = described["properties"].get("layout", described["properties"].get("penalty"))
                inner = entry.get("layout", entry.get("penalty")) or {}
                assert set(inner) <= set(known["properties"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "path", "wide", "weights"])
@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize(
    ("field", "by"), [("dual_bound", -1e-3), ("dual_bound", 0.1), ("objective", 1e-4), ("objective", -1e-4)]
)
def test_a_claim_raised_or_lowered_is_refused(name, sealed, field, by, copy):
    def change(record):
        claim = record["solutions"][0]
        claim[field] += by * abs(claim[field])
        low, high = claim["objective"], claim["dual_bound"]
        claim["gap"] = max(high - low, 0.0) / max(abs(low), abs(high))

    edit(copy / name, change, sealed=sealed)
    assert verdicts(copy, name) == (1, 1)


@pytest.mark.parametrize("record", ["certificate.json", "run.json"])
def test_the_two_records_must_agree(record, copy):
    def change(record):
        record["solutions"][0]["dual_bound"] *= 1 + 1e-12

    edit(copy / "plain", change, names=[record])
    assert verdicts(copy, "plain") == (1, 1)


def test_an_objective_does_not_become_true_beside_a_bound_that_is_huge(copy):
    def change(record):
        record["solutions"][0].update(objective=50.0, dual_bound=1e300, gap=1.0, status="MAX_ITER")

    edit(copy / "plain", change)
    assert verdicts(copy, "plain") == (1, 1)


@pytest.mark.parametrize("field", ["alpha", "n_components", "tol"])
@pytest.mark.parametrize("record", ["certificate.json", "run.json"])
def test_what_was_asked_for_is_the_same_in_both_records(record, field, copy):
    def change(record):
        claim = record["solutions"][0]
        place = record["parameters"] if field in record.get("parameters", {}) and field != "alpha" else claim
        place = claim["penalty"] if field == "alpha" and "penalty" in claim else place
        place[field] = 1 if field == "n_components" else 1.5 * place[field]

    edit(copy / "plain", change, names=[record])
    assert verdicts(copy, "plain") == (1, 1)


def test_the_divisor_is_that_of_the_matrix(copy):
    edit(copy / "plain", lambda record: record["matrices"][0].update(divisor=49), names=["certificate.json"])
    assert verdicts(copy, "plain") == (1, 1)


@pytest.mark.parametrize("sealed", [True, False])
def test_a_stored_matrix_that_the_data_do_not_give_is_found(sealed, copy):
    """The checker reads S from the result, and says so; that it comes from the data is for `fantope verify` to say."""
    ranks = np.load(copy / "ranks" / "ranks.npy")
    np.save(copy / "ranks" / "ranks.npy", ranks[::-1] * np.where(np.arange(ranks.shape[1]) == 0, -1.0, 1.0))
    if sealed:
        reseal(copy / "ranks")
    assert main(["verify", str(copy / "ranks"), "--quiet"]) == 1


CELLS = [
    "NA",
    "NaN",
    "nan",
    "-nan",
    "NULL",
    "None",
    "n/a",
    "#N/A",
    "#N/A N/A",
    "#NA",
    "<NA>",
    "1.#IND",
    "-1.#QNAN",
    '""',
]


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
def test_missing_values_are_spelt_the_same_for_both(cell, tmp_path):
    rows = [["3.5", "1", "-2e-1"], [cell, "2.25", "0"], ["1", "0.5", "7"], ["2", "9", "1"]]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,c", *map(",".join, rows)]))
    options = ["-d", "1", "-a", "0.1", "--impute", "mean", "--quiet", "--no-figures", "-o", str(tmp_path / "out")]
    assert main(["fit", str(tmp_path / "data.csv"), *options]) == 0
    assert verdicts(tmp_path, "out") == (0, 0)


def test_tables_with_truth_values_and_lines_of_spaces(tmp_path):
    lines = ["", "id,a,b,c", "x,TRUE,1,5", "   ", '"y\n1",FALSE,2,3', "z,TRUE,4,4", "", "  "]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    options = ["-d", "1", "-a", "0.1", "--quiet", "--no-figures", "-o", str(tmp_path / "out")]
    assert main(["fit", str(tmp_path / "data.csv"), *options]) == 0
    assert verdicts(tmp_path, "out") == (0, 0)
    (tmp_path / "data.csv").write_text("a,b,c\n1,2,3\n3,1\0,4\n2,2,2\n")
    assert main(["fit", str(tmp_path / "data.csv"), *options]) == 2


def test_the_program_says_where_s_comes_from(made, capsys):
    assert checker.main([str(made / "plain"), str(made / "plain.csv")]) == 0
    assert f"S from {made / 'plain.csv'}: " in capsys.readouterr().out
    assert checker.main([str(made / "ranks"), str(made / "plain.csv")]) == 0
    assert f"S from {made / 'ranks' / 'ranks.npy'}: " in capsys.readouterr().out


@pytest.mark.parametrize(("field", "value"), [("status", "SOLVED"), ("gap", 1e-9), ("n_components", 3)])
def test_words_that_do_not_follow_are_refused(field, value, copy):
    def change(record):
        for claim in record["solutions"]:
            claim["dual_bound"] += 0.5
            claim["gap"] = 1.0 - claim["objective"] / claim["dual_bound"]
            if field in claim:
                claim[field] = value
        if field == "n_components" and "parameters" in record:
            record["parameters"][field] = value

    edit(copy / "plain", change)
    assert verdicts(copy, "plain") == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "wide", "weights"])
@pytest.mark.parametrize("file", ["solver.npz", "certificate.npz", "projection.npz", "components.tsv"])
def test_a_flipped_bit_is_refused(name, file, copy):
    content = bytearray((copy / name / file).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name / file).write_bytes(content)
    assert verdicts(copy, name) == (1, 1)


@pytest.mark.parametrize("name", ["plain", "wide", "weights"])
def test_another_x_or_u_is_refused_even_with_new_checksums(name, copy):
    file = copy / name / "solver.npz"
    with np.load(file) as stored:
        vectors = stored["vectors"].copy()
    vectors[0] = -vectors[0][::-1]
    rewrite(file, vectors=vectors)
    reseal(copy / name)
    assert checker.main([str(copy / name)]) == 1


@pytest.mark.parametrize("change", ["beyond", "fewer", "other"])
def test_another_x_in_the_file_of_the_solver_is_refused_by_both(change, copy):
    file = copy / "plain" / "solver.npz"
    with np.load(file) as stored:
        rows, vectors, weights = stored["rows"], stored["vectors"].copy(), stored["weights"]
    vectors[0] = vectors[0][::-1]
    changes = {"beyond": {"rows": rows + 1000}, "fewer": {"weights": weights[:1]}, "other": {"vectors": vectors}}
    rewrite(file, **changes[change])
    reseal(copy / "plain")
    theirs, ours = verdicts(copy, "plain")
    assert theirs in (1, 2) and ours == 1


def test_numbers_of_single_precision_are_taken_for_what_they_are(copy):
    file = copy / "plain" / "solver.npz"
    with np.load(file) as stored:
        vectors = stored["vectors"]
    rewrite(file, vectors=vectors.astype(np.float32))
    reseal(copy / "plain")
    assert checker.main([str(copy / "plain")]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("change", ["outside", "zero", "nan"])
@pytest.mark.parametrize("name", ["plain", "wide"])
def test_a_spoilt_u_is_refused_even_with_new_checksums(name, change, copy):
    file = copy / name / "certificate.npz"
    with np.load(file) as stored:
        key = "rows" if "rows" in stored else "half"
        U = stored[key].copy()
    U = {"outside": U * 3.0, "zero": 0.0 * U, "nan": U + np.nan}[change]
    rewrite(file, **{key: U})
    reseal(copy / name)
    assert checker.main([str(copy / name)]) == 1


@pytest.mark.slow
def test_a_swapped_file_is_refused(copy, tmp_path):
    for file in ("solver.npz", "certificate.npz"):
        shutil.copy(copy / "pca" / file, copy / "plain" / file)
    assert verdicts(copy, "plain") == (1, 1)
    reseal(copy / "plain")
    assert verdicts(copy, "plain") == (1, 1)
    np.save(copy / "wide.npy", np.load(copy / "wide.npy")[::-1])  # the same S, but not the same file
    assert verdicts(copy, "wide") == (1, 1)
    assert checker.main([str(copy / "path"), str(copy / "holes.csv")]) == 1


OTHERS = ("non-negative", "smooth", "trend", "group")


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_other_penalties_are_refused_where_they_are_spoilt(name, copy):
    assert verdicts(copy, name) == (0, 0)
    place = copy / name / json.loads((copy / name / "run.json").read_text())["solutions"][0]["folder"]
    with np.load(place / "certificate.npz") as stored:
        U = next(key for key in ("part0", "rows", "half") if key in stored)
        own = {"smooth": "rho", "trend": "l1", "group": "l1_share"}.get(name)
        spoilt = [{U: stored[U] + 3.0}, {U: 0.0 * stored[U]}, {U: np.nan * stored[U]}]
        spoilt += [{own: 0.5 * stored[own]}] if own else []
        content = dict(stored)
    for change in spoilt:
        np.savez_compressed(place / "certificate.npz", **{**content, **change})
        reseal(copy / name)
        assert verdicts(copy, name) == (1, 1), change
    np.savez_compressed(place / "certificate.npz", **content)
    reseal(copy / name)
    edit(copy / name, lambda record: record["solutions"][0].update(dual_bound=record["solutions"][0]["objective"]))
    assert verdicts(copy, name) == (1, 1)


def test_a_negative_entry_of_a_non_negative_x_is_refused(copy):
    file = copy / "non-negative" / "solver.npz"
    with np.load(file) as stored:
        vectors = stored["vectors"].copy()
    vectors[0, 0] *= -1.0
    rewrite(file, vectors=vectors)
    reseal(copy / "non-negative")
    assert checker.main([str(copy / "non-negative")]) == 1


def test_a_penalty_that_the_checker_does_not_know_is_no_verdict(copy, capsys):
    edit(copy / "plain", lambda record: record["solutions"][0]["penalty"].update(kind="l0"), names=["certificate.json"])
    assert checker.main([str(copy / "plain")]) == 2
    assert "cannot be checked" in capsys.readouterr().out


def test_what_cannot_be_read_is_no_verdict(copy, capsys):
    assert checker.main([]) == checker.main([str(copy)]) == 2
    (copy / "plain.csv").unlink()
    assert checker.main([str(copy / "plain")]) == 2
    assert "give the data" in capsys.readouterr().out
    edit(copy / "path", lambda record: record.update(version=3), names=["certificate.json"])
    assert checker.main([str(copy / "path")]) == 2
    (copy / "pca" / "certificate.json").write_text("{" * 100_000)
    assert checker.main([str(copy / "pca")]) == 2


@pytest.fixture(scope="module")
def streamed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    np.save(folder / "rows.npy", fantope.simulate(12, 8, sizes=(3, 2)).Z)
    for name, scale in (("stream", 1.0), ("large", 1e12)):
        np.save(folder / "rows.npy", scale * fantope.simulate(12, 8, sizes=(3, 2)).Z)
        options = ["-d", "2", "-a", str(0.3 * scale**2), "--algorithm", "online-p", "-o", str(folder / name), "--quiet"]
        assert main(["stream", str(folder / "rows.npy"), *options]) == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stream", "large"])
def test_the_estimate_of_online_p_can_be_checked(name, streamed, capsys):
    assert verdicts(streamed, name) == (0, 0) and verdicts(streamed, name, "--exact") == (0, 0)
    assert "alpha = 0.3, d = 2" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"fantope\.load"):
        fantope.io.read_result(streamed / name)
    assert fantope.load(streamed / name / "state.fantope").n_samples_seen_ == 12


def test_a_stream_without_a_certificate_is_said_to_have_none(streamed, capsys):
    out = ["-d", "1", "--algorithm", "online-t", "-o", str(streamed / "fast"), "--quiet"]
    assert main(["stream", str(streamed / "rows.npy"), *out]) == 0
    assert verdicts(streamed, "fast") == (2, 2)
    assert "which certifies the estimate of Online-P alone; open its state.fantope" in capsys.readouterr().err


@pytest.mark.parametrize("change", ["bound", "objective", "t", "U", "S", "X"])
def test_a_spoilt_stream_is_refused_even_with_new_checksums(change, streamed, tmp_path):
    out = tmp_path / "stream"
    shutil.copytree(streamed / "stream", out)
    if change in ("bound", "objective", "t"):

        def edited(record):
            claim = record["solutions"][0]
            if change == "t":
                claim["penalty"]["t"] *= 2
            else:
                claim["dual_bound" if change == "bound" else change] *= 1.0 - 1e-3 if change == "bound" else 1.001
                claim["gap"] = max(0.0, 1.0 - claim["objective"] / claim["dual_bound"])

        edit(out, edited)
    elif change == "S":
        np.save(out / "matrix.npy", 1.01 * np.load(out / "matrix.npy"))
        edit(out, lambda record: record.get("input", {}).update(sha256=checksum(out / "matrix.npy")))
    else:
        file, name = {"U": ("certificate.npz", "half"), "X": ("solver.npz", "vectors")}[change]
        with np.load(out / file) as stored:
            array = stored[name]
        rewrite(out / file, **{name: array * (1.0 + 1e-2)})
        reseal(out)
    assert verdicts(tmp_path, "stream") == (1, 1)


@pytest.mark.slow
def test_a_result_whose_dual_point_is_stored_on_some_columns(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("fantope.problem.decomposition.LARGEST_DENSE", 0)
    np.save(tmp_path / "data.npy", fantope.simulate(40, 500, sizes=(8, 6), random_state=1).Z)
    said = ["-a", "0.35", "--tol", "1e-3", "--quiet", "--no-figures", "-o", str(tmp_path / "out")]
    assert main(["fit", str(tmp_path / "data.npy"), *said]) == 0
    assert json.loads((tmp_path / "out" / "certificate.json").read_text())["version"] == 2
    with np.load(tmp_path / "out" / "certificate.npz") as stored:
        assert stored["rows"].shape == (len(stored["active"]), len(stored["columns"]))
        assert len(stored["columns"]) < len(stored["kept"])
    assert verdicts(tmp_path, "out") == (0, 0)
    monkeypatch.undo()
    assert verdicts(tmp_path, "out") == (0, 0)
    monkeypatch.setattr(checker, "LARGEST", 100)
    assert checker.main([str(tmp_path / "out")]) == 2
    assert "a part has more than 100 variables; fantope verify" in capsys.readouterr().out
