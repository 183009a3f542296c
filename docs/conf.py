"""The site: `make docs` builds it into build/site, without network."""

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
for name in ("OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):  # the problems of the gallery are small
    os.environ.setdefault(name, "1")
os.environ.setdefault("MPLBACKEND", "agg")

import fantope  # noqa: E402  (after the number of threads)

project = "fantope"
author = "fantope developers"
copyright = "fantope developers"
version = release = fantope.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "reference",
]
exclude_patterns = ["reference/modules/*.in", "**/README.rst", "gallery/*.ipynb"]
templates_path = ["_templates"]
default_role = "code"  # our docstrings write `name` for a name
nitpicky = False
keep_warnings = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # the gallery's order is a function, which Sphinx cannot keep

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections have the types
autodoc_member_order = "groupwise"
numpydoc_show_class_members = True
numpydoc_show_inherited_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/[a-z0-9_]+\.py$",
    "within_subsection_order": "reference.in_reading_order",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "doc_module": ("fantope",),
    "backreferences_dir": None,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
    "notebook_images": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "fantope"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
    "search_bar_text": "Search: gap, alpha_max, missing values …",
}
html_sidebars = {"index": [], "choosing": [], "faq": []}

warnings.filterwarnings("error", module="fantope")
