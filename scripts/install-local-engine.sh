#!/bin/sh
# Installs the local engine (node-llama-cpp, trimmed to the one platform package that runs here) into a folder
# outside the project: `scripts/install-local-engine.sh [FOLDER]`. The last line is the folder that holds its
# node_modules, or `skipped: REASON` when there is no engine for this machine. Running it again changes nothing.
set -eu

version=3.22.1
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/talaria
folder=${1:-$cache/engines/node-llama-cpp-$version}

case $(uname -s)-$(uname -m) in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  Darwin-arm64) platform=mac-arm64-metal ;;
  Darwin-x86_64) platform=mac-x64 ;;
  *) echo "skipped: the local engine has no binary for this platform" && exit 0 ;;
esac

done=$folder/.complete-$version-$platform
if [ ! -f "$done" ]; then
  mkdir -p "$folder"
  cat >"$folder/package.json" <<JSON
{
  "private": true,
  "description": "The local engine of Talaria. This folder can be deleted and installed again.",
  "dependencies": { "node-llama-cpp": "$version", "@node-llama-cpp/$platform": "$version" }
}
JSON
  # Its other optional packages are graphics-card builds, 640 MB of them; its install script would compile.
  (cd "$folder" && npm install --omit=optional --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error >&2)
  : >"$done"
fi
echo "$folder"
