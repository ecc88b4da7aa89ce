#!/bin/sh
exec talaria rlm run --vanilla-baseline "$@"
