"""Names of the files in the folder of a reproduction."""

MANIFEST = "manifest.json"
CLAIMS = "claims.csv"
README = "readme.md"
"""Results for the README of the study."""
FILES = "files"
"""Folder of the study's own files."""
