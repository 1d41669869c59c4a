#!/bin/sh
# Take what strangers propose into this checkout, and nothing that anything would run: plain files that are suites,
# job files or baselines. Links, profiles of devices and whatever else they changed stay as they are here, which is
# told. It is called in the folder of the project, whose history must reach back to where theirs began.
#
#   git fetch origin pull/7/head && sh take.sh FETCH_HEAD && pytest suites/ --device=lab --io-strict
set -eu
export LC_ALL=C
git() { command git --literal-pathspecs -c core.quotepath=false "$@"; }
fail() { printf 'take.sh: nothing is taken: %s\n' "$1" >&2 && exit 1; }

theirs=$(git rev-parse --verify --end-of-options "$1^{commit}")
[ "$(git rev-parse --is-shallow-repository)" = false ] || fail "the history is not whole here: git fetch --unshallow"
base=$(git merge-base --all HEAD "$theirs") || fail "they and HEAD have no commit in common"
[ "$(echo "$base" | wc -l)" = 1 ] || fail "theirs began in several places: have them merge HEAD, or rebase on it"
prefix=$(git rev-parse --show-prefix)
cd "$(git rev-parse --show-toplevel)"
git update-index -q --refresh || true
set -- "${prefix}suites" "${prefix}baselines"
if ! git diff-index --quiet HEAD -- || [ "$(git status --porcelain -unormal -- "$@")" ]; then
    fail 'this checkout is changed, by others before perhaps: git reset --hard; git clean -fd -e .venv'
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
git ls-tree -r --full-tree HEAD >"$folder/ours"
git ls-tree -r -t -l --full-tree "$theirs" -- "$@" | awk 'NR >= 10000 || (bytes += $4 + length($0)) > 1e8 { exit 1 }' ||
    fail "there are 10000 files and folders in their $1 and $2, or more than 100 MB"
git diff-tree -r --no-renames --no-abbrev "$base" "$theirs" -- "$@" >"$folder/changes"
plain='BEGIN { n = length(ENVIRON["prefix"]) } substr($0, n + 1) !~ /[^A-Za-z0-9_+.\/-]/' # git says others in its warnings
cut -f 2 "$folder/changes" | prefix=$prefix awk "$plain" | command git -c core.quotepath=false check-ignore --stdin >"$folder/ignored" || [ $? = 1 ] || fail 'git says why'
tree() { git rev-parse -q --verify "$1" || git hash-object -t tree /dev/null; }
way='' # to the project; beside it, a folder is told as one
while :; do
    [ "$(git cat-file -s "$(tree "$theirs:$way")")" -lt 500000 ] || fail "there are too many names beside their $1"
    git diff-tree --no-renames --name-only "$(tree "$base:$way")" "$(tree "$theirs:$way")" | while IFS= read -r name; do
        case $1/ in "$way$name/"*) continue ;; esac
        case $2/ in "$way$name/"*) ;; *) printf '%s\n' "$way$name" ;; esac
    done >>"$folder/left"
    [ "$way" != "$prefix" ] || break
    rest=${prefix#"$way"}
    way=$way${rest%%/*}/
done
prefix=$prefix awk -F '\t' -v into="$folder" '
function is_data(name) { # names that git quotes are none
    if (substr(name, 1, length(prefix)) != prefix) return 0
    name = substr(name, length(prefix) + 1)
    if (name !~ /^[A-Za-z0-9_+.\/-]+$/ || tolower(name) ~ /(^|\/)device[.]yaml$/) return 0
    if (tolower(name) ~ /^suites\/(.*\/)?(test[^\/]*|.*[.]tavern)[.]ya?ml$/) return 0 # pytest-workflow, pytest-tavern run those
    if (name ~ /\/(suites|baselines|[.]|[.][.]|[.]git)\//) return 0 # of another project, or nowhere
    return name ~ /^suites\/.*[.](ya?ml|fio|job)$/ || name ~ /^baselines\/.+\/.*[.]yaml$/
}
function is_plain(mode) { return mode ~ /^100/ || mode == "000000" }
BEGIN { prefix = ENVIRON["prefix"] }
FILENAME == into "/ignored" { ignored[$0]; next } # what lies there is of this checkout alone
FILENAME == into "/ours" { split($1, part, " "); mode[$2] = part[1]; blob[$2] = part[3]; next }
{
    split(substr($1, 2), part, " ") # modes and blobs, before and after
    here = ($2 in mode) ? mode[$2] " " blob[$2] : "000000 " (part[1] == "000000" ? part[3] : "")
    if (here == part[2] " " part[4] || (part[2] == "000000" && !($2 in mode))) next
    else if (!is_data($2) || ($2 in ignored) || !is_plain(part[1]) || !is_plain(part[2])) print $2 >>(into "/left")
    else if (here != part[1] " " part[3]) print $2 >(into "/both")
    else {
        print part[2] " " part[4] "\t" $2 >(into "/data")
        if (part[2] == "000000") print "removes " $2 >(into "/ours-changed")
        else if ($2 in mode) print "changes " $2 >(into "/ours-changed")
        else print "takes " $2
        if (!($2 in mode)) print $2 >(into "/new")
    }
}' "$folder/ignored" "$folder/ours" "$folder/changes" >"$folder/told"
touch "$folder/data" "$folder/left" "$folder/new" "$folder/ours-changed"
[ ! -e "$folder/both" ] || fail "both have changed, since theirs began: $(head -3 "$folder/both" | tr -c '[:alnum:]_+./-' ' ')"

while IFS= read -r name; do
    if [ -e "$name" ] || [ -L "$name" ]; then fail "it would take the place of what is of this checkout alone: $name"; fi
done <"$folder/new"

export GIT_INDEX_FILE="$folder/index"
git read-tree HEAD
git update-index --index-info <"$folder/data"
tree=$(git write-tree)
unset GIT_INDEX_FILE
git diff-tree -r --no-renames --name-only HEAD "$tree" | sort >"$folder/changed"
cut -f 2 "$folder/data" | sort >"$folder/named"
strange=$(comm -23 "$folder/changed" "$folder/named")
[ -z "$strange" ] || fail "a folder of theirs is called as a file here: $(printf %s "$strange" | tr -c '[:alnum:]_+./-' ' ')"
git read-tree -m -u HEAD "$tree"
tr -c '[:alnum:]_+./\n-' '?' <"$folder/left" | sed 's/^/leaves as it is here: /' >"$folder/stays"
sort -r "$folder/ours-changed" | cut -c 1-300 | sed 's/^/take.sh /' # each: nothing goes behind what comes
for list in told stays; do
    head -n 200 "$folder/$list" | cut -c 1-300 | sed 's/^/take.sh /'
    [ "$(wc -l <"$folder/$list")" -le 200 ] || echo "take.sh ... and more"
done
