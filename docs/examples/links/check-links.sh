#!/bin/sh
# Prints every relative link below docs/ that leads nowhere as FILE:LINE:TARGET.
# Exit 0: there is none. Exit 1: there are some.
set -eu
cd "$(dirname "$0")"

find docs -name '*.md' | LC_ALL=C sort | while read -r file; do
    awk -v file="$file" '{
        rest = $0
        while (match(rest, /\]\([^)#:]+\)/)) {
            print file ":" FNR ":" substr(rest, RSTART + 2, RLENGTH - 3)
            rest = substr(rest, RSTART + RLENGTH)
        }
    }' "$file"
done | while IFS=: read -r file line target; do
    [ -e "$(dirname "$file")/$target" ] || echo "$file:$line:$target"
done | {
    broken=0
    while read -r finding; do
        echo "$finding"
        broken=1
    done
    exit "$broken"
}
