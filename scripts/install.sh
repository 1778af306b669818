#!/usr/bin/env bash
# install.sh PYTHON run|test: the locked versions, each file checked against its digest. Where the lock has no file for this
# Python or machine: the newest versions that pyproject.toml allows, and a word about it. A wrong digest is never passed over.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
what=$2
said=$(mktemp)
trap 'rm -f "$said"' EXIT
# Python compiles what is imported when it first is; all that is never imported would take as long again as the rest of this.
install() { "$python" -m pip install --no-compile --quiet --disable-pip-version-check "$@"; }
if install --require-hashes --requirement "locks/$what.txt" 2>"$said"; then
  [ "$what" != run ] || install --no-deps --editable .
  exit 0
fi
cat "$said" >&2
if grep -q "DO NOT MATCH THE HASHES" "$said"; then
  echo "A file is not the one that was locked: nothing was installed. If it should be, run make lock and look at the difference." >&2
  exit 1
fi
echo "The lock cannot be used here; installing what pyproject.toml allows instead." >&2
case $what in
  run) install --editable ".[all]" ;;
  test) install --editable ".[all]" --group test --group docs ;;
esac
