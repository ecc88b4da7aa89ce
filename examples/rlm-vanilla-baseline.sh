#!/bin/sh
exec "$(dirname "$0")/../node_modules/.bin/node" "$(dirname "$0")/../bench/run.ts" rlm vanilla "$@"
