"""fantope.tl and fantope.pp on AnnData."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import fantope

anndata = pytest.importorskip("anndata", reason="anndata is not installed")


@pytest.fixture
def adata():
    sim = fantope.simulate(80, 50, sizes=(9, 7))
    found = anndata.AnnData(sim.Z + 2.0)
    found.var["highly_variable"] = np.arange(50) < 30
    found.obs["tissue"] = pd.Categorical(np.repeat(["liver", "kidney"], 40))
    return found


def test_scores_are_those_of_the_estimator(adata):
    fantope.tl.sparse_pca(adata, 2, alpha=0.2)
    pca = fantope.SparsePCA(2, alpha=0.2, kind="correlation", tol=1e-3).fit(adata.X)
    np.testing.assert_allclose(np.abs(adata.obsm["X_spca"]), np.abs(pca.transform(adata.X)), atol=0.15)
    scores = adata.obsm["X_spca"]
    np.testing.assert_allclose(scores.var(axis=0), adata.uns["spca"]["variance"], rtol=1e-6)
    np.testing.assert_allclose(adata.varm["SPCs"].T @ adata.varm["SPCs"], np.eye(2), atol=1e-9)
    assert adata.uns["spca"]["params"]["gap"] <= 1e-3


@pytest.mark.slow
def test_number_of_genes_instead_of_alpha(adata):
    fantope.tl.sparse_pca(adata, 2, n_genes=12)
    assert abs(adata.var["spca"].sum() - 12) <= 2


def test_mask_layer_and_key(adata):
    adata.layers["sparse"] = scipy.sparse.csr_matrix(adata.X)
    fantope.tl.sparse_pca(adata, 2, alpha=0.2, mask_var="highly_variable", key_added="dense")
    fantope.tl.sparse_pca(adata, 2, alpha=0.2, mask_var=adata.var["highly_variable"], layer="sparse", key_added="s")
    np.testing.assert_allclose(adata.obsm["dense"], adata.obsm["s"], atol=1e-6)
    assert not adata.varm["dense"][30:].any() and not adata.varm["dense_sparse"][30:].any()
    assert adata.var["dense_proven"].iloc[30:].isna().all() and adata.var["dense_proven"].iloc[:30].notna().all()


def test_the_sparse_basis_and_what_is_proven(adata):
    solution = fantope.tl.sparse_pca(adata, 2, alpha=0.2)
    sparse, pcs = adata.varm["SPCs_sparse"], adata.varm["SPCs"]
    np.testing.assert_allclose(sparse @ sparse.T, pcs @ pcs.T, atol=1e-10)
    assert np.abs(sparse).sum() <= np.abs(pcs).sum()
    assert adata.var["spca_proven"].tolist() == solution.verdicts().tolist()
    assert (adata.var["spca_proven"] == "in").any()


@pytest.mark.slow
def test_results_survive_a_file(adata, tmp_path):
    fantope.tl.sparse_pca(adata, 2, alpha=0.2)
    fantope.tl.coexpression_modules(
        adata, "tissue", n_components=2, alphas=[0.5, 0.4, 0.3], min_genes=4, max_genes=40, permutations=5
    )
    adata.write_h5ad(tmp_path / "out.h5ad")
    again = anndata.read_h5ad(tmp_path / "out.h5ad")
    np.testing.assert_array_equal(again.obsm["X_spca"], adata.obsm["X_spca"])
    assert again.uns["coexpression"]["alpha"] == adata.uns["coexpression"]["alpha"]
    assert list(again.var["coexpression_liver"].dropna()) == list(adata.var["coexpression_liver"].dropna())


@pytest.mark.slow
def test_modules_and_eigengenes(adata):
    found = fantope.tl.coexpression_modules(
        adata, "tissue", n_components=2, alphas=[0.5, 0.4, 0.3], min_genes=4, max_genes=40, permutations=0
    )
    genes = found.groups["kidney"].genes.set_index("gene")["module"]
    assert adata.var.loc[genes.index, "coexpression_kidney"].tolist() == genes.tolist()
    proven = pd.Series(found.groups["kidney"].solution.verdicts(), index=found.gene_names)
    assert adata.var["coexpression_kidney_proven"].dropna().to_dict() == proven.to_dict()
    sparse = pd.DataFrame(adata.varm["coexpression_kidney"], index=adata.var_names)
    wanted = found.groups["kidney"].genes[["sparse1", "sparse2"]]
    np.testing.assert_array_equal(sparse.loc[genes.index], wanted)
    assert not sparse.drop(genes.index).any(axis=None)
    eigengenes = adata.obsm["X_coexpression_kidney"]
    assert eigengenes.iloc[:40].isna().all(axis=None) and eigengenes.iloc[40:].notna().all(axis=None)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_log_cpm_and_filter(form):
    counts = np.random.default_rng(0).poisson(3.0, (12, 6)).astype(float)
    counts[:, 4] = 0.0
    counts[:4, 5] = counts[4:, 5] = 0.0
    found = anndata.AnnData(form(counts))
    fantope.pp.log_cpm(found)
    expected = np.log2(1 + counts / counts.sum(axis=1, keepdims=True) * 1e6)
    values = found.X.toarray() if scipy.sparse.issparse(found.X) else found.X
    np.testing.assert_allclose(values, expected)
    assert scipy.sparse.issparse(found.X) == scipy.sparse.issparse(form(counts))
    fantope.pp.filter_genes(found, min_value=1.0)
    assert list(found.var_names) == ["0", "1", "2", "3"]


def test_layers_are_changed_alone():
    counts = np.random.default_rng(0).poisson(3.0, (5, 4)).astype(float) + 1.0
    found = anndata.AnnData(counts.copy(), layers={"counts": counts.copy()})
    fantope.pp.log_cpm(found, layer="counts")
    np.testing.assert_array_equal(found.X, counts)
    assert not np.array_equal(found.layers["counts"], counts)


def test_sentences(adata):
    with pytest.raises(ValueError, match=r"mask_var must be one of the columns of adata.var \('highly_variable'\)"):
        fantope.tl.sparse_pca(adata, 2, mask_var="hvg")
    with pytest.raises(ValueError, match="one boolean for each of the 50 genes"):
        fantope.tl.sparse_pca(adata, 2, mask_var=[1, 2])
    with pytest.raises(ValueError, match=r"groupby must be one of the columns of adata.obs \('tissue'\)"):
        fantope.tl.coexpression_modules(adata, "organ")
    with pytest.raises(ValueError, match=r"layer must be one of the layers of adata \(none\)"):
        fantope.pp.log_cpm(adata, layer="counts")
    with pytest.raises(ValueError, match="logarithms already"):
        fantope.pp.log_cpm(adata)
    with pytest.raises(ValueError, match="counts in every sample, got none in '0'"):
        fantope.pp.log_cpm(anndata.AnnData(np.zeros((2, 2))))
    with pytest.raises(ValueError, match="share between 0 and 1"):
        fantope.pp.filter_genes(adata, min_share=50)
