#!/bin/sh
# Fetches what the contracts of the market are compiled and tried with, from the npm registry, beside the clone: a local chain (anvil, MIT or
# Apache-2.0), the Solidity compiler (GPL-3.0) and OpenZeppelin's contracts (MIT): `scripts/fetch-chain.sh [FOLDER]`. The last line is the folder, or
# `skipped: REASON` when they cannot be had. Running it again downloads nothing.
set -eu

version=1
folder=${1:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/talaria/chain-$version}
if [ -f "$folder/complete" ]; then echo "$folder" && exit 0; fi

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) system=none ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=amd64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) machine=none ;;
esac
if [ "$system" = none ] || [ "$machine" = none ]; then
  echo 'skipped: the local chain has no binary for this platform'
  exit 0
fi

mkdir -p "$folder"
[ -f "$folder/package.json" ] || echo '{"name":"chain-parts","private":true}' >"$folder/package.json"
if npm install --prefix "$folder" --no-audit --no-fund --ignore-scripts --save-exact \
  "@foundry-rs/anvil-$system-$machine@1.7.1" solc@0.8.37 @openzeppelin/contracts@5.7.0 >&2; then
  ln -sf "node_modules/@foundry-rs/anvil-$system-$machine/bin/anvil" "$folder/anvil"
  : >"$folder/complete"
  echo "$folder"
  exit 0
fi
echo 'Set the npm registry that this machine can reach, and run this again; or name a folder that has them: TALARIA_TEST_CHAIN=/path' >&2
echo 'skipped: no package index answers, the parts of the chain cannot be fetched'
