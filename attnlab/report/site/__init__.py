"""A static web site of results, to look through them down to single tokens. Nothing here imports torch."""

from attnlab.report.site.site import write_site

__all__ = ["write_site"]
