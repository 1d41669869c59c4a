#!/bin/sh
# Take what strangers propose into this checkout, and nothing that anything would run: plain files that are suites,
# job files or baselines. Links, profiles of devices and whatever else they changed stay as they are here.
#
#   git fetch origin pull/7/head && sh take.sh FETCH_HEAD && pytest suites/ --device=lab --io-strict
set -eu
theirs=$(git rev-parse --verify --end-of-options "$1^{commit}")
name='[A-Za-z0-9_+.-]+'
data="suites/($name/)*$name[.](ya?ml|fio)|baselines/($name/)+$name[.]yaml"

taken() { # the data of a commit, as lines of `git ls-tree`; names that git would quote are none
    git ls-tree -r --full-tree "$1" | grep -E "^100[67][0-9]{2} blob [0-9a-f]+	($data)\$" | grep -v '/device[.]yaml$'
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$(git rev-parse --show-toplevel)"
export GIT_INDEX_FILE="$folder/index"
git read-tree HEAD
taken HEAD | cut -f 2 | git update-index --force-remove --stdin
taken "$theirs" | git update-index --index-info
tree=$(git write-tree)
unset GIT_INDEX_FILE
strange=$(git diff-tree -r --no-renames --name-only HEAD "$tree" |
    sed -E -e '/\/device[.]yaml$/b' -e "\\#^($data)\$#d")
if [ -n "$strange" ]; then
    printf '%s: nothing is taken: a folder of %s is called as a file here:\n%s\n' "$0" "$1" "$strange" >&2
    exit 1
fi
git read-tree -m -u HEAD "$tree"
