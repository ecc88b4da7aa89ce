#!/bin/sh
# `npm start`: the chat on the folder where it was typed; the demo when there is no terminal.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd)
cd "${INIT_CWD:-$home}"
if [ -t 0 ] && [ -t 1 ]; then
  exec sh "$home/bin/talaria" "$@"
fi
exec sh "$home/bin/talaria" demo "$@"
