#!/bin/sh
# Asks the built program a few things and compares the answers.
set -eu
iniq=$1
fail() { echo "smoke: $1" >&2; exit 1; }

[ "$("$iniq" examples/app.ini server.port)" = 8080 ] || fail "port"
[ "$("$iniq" examples/app.ini title)" = "Demo app" ] || fail "title"
"$iniq" examples/app.ini no.such && fail "found what is not there"
"$iniq" examples/bad.ini >/dev/null 2>&1 && fail "took a bad file"
echo "smoke: ok"
