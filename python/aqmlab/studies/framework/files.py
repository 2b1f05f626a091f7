"""Names of files in the folder of a reproduction."""

MANIFEST = "manifest.json"
CLAIMS = "claims.csv"
FALSIFICATION = "falsification.csv"
README = "readme.md"
"""Name of the file with the results for the study's README."""
FILES = "files"
"""Name of the folder for additional files of a reproduction, such as packet captures."""
