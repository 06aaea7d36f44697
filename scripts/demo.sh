#!/bin/sh
# The demo, as long as there is no engine: read the sample queries, break one, say some in another dialect, answer one.
set -eu
cd "$(dirname "$0")/.."

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
else
    bold='' dim='' plain=''
fi

heading() { printf '\n%s%s%s\n' "$bold" "$1" "$plain" && printf '%s\n\n' "$2"; }
show() { printf '%s$ %s%s\n' "$dim" "$*" "$plain"; }
run() { show "$@" && "$@"; }

heading '1. Six dialects of continuous SPARQL, one parser' \
    'Each sample is recognised by what it says, and summed up: its form, its streams, its windows.'
show 'penstock check examples/*.rq'
penstock check examples/*.rq

heading '2. A slip of the pen' \
    'An error shows the place, and the word that was probably meant.'
show "sed 's/STEP/STPE/' examples/tollgates.csparql.rq | penstock check -"
sed 's/STEP/STPE/' examples/tollgates.csparql.rq | penstock check - 2>&1 || true

heading '3. From C-SPARQL to RSP-QL' \
    'The same query in another dialect, with the same meaning.'
run cat examples/tollgates.csparql.rq
echo
run penstock translate examples/tollgates.csparql.rq --to rspql

heading '4. From CQELS-QL to RSP-QL' \
    'What CQELS-QL implies, RSP-QL says: answer on every arrival, tell what is new, keep duplicates.'
run penstock translate examples/rooms.cqels.rq --to rspql

heading '5. What a dialect cannot express' \
    'Where the meaning would be lost, a translation is refused, and the reasons are named.'
run penstock translate examples/sensors.sparqlstream.rq --to csparql 2>&1 || true

heading '6. The right answer, and why it comes when it comes' \
    'The oracle answers straight from the definitions: at each closing of a window, how many cars passed each gate.'
show 'penstock oracle examples/tollgates.csparql.rq --stream examples/tollgates.tnt'
penstock oracle examples/tollgates.csparql.rq --stream examples/tollgates.tnt | cut -c 1-160
echo
show 'penstock explain examples/tollgates.csparql.rq --stream examples/tollgates.tnt'
penstock explain examples/tollgates.csparql.rq --stream examples/tollgates.tnt | head -24

printf '\n%sNext:%s write a query of your own and try  .venv/bin/penstock check my-query.rq\n' "$bold" "$plain"
