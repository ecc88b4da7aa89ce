#!/bin/sh
exec talaria rlm run --truncation-benchmark "$@"
