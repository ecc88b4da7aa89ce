#!/bin/sh
# `npm start`: a fresh bundle, then the chat on the folder where it was typed; the demo when there is no terminal.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd)
node "$home/scripts/build.ts" --if-stale >/dev/null 2>&1 || :
cd "${INIT_CWD:-$home}"
if [ -t 0 ] && [ -t 1 ]; then
  exec sh "$home/bin/talaria" "$@"
fi
exec sh "$home/bin/talaria" demo "$@"
