#!/bin/sh
# Fetches what the real tests of reach speak with, from the npm registry, beside the clone: MCP servers and the conformance suite of the protocol, a browser
# server, OpenAI's client, an editor's client: `scripts/fetch-reach.sh [FOLDER]`. The last line is the folder, or `skipped: REASON` when they cannot
# be had. Running it again downloads nothing.
set -eu

version=1
folder=${1:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/talaria/reach-$version}
if [ -f "$folder/complete" ]; then echo "$folder" && exit 0; fi
mkdir -p "$folder"
cd "$folder"
[ -f package.json ] || echo '{"name":"reach-parts","private":true}' >package.json
if PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --no-audit --no-fund --ignore-scripts --save-exact \
  @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31 \
  @modelcontextprotocol/conformance@0.1.16 @playwright/mcp@0.0.83 openai@7.55.0 acpx@0.19.1 >&2; then
  : >complete
  echo "$folder"
  exit 0
fi
echo 'Set the npm registry that this machine can reach, and run this again; or name a folder that has them: TALARIA_TEST_REACH=/path' >&2
echo 'skipped: no package index answers, the parts of reach cannot be fetched'
