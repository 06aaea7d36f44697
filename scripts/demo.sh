#!/bin/sh
# The demo: read the sample queries, break one, say some in another dialect, run one on the embedded engine.
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

heading '6. Run it' \
    'At each closing of a window, how many cars passed each gate; the stream is played 240 times as fast as it happened.'
show "penstock run examples/tollgates.csparql.rq --stream 'replay+examples/tollgates.tnt?speed=240' --format table"
penstock run examples/tollgates.csparql.rq --stream 'replay+examples/tollgates.tnt?speed=240' --format table

heading '7. Is that right, and why does it come when it comes?' \
    'The oracle answers straight from the definitions, slowly; explain shows windows and instants.'
run penstock verify examples/tollgates.csparql.rq --stream examples/tollgates.tnt
echo
show 'penstock explain examples/tollgates.csparql.rq --stream examples/tollgates.tnt'
penstock explain examples/tollgates.csparql.rq --stream examples/tollgates.tnt | head -24

printf '\n%sNext:%s write a query of your own and try  .venv/bin/penstock run my-query.rq --stream my-stream.tnt\n' "$bold" "$plain"
