#!/bin/sh
# Tabs and trailing blanks in the sources, and functions that are never safe.
found=0
for file in src/*.c include/*.h tests/*.c tests/*.h; do
    if grep -nP '\t| +$' "$file" | sed "s|^|$file:|" | grep .; then found=1; fi
    if grep -nwE 'gets|strcpy|sprintf' "$file" | sed "s|^|$file: unsafe: |" | grep .; then found=1; fi
done
[ "$found" = 0 ] && echo "lint: clean"
exit "$found"
