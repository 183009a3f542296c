"""The stream command: formats, exactly-once resumption, refusals, bad rows."""

import json
import os
import random
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

import fantope
from fantope.cli import main
from fantope.online.persist import previous, read_state

N, P = 1500, 12


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((N, P))
    Z[:, :4] += 2.0 * rng.standard_normal((N, 1))
    return Z.round(4) + 0.5


def write_csv(path, rows, delimiter=",", header=True, end="\n"):
    lines = [delimiter.join(f"v{j}" for j in range(rows.shape[1]))] if header else []
    lines += [delimiter.join(repr(float(v)) for v in row) for row in rows]
    path.write_text("\n".join(lines) + end)
    return path


def flat(state, prefix=""):
    for key, value in state.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}/")
        else:
            yield prefix + key, value


def assert_same_state(first, second):
    a, b = dict(flat(read_state(first)[1])), dict(flat(read_state(second)[1]))
    assert a.keys() == b.keys()
    for key in a:
        np.testing.assert_array_equal(a[key], b[key], err_msg=key)


def result(capsys):
    return json.loads(capsys.readouterr().out.splitlines()[-1])


@pytest.mark.slow
def test_every_format_gives_the_same_state(tmp_path, rows, capsys, monkeypatch):
    write_csv(tmp_path / "a.csv", rows)
    write_csv(tmp_path / "a.tsv", rows, "\t", end="")
    np.save(tmp_path / "a.npy", rows)
    with (tmp_path / "a.ndjson").open("w") as file:
        for row in rows:
            file.write(json.dumps({f"v{j}": float(v) for j, v in enumerate(row)}) + "\n")
    for name in ("a.csv", "a.tsv", "a.npy", "a.ndjson"):
        assert main(["stream", str(tmp_path / name), "--checkpoint", str(tmp_path / (name + ".ck")), "--json"]) == 0
        assert result(capsys)["n_samples"] == N
    reference = fantope.OnlineSparsePCA(2, alpha=0.1).fit(rows)
    reference.save(tmp_path / "reference")
    for name in ("a.csv", "a.tsv", "a.npy", "a.ndjson"):
        assert_same_state(tmp_path / (name + ".ck"), tmp_path / "reference")
    loaded = fantope.load(tmp_path / "a.csv.ck")
    assert loaded.feature_names_in_.tolist() == [f"v{j}" for j in range(P)]
    np.testing.assert_array_equal(loaded.components_, reference.components_)


def command(source, checkpoint, *more):
    return [sys.executable, "-m", "fantope.cli", "stream", str(source), "--checkpoint", str(checkpoint), "--quiet",
            "--checkpoint-every", "70", "--track", "50", *more]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_killed_at_random_moments_it_ends_in_the_same_state(tmp_path, rows, kind):
    source = write_csv(tmp_path / "a.csv", rows)
    whole, cut = tmp_path / "whole.ck", tmp_path / "cut.ck"

    def start(checkpoint):
        if kind == "file":
            return subprocess.Popen(command(source, checkpoint, "--snapshots", str(tmp_path / checkpoint.stem),
                                            "--snapshot-every", "500"))  # fmt: skip
        with source.open("rb") as file:
            return subprocess.Popen(command("-", checkpoint), stdin=file)

    assert start(whole).wait(60) == 0
    chance = random.Random(kind)
    kills = 0
    for _ in range(5):
        process = start(cut)
        began = time.monotonic()
        # Starting takes a while; the moments are spread over what comes after the first checkpoint of this run.
        known = cut.stat().st_mtime_ns if cut.exists() else 0
        while process.poll() is None and time.monotonic() - began < 30:
            if cut.exists() and cut.stat().st_mtime_ns != known:
                break
            time.sleep(0.001)
        time.sleep(chance.uniform(0.0, 0.02))
        if process.poll() is None:
            process.kill()
            kills += 1
        if process.wait(30) == 0:
            break
    assert kills >= 2
    assert start(cut).wait(60) == 0
    assert read_state(cut)[0]["position"]["position"] == read_state(whole)[0]["position"]["position"]
    assert fantope.load(cut).n_samples_seen_ == N
    assert_same_state(whole, cut)
    if kind == "file":
        for name in ("components-000000000500.csv", "components-000000001500.csv"):
            assert (tmp_path / "whole" / name).read_text() == (tmp_path / "cut" / name).read_text()


KILL_OFTEN = """
import os, random, signal, sys, time
from fantope.cli import main
warm, cut = (["stream", sys.argv[1], "--quiet", "--checkpoint-every", "20", "--checkpoint", to] for to in sys.argv[2:])
main([*warm, "--max-samples", "50"])  # compiled and imported once; each child is a fork of that
chance, kills = random.Random(0), 0
for _ in range(80):
    child = os.fork()
    if child == 0:
        os._exit(main(cut))
    time.sleep(chance.uniform(0.0, 0.04))
    os.kill(child, signal.SIGKILL)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
    kills += 1
print(kills)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_very_many_moments(tmp_path, rows):
    """Checkpoints follow each other closely, so that many of the kills come while one is being written."""
    source = write_csv(tmp_path / "a.csv", rows)
    whole, cut, warm = tmp_path / "whole.ck", tmp_path / "cut.ck", tmp_path / "warm.ck"
    arguments = ["stream", str(source), "--quiet", "--checkpoint-every", "20", "--checkpoint"]
    assert main([*arguments, str(whole)]) == 0
    # OpenMP threads do not survive a fork; numba's own do.
    environment = os.environ | {"NUMBA_THREADING_LAYER": "workqueue"}
    script = [sys.executable, "-c", KILL_OFTEN, str(source), str(warm), str(cut)]
    done = subprocess.run(script, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert int(done.stdout) >= 5  # dozens; fewer where a whole run is a matter of a few moments
    assert main([*arguments, str(cut)]) == 0
    assert_same_state(whole, cut)


@pytest.mark.slow
def test_many_cuts_in_one_process(tmp_path, rows):
    """Cheap cuts at many places: end after so many samples, start again."""
    source = write_csv(tmp_path / "a.csv", rows)
    whole, cut = tmp_path / "whole.ck", tmp_path / "cut.ck"
    assert main(command(source, whole)[3:]) == 0
    chance = random.Random(1)
    reached = 0
    while reached < N:
        reached += chance.randint(1, 90)
        assert main([*command(source, cut)[3:], "--max-samples", str(reached)]) == 0
    assert_same_state(whole, cut)


@pytest.mark.slow
def test_a_slow_pipe_that_ends_in_the_middle_of_a_line(tmp_path, rows):
    source = write_csv(tmp_path / "a.csv", rows[:40]).read_bytes()
    process = subprocess.Popen(command("-", tmp_path / "ck"), stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    for k in range(0, len(source) - 20, 700):
        process.stdin.write(source[k : min(k + 700, len(source) - 20)])
        process.stdin.flush()
        time.sleep(0.01)
    process.stdin.close()
    error = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(30) == 2
    assert "line 41" in error and "ends in the middle of the line" in error
    assert fantope.load(tmp_path / "ck").n_samples_seen_ == 39


@pytest.mark.slow
def test_follow_a_file_that_grows(tmp_path, rows):
    source = write_csv(tmp_path / "a.csv", rows[:10])
    process = subprocess.Popen(command(source, tmp_path / "ck", "--follow", "--max-samples", "30"))
    with source.open("a") as file:
        for row in rows[10:30]:
            text = ",".join(repr(float(v)) for v in row) + "\n"
            file.write(text[:15])
            file.flush()
            time.sleep(0.01)
            file.write(text[15:])
            file.flush()
    assert process.wait(30) == 0
    reference = fantope.OnlineSparsePCA(2, alpha=0.1, track=50).fit(rows[:30])
    np.testing.assert_array_equal(fantope.load(tmp_path / "ck").components_, reference.components_)


@pytest.mark.posix
@pytest.mark.slow
def test_terminated_it_saves_what_it_has(tmp_path, rows):
    source = write_csv(tmp_path / "a.csv", rows[:20])
    process = subprocess.Popen(command(source, tmp_path / "ck", "--follow", "--checkpoint-seconds", "0.1"))
    for _ in range(600):
        if (tmp_path / "ck").exists():
            break
        time.sleep(0.05)
    process.terminate()
    assert process.wait(30) == 130
    assert fantope.load(tmp_path / "ck").n_samples_seen_ == 20


@pytest.mark.parametrize(
    ("text", "said"),
    [("1,2", "2 values where 12 were expected"), ("a" + ",1" * 11, "'a' is not a number, in column 'v0'"),
     ("1,nan" + ",1" * 10, "nan in column 'v1'"), ("1,1,-inf" + ",1" * 9, "-inf in column 'v2'")],
)  # fmt: skip
def test_bad_rows_stop_or_are_skipped(tmp_path, rows, capsys, text, said):
    source = write_csv(tmp_path / "a.csv", rows[:50])
    lines = source.read_text().splitlines()
    lines.insert(21, text)
    source.write_text("\n".join(lines) + "\n")
    ck = tmp_path / "ck"
    assert main(["stream", str(source), "--checkpoint", str(ck)]) == 2
    error = capsys.readouterr().err
    assert "line 22: " + said in error and "--bad-rows skip" in error
    assert fantope.load(ck).n_samples_seen_ == 20
    skip = ["stream", str(source), "--checkpoint", str(ck), "--bad-rows", "skip", "--json"]
    assert main(skip) == 0
    assert result(capsys)["bad_rows"] == 1
    assert (tmp_path / "a.csv.bad-rows.txt").read_text().startswith(f"22\t{said}")
    reference = fantope.OnlineSparsePCA(2, alpha=0.1).fit(rows[:50])
    np.testing.assert_array_equal(fantope.load(ck).components_, reference.components_)


def test_a_run_goes_on_from_a_checkpoint_of_another_version_of_fantope(tmp_path, rows, capsys, monkeypatch):
    source, ck = write_csv(tmp_path / "a.csv", rows[:40]), tmp_path / "ck"
    command = ["stream", str(source), "--checkpoint", str(ck)]
    monkeypatch.setattr("fantope.cli._stream_checkpoint.__version__", "0.1.0")
    assert main([*command, "--quiet"]) == 0
    monkeypatch.undo()
    write_csv(source, rows[:60])
    assert main(command) == 0
    assert "made by fantope 0.1.0" in " ".join(capsys.readouterr().err.split())
    assert fantope.load(ck).n_samples_seen_ == 60


def test_other_parameters_columns_versions_and_inputs_are_refused(tmp_path, rows, capsys):
    source, ck = write_csv(tmp_path / "a.csv", rows[:60]), tmp_path / "ck"
    base = ["stream", str(source), "--checkpoint", str(ck), "--quiet"]
    assert main(base) == 0
    assert main([*base, "-a", "0.3"]) == 2
    assert "alpha was 0.1 and is 0.3" in capsys.readouterr().err
    other = write_csv(tmp_path / "b.csv", rows[:70])
    other.write_text(other.read_text().replace("v3", "w3", 1))
    assert main(["stream", str(other), "--checkpoint", str(ck)]) == 2
    assert "column 4 was 'v3' and is 'w3'" in capsys.readouterr().err
    source.write_text(source.read_text()[:900])
    assert main(base) == 2
    assert "shorter" in capsys.readouterr().err
    with zipfile.ZipFile(ck) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    content = json.loads(members["header.json"])
    content["version"] = 99
    with zipfile.ZipFile(ck, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, json.dumps(content) if name == "header.json" else data)
    assert main(base) == 2
    assert "format version 99" in capsys.readouterr().err


@pytest.mark.slow
def test_a_damaged_checkpoint_falls_back_to_the_one_before(tmp_path, rows, capsys):
    source, ck = write_csv(tmp_path / "a.csv", rows[:300]), tmp_path / "ck"
    assert main(command(source, tmp_path / "whole")[3:]) == 0
    assert main([*command(source, ck)[3:], "--max-samples", "200"]) == 0
    data = bytearray(ck.read_bytes())
    data[len(data) // 2] ^= 0xFF
    ck.write_bytes(bytes(data))
    assert main(command(source, ck)[3:]) == 0
    assert "going on from the checkpoint before it" in capsys.readouterr().err
    assert_same_state(tmp_path / "whole", ck)
    for file in (ck, previous(ck)):
        file.write_bytes(b"nothing")
    assert main(command(source, ck)[3:]) == 2
    assert "damaged" in capsys.readouterr().err


def test_result_folder_and_plain_progress(tmp_path, rows, capsys):
    source = write_csv(tmp_path / "a.csv", rows[:200])
    assert main(["stream", str(source), "-o", str(tmp_path / "out"), "--track", "10"]) == 0
    assert "200 samples, 0 bad rows" in capsys.readouterr().out
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "components.csv", "summary.json", "state.fantope", "run.json",
    }  # fmt: skip
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["average_regret"] is not None
    assert fantope.load(tmp_path / "out" / "state.fantope").n_samples_seen_ == 200


def test_bad_input_is_one_sentence(tmp_path, capsys):
    assert main(["stream", str(tmp_path / "missing.csv")]) == 2
    assert "missing.csv" in capsys.readouterr().err
    (tmp_path / "x.dat").write_text("1")
    assert main(["stream", str(tmp_path / "x.dat")]) == 2
    assert "--format" in capsys.readouterr().err
    (tmp_path / "e.csv").write_text("")
    assert main(["stream", str(tmp_path / "e.csv")]) == 2
    assert "empty" in capsys.readouterr().err
    assert main(["stream", "-", "--follow"]) == 2
