#!/bin/sh
# Turns every pages/*.txt into $OUT/*.html: the first line is the title, empty lines part
# paragraphs. Lines that begin with `%` are remarks of the author and stay out.
set -eu
cd "$(dirname "$0")"
out=${OUT:-public}
mkdir -p "$out"
for page in pages/*.txt; do
    name=${page##*/}
    awk '
        function escaped(text) {
            gsub(/&/, "\\&amp;", text)
            gsub(/</, "\\&lt;", text)
            return text
        }
        FNR == 1 { print "<!doctype html><title>" escaped($0) "</title>"; next }
        /^%/ { next }
        NF == 0 { print "<p>"; next }
        { print escaped($0) }
    ' "$page" > "$out/${name%.txt}.html"
done
