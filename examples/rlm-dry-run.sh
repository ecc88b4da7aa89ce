#!/bin/sh
exec "$(dirname "$0")/../bin/talaria" rlm run --dry-run "$@"
