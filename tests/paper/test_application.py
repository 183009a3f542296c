import pytest
from benchmarks.cases import data_folder

from fantope.paper.base import Skipped
from fantope.paper.chapters.application import chapter
from fantope.paper.experiments import application
from fantope.paper.experiments.application import Application
from fantope.paper.experiments.common import plain
from fantope.paper.store import RunStore


@pytest.mark.slow
@pytest.mark.skipif(data_folder() is None, reason="the kidney data are not there; set FANTOPE_DATA")
def test_the_stand_in_goes_from_data_to_claims(tmp_path, monkeypatch):
    monkeypatch.setenv("FANTOPE_DATA", str(data_folder()))
    config = Application(n_genes=200, alphas=(0.85,), min_genes=5, max_genes=200)
    result = application.run(config, lambda fraction, text: None)
    assert result["samples"] == {"tumour": 60, "normal": 72} and 190 <= result["n_genes"] <= 200
    store = RunStore(tmp_path, "application")
    store.write(config, plain(result), 1.0, None)
    found = chapter([store.read(config)])
    assert f"{result['n_genes']} expressed genes, those that vary most" in found.blocks[0]
    assert [claim.where for claim in found.claims][:4] == ["6, figure 5 (stand-in)"] + ["6, table 1 (stand-in)"] * 3


def test_without_data_the_reason_is_given(monkeypatch, tmp_path):
    monkeypatch.setenv("FANTOPE_DATA", str(tmp_path))
    monkeypatch.setattr(application, "FILE", "nowhere.npz")
    with pytest.raises(Skipped, match=r"nowhere\.npz is not there; set FANTOPE_DATA"):
        application.run(Application(), lambda fraction, text: None)
