#!/bin/sh
# Runs a command with its secrets: where NAME_FILE names a file, the command finds the file's text in NAME. An empty file means not set.
set -eu

for name in DATABASE_URL EVENTSTORE_URL PALIMPSEST_SQL_DATABASE_URL OPENAI_API_KEY ANTHROPIC_API_KEY; do
  eval "file=\${${name}_FILE:-}"
  [ -n "$file" ] || continue
  [ -r "$file" ] || { echo "${name}_FILE is $file, which cannot be read." >&2; exit 1; }
  text=$(cat "$file")
  export "$name=$text"
  unset "${name}_FILE"
done

exec "$@"
