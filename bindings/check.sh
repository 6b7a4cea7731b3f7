# What those of bindings/*/check share that are shell scripts:
#
#   . "$(dirname "$0")/../check.sh" NAME "$@"
#
# reads `[--quick] BUILD`, sets `quick`, `build` and `failed`, and goes to the folder
# of the binding NAME.

set -uo pipefail

language=$1
shift
quick=false
if [ "${1:-}" = --quick ]; then
  quick=true
  shift
fi
# A relative path is one from where the caller is.
build=$(realpath "${1:?check needs a build folder}") || exit 1
cd "$(dirname "$0")" || exit 1

skip() {
  echo "SKIPPED $language: $1"
  exit 3
}

# at_least LEAST FOUND: whether a version is not older than another.
at_least() {
  [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

failed=0
# try WHAT COMMAND...
try() {
  if "${@:2}"; then
    echo "ok      $language: $1"
  else
    echo "FAILED  $language: $1"
    failed=1
  fi
}
