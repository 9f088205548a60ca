# SPDX-License-Identifier: BSD-3-Clause
"""Prints what Python's own zipfile finds in an npz: a line for each entry with its name, its method of compression (0:
stored) and its bytes in hexadecimal. Fails if a checksum does not hold. Of NumPy, only this reader is needed."""
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    if archive.testzip() is not None:
        sys.exit(f"{archive.testzip()}: its checksum does not hold")
    for entry in archive.infolist():
        print(entry.filename, entry.compress_type, archive.read(entry).hex())
