#!/bin/sh
# The demo, as long as there is no engine: read the sample queries, break one, and say some in another dialect.
set -eu
cd "$(dirname "$0")/.."

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
else
    bold='' dim='' plain=''
fi

heading() { printf '\n%s%s%s\n\n' "$bold" "$1" "$plain"; }
show() { printf '%s$ %s%s\n' "$dim" "$*" "$plain"; }
run() { show "$@" && "$@"; }

heading '1. Six dialects of continuous SPARQL, one parser'
for query in examples/*.rq; do
    run penstock check "$query"
done

heading '2. A slip of the pen'
show "sed 's/STEP/STPE/' examples/tollgates.csparql.rq | penstock check -"
sed 's/STEP/STPE/' examples/tollgates.csparql.rq | penstock check - 2>&1 || true

heading '3. A C-SPARQL query, and the same in RSP-QL'
run cat examples/tollgates.csparql.rq
echo
run penstock translate examples/tollgates.csparql.rq --to rspql

heading '4. From CQELS-QL and Streaming SPARQL to RSP-QL'
run penstock translate examples/rooms.cqels.rq --to rspql
echo
run penstock translate examples/turbines.streaming-sparql.rq --to rspql

printf '\n%sNext:%s write a query of your own and try  .venv/bin/penstock check my-query.rq\n' "$bold" "$plain"
