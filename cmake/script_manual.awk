# The manual page of a shell script, from what its --help prints: `usage: NAME …`, sentences of what it does, then
# options as `  --name VALUE   meaning`. Run with -v name=NAME -v section=8 -v version=VERSION.
function prose(text) {
  gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); gsub(/'/, "\\(aq", text)
  if (text ~ /^\./) text = "\\\\&" text
  return text
}
NR == 1 { sub(/^usage: */, ""); usage = $0; sub(/^[^ ]+ */, "", usage); next }
/^  -/ {
  # The first gap of two spaces or more is behind the tag; its meaning may begin on the next line.
  tag = $0; meaning = ""
  if (match($0, /[^ ]   *[^ ]/)) { tag = substr($0, 1, RSTART); meaning = prose(substr($0, RSTART + RLENGTH - 1)) "\n" }
  sub(/^ */, "", tag)
  options = options ".TP\n\\fB" prose(tag) "\\fR\n" meaning
  next
}
/^ +/ { sub(/^ +/, ""); options = options prose($0) "\n"; next }
{ description = description (description == "" ? "" : " ") $0 }
END {
  short = description
  sub(/[.:;] .*/, "", short); sub(/\.$/, "", short)
  short = tolower(substr(short, 1, 1)) substr(short, 2)
  print ".TH " prose(toupper(name)) " " section " \"\" \"ringside " version "\" \"Ringside\""
  print ".nh\n.ad l"
  print ".SH NAME\n" prose(name) " \\- " prose(short)
  print ".SH SYNOPSIS\n\\fB" prose(name) "\\fR " prose(usage)
  print ".SH DESCRIPTION\n" prose(description)
  printf ".SH OPTIONS\n%s", options
  print ".SH SEE ALSO\n.BR ringside (1),\n.BR ringside\\-analyzer (1)"
}
