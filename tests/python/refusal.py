# SPDX-License-Identifier: BSD-3-Clause
"""Used by the programs that tests run: prints the line with which a call is refused."""


def refused(call, *arguments, **options):
    try:
        call(*arguments, **options)
        print("not refused")
    except (KeyError, TypeError, ValueError) as error:  # UsageError is a ValueError
        print(error)
