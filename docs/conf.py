"""How Sphinx makes a site of these pages: `tox -e docs`, then build/site/index.html.

Sphinx rather than mkdocs-material: that loads a script from a CDN to search from file://, and its end of life
is announced (May 2027). The site of Sphinx with furo loads nothing, and its search works from file://.

Patterns of index.md match compare, history, other_tools, report; and reference, remote,
exit_statuses: those that there are.
"""

import iogate

project = html_title = "iogate"
author = copyright = "The iogate authors"
version = release = iogate.__version__
extensions = ["myst_parser"]
myst_heading_anchors = 4  # links such as gate.md#a-heading, as GitHub has them
html_theme = "furo"
html_copy_source = html_show_sourcelink = False
html_show_search_summary = False  # they would be fetched, which browsers refuse from file://
