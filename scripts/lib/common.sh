# Sourced by every script: one way to speak, to time a step and to fail. Not a program.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
logs=build/log
script=$(basename "$0")
export LC_ALL=C.UTF-8

# help: prints the comment at the top of the script that runs, which is its manual.
help() {
  sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$root/scripts/$script"
}

say() { printf '  %s\n' "$*"; }
fail() {
  printf '%s: %s\n' "$script" "$*" >&2
  exit 1
}

seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }

ticker=
stop_ticker() {
  if [[ -n $ticker ]]; then { kill "$ticker"; wait "$ticker"; } 2>/dev/null || true; fi
  ticker=
}
trap stop_ticker EXIT

# step "what" COMMAND...: runs it with its output in build/log/, prints one line with the seconds; on
# failure the end of that output and exit 1.
step() {
  local what=$1 began=$EPOCHREALTIME log code=0
  shift
  mkdir -p "$logs"
  log=$logs/$(tr -cs 'a-zA-Z0-9\n' '-' <<<"$what").log
  if [[ -t 1 ]]; then
    (while printf '\r  %-44s %5d s' "$what" $((${EPOCHREALTIME%.*} - ${began%.*})); do sleep 1; done) &
    ticker=$!
  fi
  "$@" >"$log" 2>&1 </dev/null || code=$?
  stop_ticker
  [[ -t 1 ]] && printf '\r\033[K'
  printf '  %-44s %7s s\n' "$what" "$(seconds_since "$began")"
  if ((code != 0)); then
    grep -v '^\[[0-9]*/[0-9]*\]' "$log" | tail -n 40 >&2 || true
    fail "$what did not work (exit $code; everything it said: $log)"
  fi
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "$1 needs root: run this as root or install sudo"
  fi
}

# Compilers that run at a time: one a core, but never more than the memory holds at 2 GiB each.
cores() {
  local count gib
  count=$(nproc)
  gib=$(awk '/^MemAvailable:/ { print int($2 / 1048576 / 2) }' /proc/meminfo)
  ((gib < 1)) && gib=1
  echo $((count < gib ? count : gib))
}
