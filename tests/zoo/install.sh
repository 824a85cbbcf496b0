#!/usr/bin/env bash
# Installs the zoo: real MCP servers, pinned, that the client is run against.
# It needs node with npm, python3 with venv and pip, and cargo; what is there already is not done again.
#
#   ZOO_DIR   where to (default: target/zoo under the current directory)
#   ZOO_ONLY  names of the parts to install, with spaces between (default: all)
#
# servers.json says how each server is started and what it answers.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
zoo=${ZOO_DIR:-target/zoo}
mkdir -p "$zoo"
zoo=$(cd "$zoo" && pwd)
only=${ZOO_ONLY:-"npm ts-v2 ts-v1 ts-old py-v2 py-v1 rmcp"}
wanted() { case " $only " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

# put PART: copies the part's files into the zoo (the sources may lie in a read-only tree).
put() {
    mkdir -p "$zoo/$1"
    (cd "$here/servers/$1" && find . -type f ! -path './target/*' -print0) | while IFS= read -r -d '' file; do
        if ! cmp -s "$here/servers/$1/$file" "$zoo/$1/$file"; then
            mkdir -p "$(dirname "$zoo/$1/$file")"
            rm -f "$zoo/$1/$file"
            cat "$here/servers/$1/$file" > "$zoo/$1/$file"
        fi
    done
}
# done_for PART FILE...: whether the part was installed from files with this very content.
stamp() { (cd "$zoo/$1" && shift && cat "$@" | cksum); }
done_for() { [ -f "$zoo/$1/.installed" ] && [ "$(cat "$zoo/$1/.installed")" = "$(stamp "$@")" ]; }
mark() { stamp "$@" > "$zoo/$1/.installed"; }

npm_part() {
    wanted "$1" || return 0
    put "$1"
    done_for "$1" package.json package-lock.json && return 0
    echo "zoo: npm part $1"
    (cd "$zoo/$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
    mark "$1" package.json package-lock.json
}
python_part() {
    wanted "$1" || return 0
    put "$1"
    done_for "$1" requirements.txt && return 0
    echo "zoo: python part $1"
    rm -rf "$zoo/$1/venv"
    python3 -m venv "$zoo/$1/venv"
    "$zoo/$1/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$zoo/$1/requirements.txt"
    mark "$1" requirements.txt
}
rust_part() {
    wanted "$1" || return 0
    put "$1"
    echo "zoo: rust part $1"
    (cd "$zoo/$1" && CARGO_TARGET_DIR="$zoo/$1/target" cargo build --quiet --locked)
}

put lib
mkdir -p "$zoo/data/files"
printf 'hello from the zoo\n' > "$zoo/data/files/hello.txt"
npm_part npm
npm_part ts-v2
npm_part ts-v1
npm_part ts-old
if wanted ts-old; then cat "$here/servers/ts-v1/server.mjs" > "$zoo/ts-old/server.mjs"; fi
python_part py-v2
python_part py-v1
rust_part rmcp
echo "zoo: installed in $zoo"
