#!/bin/sh
# Installs a real Matrix homeserver (matrix-synapse, AGPL-3.0, from the Python package index) for the real tests of the peer layer, in a
# virtual environment outside the project: `scripts/fetch-synapse.sh [FOLDER]`. The last line is that environment's python, which
# scripts/start-synapse.ts takes, or `skipped: REASON` when it cannot be had. Running it again changes nothing.
set -eu

version=1.163.2
folder=${1:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/talaria/synapse-$version}
python=$folder/bin/python
complete=$folder/.complete-$version

if [ -f "$complete" ] && "$python" -c 'import synapse' 2>/dev/null; then echo "$python" && exit 0; fi

# skip REASON HOW
skip() {
  echo "$2" >&2
  echo "skipped: $1"
  exit 0
}

command -v python3 >/dev/null 2>&1 ||
  skip 'there is no python3 to run a homeserver with' 'Install Python 3.10 or newer; on Debian and Ubuntu: apt-get install python3-venv'
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
  skip 'python3 is too old to run a homeserver with' "The homeserver needs Python 3.10 or newer; this is $(python3 --version 2>&1)"
python3 -c 'import ensurepip, venv' 2>/dev/null ||
  skip 'python3 can make no virtual environment' 'Install its venv and pip; on Debian and Ubuntu: apt-get install python3-venv'

rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
python3 -m venv "$folder" >&2
# Wheels only: without one for this platform pip would go and compile.
if ! "$python" -m pip install --quiet --disable-pip-version-check --no-input --only-binary :all: "matrix-synapse==$version" >&2; then
  rm -rf "$folder"
  skip 'no package index answers, the homeserver cannot be fetched' \
    'pip could not install it (see above): it needs a Python package index, and a wheel for this platform'
fi
: >"$complete"
echo "$python"
