"""The site, built by Sphinx: ``sphinx-build -W docs build/site``. Nothing is fetched from a network."""

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import graphpart

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

REPOSITORY = "https://github.com/graphpart/graphpart"
project = "graphpart"
author = "The graphpart developers"
version = release = graphpart.__version__
language = "en"
smartquotes = False  # options of the command line begin with two hyphens

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
    "from_code",
]
exclude_patterns = ["_build", "gallery"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
default_role = "code"
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

# the API, from docstrings
autosummary_generate = True
autosummary_imported_members = False
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# the tutorials, which run
warnings.filterwarnings("ignore", message=".*FigureCanvasAgg is non-interactive.*")
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "tutorials",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "download_all_examples": False,
    "image_scrapers": ("matplotlib",),
    "min_reported_time": 0,
    "plot_gallery": "True",
    "write_computation_times": False,
    "copyfile_regex": r".*\.(csv|png|txt)",
}

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"
bibtex_foot_reference_style = "foot"
suppress_warnings = ["config.cache"]

html_theme = "pydata_sphinx_theme"
html_title = "graphpart"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "icon_links": [
        {"name": "Repository", "url": REPOSITORY, "icon": "fa-brands fa-github"},
    ],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"studies": [], "benchmarks/index": [], "changelog": []}
copyright = "the graphpart developers, MIT licence"


def skip(app: Any, what: str, name: str, member: Any, skipped: bool, options: Any) -> bool | None:
    """Members that come from other packages: dictionaries, exceptions, scikit-learn's requests of metadata."""
    if re.search(r"(^|\.)(set_\w+_request|get_metadata_routing)$", name):
        return True
    if what != "class":
        return None
    found = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
    module = getattr(found, "__module__", None) or "graphpart"
    return None if module.partition(".")[0] == "graphpart" else True


def empty(app: Any, what: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """Their docstrings, where they are not skipped."""
    if re.search(r"\.(set_\w+_request|get_metadata_routing)$", name):
        lines[:] = []


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", empty, priority=100)
