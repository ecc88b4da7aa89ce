#!/bin/sh
exec talaria rlm run --dry-run "$@"
