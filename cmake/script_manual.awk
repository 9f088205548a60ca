# SPDX-License-Identifier: BSD-3-Clause
# The manual page of a shell script, from its opening comment and the output of its --help: `usage: NAME …`, one line
# for each call (with its purpose after three spaces); sentences of description, of which the last may be `Exit status:
# …`; options as `  --name VALUE   meaning`. Run with -v name=NAME -v section=8 -v version=VERSION on the script, then
# on its help.
function prose(text) {
  gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); gsub(/'/, "\\(aq", text)
  if (text ~ /^\./) text = "\\\\&" text
  return text
}
function called(line) {
  sub(/^(usage:)? *[^ ]+ */, "", line); gsub(/   *\[/, " [", line)
  if (match(line, /   +[a-z]/)) {  # the purpose of this call
    ways = ways ".TP\n\\fB" prose(substr(line, 1, index(line, " ") - 1)) "\\fR\n" prose(substr(line, RSTART + RLENGTH - 1)) "\n"
    line = substr(line, 1, RSTART - 1)
  }
  usage = usage (usage == "" ? "" : ".br\n") "\\fB" prose(name) "\\fR " prose(line) "\n"
}
FNR == 1 { part += 1 }
part == 1 && /^# SPDX-License-Identifier: / { next }
part == 1 {
  if (FNR > 1 && /^#/ && !opened) { sub(/^# ?/, ""); opening = opening (opening == "" ? "" : " ") $0 }
  else if (FNR > 1) opened = 1
  next
}
FNR == 1 || (/^       / && options == "" && description == "") { called($0); next }
/^  -/ {
  # The first gap of two or more spaces follows the tag; its meaning may begin on the next line.
  tag = $0; meaning = ""
  if (match($0, /[^ ]   *[^ ]/)) { tag = substr($0, 1, RSTART); meaning = prose(substr($0, RSTART + RLENGTH - 1)) "\n" }
  sub(/^ */, "", tag)
  options = options ".TP\n\\fB" prose(tag) "\\fR\n" meaning
  next
}
/^ +/ { sub(/^ +/, ""); options = options prose($0) "\n"; next }
{ description = description (description == "" ? "" : " ") $0 }
END {
  short = opening
  sub(/[.:;] .*/, "", short); sub(/\.$/, "", short)
  short = tolower(substr(short, 1, 1)) substr(short, 2)
  # "Ringside on a node" does not begin with a verb, and keeps its name.
  if (opening ~ /^Ringside/) short = "R" substr(short, 2)
  print ".TH " prose(toupper(name)) " " section " \"\" \"ringside " version "\" \"Ringside\""
  print ".nh\n.ad l"
  print ".SH NAME\n" prose(name) " \\- " prose(short)
  printf ".SH SYNOPSIS\n%s", usage
  if (at = index(description, " Exit status: ")) {
    codes = substr(description, at + length(" Exit status: "))
    description = substr(description, 1, at - 1)
  }
  print ".SH DESCRIPTION\n" prose(description == "" ? opening : description)
  printf "%s.SH OPTIONS\n%s", ways, options
  if (codes != "") print ".SH EXIT STATUS\n" prose(codes)
  print ".SH SEE ALSO\n.BR ringside (1),\n.BR ringside\\-analyzer (1)"
}
