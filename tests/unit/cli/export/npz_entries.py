# SPDX-License-Identifier: BSD-3-Clause
"""Prints what Python's module zipfile finds in an npz file: for each entry, a line with its name, its method of
compression (0: stored) and its bytes in hexadecimal. Fails if a checksum is wrong. NumPy is not needed."""
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    if archive.testzip() is not None:
        sys.exit(f"{archive.testzip()}: its checksum is wrong")
    for entry in archive.infolist():
        print(entry.filename, entry.compress_type, archive.read(entry).hex())
