import numpy as np
import pandas as pd
import pytest

from fantope.coexpression import prepare


def table(n=12, p=6, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        rng.gamma(2.0, 5.0, (n, p)), index=[f"s{i}" for i in range(n)], columns=[f"G{j}" for j in range(p)]
    )


def halves(frame):
    return pd.Series(np.where(np.arange(len(frame)) < len(frame) // 2, "a", "b"), index=frame.index)


def test_groups_are_matched_by_name():
    frame = table()
    groups = halves(frame).sample(frac=1.0, random_state=0)
    groups["elsewhere"] = "a"
    found = prepare(frame, groups.drop("s3"))
    assert "s3" not in found.expression.index
    assert found.groups["s0"] == "a" and found.groups["s11"] == "b"
    text = " ".join(found.notes)
    assert "1 sample is left out for want of a group: 's3'" in text and "'elsewhere'" in text


def test_one_group_by_default():
    assert set(prepare(table()).groups) == {"all"}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda f: (f, pd.Series("a", index=["x", "y"])), "none matches.*'s0'.*'x'"),
        (lambda f: (f, ["a"] * 3), "one entry for each of the 12 samples, got 3"),
        (lambda f: (f, ["a"] * 9 + ["b"] * 3), "at least 5 samples each, got 3 in group 'b'"),
        (lambda f: (pd.concat([f, f.iloc[:1]]), None), "each sample once, got 's0'"),
        (lambda f: (f.assign(G1="text"), None), "text in 'G1'.*second header"),
        (lambda f: (f.assign(G1=np.inf), None), "infinity in 'G1'"),
        (lambda f: (f.assign(G1=np.nan), None), "12 missing values.*missing='mean'.*missing='drop'"),
        (lambda f: (f.rename(columns={"G1": "1-Mar", "G2": "44256"}), None), "'1-Mar', '44256'.*mangled='drop'"),
        (lambda f: (f * 0.0, None), "at least 2 genes after filtering, got 0"),
        (lambda f: (f.to_numpy(), None), "must be a DataFrame"),
    ],
)
def test_sentences(change, match):
    frame, groups = change(table())
    with pytest.raises(ValueError, match=match):
        prepare(frame, groups)


@pytest.mark.parametrize("transform", ["log1p", "log-cpm"])
def test_logarithms_of_logarithms_are_refused(transform):
    with pytest.raises(ValueError, match="logarithms already"):
        prepare(table() - 10.0, transform=transform)


def test_options_are_named():
    with pytest.raises(ValueError, match="transform must be one of 'none', 'log1p', 'log-cpm', got 'log2'"):
        prepare(table(), transform="log2")
    with pytest.raises(ValueError, match="min_expressed must be a share"):
        prepare(table(), min_expressed=50)


def test_log_cpm():
    frame = table().round()
    found = prepare(frame, transform="log-cpm").expression
    cpm = frame.to_numpy() / frame.to_numpy().sum(axis=1, keepdims=True) * 1e6
    np.testing.assert_allclose(found, np.log2(cpm + 1))


def test_unexpressed_and_constant_genes_go():
    frame = table()
    frame["rare"] = [5.0] + [0.0] * 11
    frame["flat in b"] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] + [2.0] * 6
    found = prepare(frame, halves(frame))
    assert list(found.expression) == [f"G{j}" for j in range(6)]
    text = " ".join(found.notes)
    assert "not zero in fewer than 50 %" in text and "'flat in b'" in text
    assert "rare" in prepare(frame, min_expressed=0.0).expression


def test_of_duplicated_names_the_largest_mean_is_kept():
    frame = table()
    frame.columns = ["A", "B", "A", "C", "D", "E"]
    frame.iloc[:, 2] += 100.0
    found = prepare(frame)
    assert list(found.expression) == ["B", "A", "C", "D", "E"]
    np.testing.assert_array_equal(found.expression["A"], frame.iloc[:, 2])
    assert "largest mean" in " ".join(found.notes)


def test_missing_values():
    frame = table()
    frame.loc["s0", "G0"] = np.nan
    groups = halves(frame)
    filled = prepare(frame, groups, missing="mean").expression
    assert filled.loc["s0", "G0"] == pytest.approx(frame.loc["s1":"s5", "G0"].mean())
    assert "G0" not in prepare(frame, groups, missing="drop").expression


def test_mangled_names_can_be_dropped():
    frame = table().rename(columns={"G1": "2-Sep"})
    found = prepare(frame, mangled="drop")
    assert "2-Sep" not in found.expression and "'2-Sep'" in " ".join(found.notes)


def test_numeric_identifiers_are_no_dates():
    frame = table()
    frame.columns = [44256, 7157, 4609, 672, 675, 348]
    assert "44256" in prepare(frame).expression


def test_covariates_are_gone_within_groups():
    rng = np.random.default_rng(0)
    frame = table(40)
    covariates = pd.DataFrame(
        {"age": rng.normal(50, 10, 40), "batch": rng.choice(["x", "y", "z"], 40)}, index=frame.index
    )
    frame["G0"] += 3 * covariates["age"] + 20 * (covariates["batch"] == "z")
    groups = halves(frame)
    found = prepare(frame, groups, covariates=covariates).expression
    for name in ("a", "b"):
        rows = groups.index[groups == name]
        assert abs(np.corrcoef(found.loc[rows, "G0"], covariates.loc[rows, "age"])[0, 1]) < 1e-10
        means = found.loc[rows, "G0"].groupby(covariates.loc[rows, "batch"]).mean()
        np.testing.assert_allclose(means, means.iloc[0])
        assert found.loc[rows, "G0"].mean() == pytest.approx(frame.loc[rows, "G0"].mean())


def test_covariates_sentences():
    frame = table()
    groups = halves(frame)
    many = pd.DataFrame(np.random.default_rng(0).standard_normal((12, 3)), index=frame.index)
    with pytest.raises(ValueError, match=r"at least 4 degrees of freedom.*group 'a' has 6 samples and they take 4"):
        prepare(frame, groups, covariates=many)
    with pytest.raises(ValueError, match="row for every sample, but lack 's0'"):
        prepare(frame, groups, covariates=many.iloc[1:])
    many.iloc[0, 0] = np.nan
    with pytest.raises(ValueError, match="no missing values"):
        prepare(frame, groups, covariates=many)
