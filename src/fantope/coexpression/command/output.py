"""What `fantope coexpress` writes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fantope import __version__
from fantope.coexpression import Coexpression
from fantope.coexpression.command.coexpress import COMMAND
from fantope.coexpression.figures import plot_comparison, plot_modules, plot_selection, plot_volcano
from fantope.coexpression.io.h5ad import write_h5ad
from fantope.coexpression.io.source import Input, Source
from fantope.coexpression.io.tables import FILES, plain_names, write_coexpression
from fantope.coexpression.report import About, write_report
from fantope.io import Reading, checksum
from fantope.io.certificates import stored
from fantope.io.results import relative, write_record, write_solution
from fantope.plotting.style import save_figure

LabelFile = tuple[Path, str | None]


def write_outputs(
    folder: Path, out: Path, result: Coexpression, read: Input, source: Source, labels: list[LabelFile], *,
    command: str, simulated: bool, figures: bool, **rest: Any,
) -> dict[str, Any]:  # fmt: skip
    """Write everything into ``folder``, which will be moved to ``out``; return a summary."""
    tables = write_coexpression(folder, result)
    write_h5ad(folder / "coexpression.h5ad", result)
    solutions = [
        {**write_solution(folder, f"solutions/{k}", group.solution), "group": name}
        for k, (name, group) in enumerate(result.groups.items())
    ]
    # The columns as they were rewritten: transforms, covariates and ranks are not for a program without fantope.
    operators: list[Any] = [group.solution.covariance for group in result.groups.values()]
    matrices = [stored(folder, f"solutions/{k}/data.npy", S) for k, S in enumerate(operators)]
    if figures:
        _draw(folder / "figures", result)
    inputs = {source.data.name: read.data.checksum}
    if source.samples is not None and read.samples_checksum is not None:
        inputs[source.samples.name] = read.samples_checksum
    inputs |= {path.name: checksum(path) for path in (source.probes, *(path for path, _ in labels)) if path is not None}
    about = About(
        title="Simulated expression" if simulated else source.data.name,
        command=command,
        created=datetime.now(UTC).strftime("%d %B %Y").lstrip("0"),
        inputs=inputs,
        versions={"fantope": __version__, **{name: version(name) for name in ("numpy", "scipy", "pandas")}},
        files={
            **{name: FILES[name] for name in tables},
            "coexpression.h5ad": "expression of the active genes, modules, loadings and scores, for scanpy",
            **({"figures/": "the figures as SVG and PNG"} if figures else {}),
            "solutions/": "the certified solutions",
            "run.json": "parameters, versions and checksums",
        },
        simulated=simulated,
    )
    write_report(result, about, folder / "report.html")
    summary = _summary(result)
    write_record(
        folder, COMMAND, replace(read.data, path=_final(source.data, folder, out)), out,
        Reading(transpose=source.genes_in == "rows", layer=source.layer),
        {**result.parameters, "kind": "correlation", "center": True}, solutions,
        matrices=matrices, source=_describe_source(source, read, folder, out), result=summary, command_line=command,
        **rest,
    )  # fmt: skip
    return {**summary, **rest}


def _final(path: Path, folder: Path, out: Path) -> Path:
    """Return where a file will be: a demonstration brings its inputs inside the result."""
    return out / path.relative_to(folder) if path.is_relative_to(folder) else path


def _describe_source(source: Source, read: Input, folder: Path, out: Path) -> dict[str, Any]:
    """Return what a second reading needs, with paths relative to the result."""
    samples = None
    if source.samples is not None:
        path = relative(_final(source.samples, folder, out), out)
        samples = {"path": path, "sha256": read.samples_checksum}
    return {
        "samples": samples,
        "genes_in": "rows" if read.data.transposed else "columns",
        "layer": source.layer,
        "sample_column": source.sample_column,
        "group_column": read.group_column,
        "covariates": list(source.covariates),
        "probes": None
        if source.probes is None
        else {"path": relative(source.probes, out), "sha256": checksum(source.probes)},
    }


def _summary(result: Coexpression) -> dict[str, Any]:
    return {
        "alpha": result.alpha,
        "n_genes": len(result.gene_names),
        "groups": {
            name: {
                "n_samples": len(group.expression),
                "n_active": len(group.genes),
                "n_specific": len(result.specific[name]),
                "n_modules": len(group.modules),
                "gap": float(group.solution.gap),
                "status": group.solution.status.name,
            }
            for name, group in result.groups.items()
        },
        "n_common": len(result.common),
        "differential": [
            {
                "first": pair.first, "second": pair.second, "p": pair.p_value,
                "n_genes": len(pair.genes), "n_genes_changed": int((pair.genes["fdr"] <= 0.05).sum()),
                "n_modules": len(pair.modules), "n_modules_changed": int((pair.modules["fdr"] <= 0.05).sum()),
            }
            for pair in result.differential
        ],
        "notes": list(result.notes),
    }  # fmt: skip


def _draw(folder: Path, result: Coexpression) -> None:
    names = plain_names(list(result.groups))
    save_figure(plot_selection(result), folder, "selection")
    for group, name in names.items():
        save_figure(plot_modules(result, group), folder, f"modules_{name}")
    for pair in result.differential:
        ending = f"{names[pair.first]}_{names[pair.second]}"
        save_figure(plot_comparison(result, pair.first, pair.second), folder, f"comparison_{ending}")
        save_figure(plot_volcano(pair).figure, folder, f"volcano_{ending}")
