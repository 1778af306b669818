#!/usr/bin/env bash
# Install the system packages that the tests use, when root on a Debian-like system; otherwise say what to install.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
while read -r command package; do
  case "$command" in "" | "#"*) continue ;; esac
  PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v "$command" >/dev/null || missing+=("$package")
done <system-packages.txt
[ "${#missing[@]}" -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # A package's own service must not start: the tests start theirs, on free ports.
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  exit 0
fi

echo "The tests use these system packages, which are not installed: ${missing[*]}"
echo "Install them with your package manager (Debian: apt-get install ${missing[*]})."
if [ "${CI:-}" = "true" ]; then
  exit 1
fi
echo "Tests that need them are skipped."
