#!/bin/sh
# The essential steps of the README's tour against an installation of two api processes, with curl: ask, correct the question, compare the
# branches, replay, switch back, resume a stream at the other process. Ends with the first thing that does not hold, and exit code 1.
#
# Against the composed stack, once it is up, it needs nothing. Against another one: API_1, API_2 (addresses) and API_KEY (with both roles).
set -eu
here=$(dirname "$0")
compose() { docker compose -f "$here/compose.yaml" "$@"; }

if [ -z "${API_1:-}" ]; then
  API_1=http://127.0.0.1:3001 API_2=http://127.0.0.1:3002
  js() { compose exec -T api-1 node -pe "$1"; }
  API_KEY=$(compose exec -T api-1 with-secrets palimpsest keys create --tenant smoke --role tenant --role operator --json |
    js 'JSON.parse(fs.readFileSync(0)).secret')
  for projector in projector-1 projector-2; do
    compose exec -T "$projector" node -e 'fetch("http://127.0.0.1:3000/readyz").then((r) => process.exit(r.ok ? 0 : 1))' ||
      { echo "FAILED: $projector is not ready" >&2; exit 1; }
  done
else
  js() { node -pe "$1"; }
fi

# api METHOD URL [BODY]: the answer; ends the script, with the answer, where it is none of 2xx.
api() {
  curl -sS --fail-with-body --max-time 60 -X "$1" "$2" -H "Authorization: Bearer $API_KEY" ${3:+-H 'Content-Type: application/json' -d "$3"}
}
get() { js "const it = JSON.parse(fs.readFileSync(0)); $1"; }
holds() {
  [ "$2" = "$3" ] || { echo "FAILED: $1. There is: $2" >&2; exit 1; }
  echo "ok  $1"
}

for process in "$API_1" "$API_2"; do
  holds "$process is ready" "$(api GET "$process/readyz" | get it.ready)" true
done

assistant=$(api POST "$API_1/v1/assistants" '{"name": "Smoke", "systemPrompt": "You answer.",
  "model": {"provider": "simulated", "name": "simulated"}}' | get it.assistantId)
conversation=$(api POST "$API_1/v1/conversations" "{\"assistantId\": \"$assistant\"}" | get it.conversationId)
at_1=$API_1/v1/conversations/$conversation at_2=$API_2/v1/conversations/$conversation

asked=$(api POST "$at_1/turns" '{"text": "[[sim: say domestic sales alone]]"}')
holds 'a question is answered' "$(echo "$asked" | get it.answer)" 'domestic sales alone'

turn=$(echo "$asked" | get it.turnId) old=$(echo "$asked" | get 'it.nodes.at(-1)')
edited=$(api POST "$at_2/turns/$turn/edit" '{"text": "[[sim: say overseas too]]"}')
holds 'the other process edits it and answers anew' "$(echo "$edited" | get it.answer)" 'overseas too'

new=$(echo "$edited" | get 'it.nodes.at(-1)') revision=$(echo "$edited" | get it.revision)
for at in "$at_1" "$at_2"; do
  holds "both branches are in the tree at $at" "$(api GET "$at/tree?minRevision=$revision" | get it.nodes.length)" 2
  holds 'a person reads the new one' \
    "$(api GET "$at/transcript" | get 'it.bubbles.map((b) => `${b.role} ${b.branch.index}/${b.branch.count}`).join()')" 'user 2/2,assistant 2/2'
done

replay=$(api GET "$API_1/v1/nodes/$new/replay")
holds 'what the model saw is proven' "$(echo "$replay" | get it.verified)" true
holds 'and holds nothing of the old branch' "$(echo "$replay" | get 'it.body.includes("domestic")')" false

holds 'the old branch comes back' "$(api PUT "$at_1/head" "{\"nodeId\": \"$old\"}" | get it.head)" "$old"
following=$(curl -sS --fail-with-body --max-time 60 "$at_2/turns/$turn/events" -H "Authorization: Bearer $API_KEY" -H 'Accept: text/event-stream')
holds 'a turn can be followed at the other process' "$(echo "$following" | grep -c '^event: turn.finished')" 1
holds 'and metrics are read' "$(api GET "$API_2/metrics" | grep -c '^palimpsest_projector_lag_events{')" \
  "$(api GET "$API_2/metrics" | grep -c '^palimpsest_projector_writes{')"

echo 'All of it holds.'
