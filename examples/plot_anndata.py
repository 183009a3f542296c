"""
AnnData, for scanpy's plots
===========================

``fantope.tl.sparse_pca`` writes scores and loadings where scanpy looks for them. With scanpy installed,
``scanpy.pl.embedding(adata, basis="spca", color="kind")`` draws the first panel.
"""

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import fantope

rng = np.random.default_rng(0)
kind = rng.integers(0, 3, 300)
means = np.full((3, 400), 0.3)
means[0, :25], means[1, 25:45], means[2, 45:60] = 3.0, 3.0, 3.0
obs = pd.DataFrame({"kind": pd.Categorical([f"type {k}" for k in kind])}, index=[f"cell{i}" for i in range(300)])
adata = anndata.AnnData(rng.poisson(means[kind]).astype(float), obs=obs)
adata.var_names = [f"gene{j}" for j in range(400)]

fantope.pp.log_cpm(adata)
solution = fantope.tl.sparse_pca(adata, 2, n_genes=60)
print(adata)
print(f"{int(adata.var['spca'].sum())} genes in use, gap {solution.gap:.1e}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=[3, 2])
fantope.plotting.plot_biplot(
    adata.obsm["X_spca"], adata.varm["SPCs"].T, adata.var_names, groups=adata.obs["kind"], n_arrows=8, ax=left
)
fantope.plotting.plot_loadings_heatmap(adata.varm["SPCs"].T, adata.var_names, n_shown=25, ax=right)
plt.show()
