#!/usr/bin/sed -Ef
# SPDX-License-Identifier: BSD-3-Clause
# The headers' comments as Doxygen's: of the file, before a declaration, and behind one.
1{
  /SPDX/d
}
/^\/\* -----*/d
0,/^\/\*$/s/^\/\*$/\/** \\file/
s/^( *)\/\*( |$)/\1\/**\2/
s/^(.*[^ ]) +\/\* /\1 \/**< /
# The names that users write are without the inline namespace.
/^(inline namespace abi0 \{|\}  \/\/ namespace abi0)$/d
