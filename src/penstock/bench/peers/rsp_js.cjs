// rsp-js as a peer of `penstock bench`: node rsp_js.cjs QUERY GRAPH < stream.tnt > answer.jsonl
//
// Its own windows and its own R2R operator (Comunica over an N3 store) are used; not its emitter, which stamps results by
// counting them. Its windows are [open, close), those of RSP-QL here (open, close]: timestamps are moved by 1 ms.
const fs = require("fs");
const readline = require("readline");
console.log = console.debug = () => {};
const { RSPEngine } = require("rsp-js");
const { Parser } = require("n3");

const [queryFile, graphFile] = process.argv.slice(2);
const engine = new RSPEngine(fs.readFileSync(queryFile, "utf8"));
const triples = (text) => new Parser({ format: "N-Triples" }).parse(text);
triples(fs.readFileSync(graphFile, "utf8")).forEach((triple) => engine.addStaticData(triple));
const [window] = engine.windows;
const [stream] = engine.streams.values();
const closed = [];
window.subscribe("RStream", (content) => {
  const [instance] = [...window.active_windows].find(([, held]) => held === content);
  if (content.len()) closed.push([instance.close, content]);
});

const term = (value) =>
  value.termType === "NamedNode" ? { type: "uri", value: value.value }
  : value.termType === "BlankNode" ? { type: "bnode", value: value.value }
  : value.language ? { type: "literal", value: value.value, "xml:lang": value.language }
  : { type: "literal", value: value.value, datatype: value.datatype.value };

async function answer(time, content) {
  const solutions = await (await engine.r2r.execute(content)).toArray();
  const bindings = solutions.map((solution) => Object.fromEntries([...solution].map(([v, t]) => [v.value, term(t)])));
  if (!bindings.length) return;
  const vars = [...new Set(bindings.flatMap(Object.keys))];
  process.stdout.write(JSON.stringify({ query: "q", time, head: { vars }, results: { bindings } }) + "\n");
}

(async () => {
  let last;
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [, text, time] = /^(.*) "(\d+)" \.$/.exec(line);
    last = [triples(text + " .")[0], Number(time) - 1];
    stream.add(...last);
    while (closed.length) await answer(...closed.shift());
  }
  // It tells that a window has closed when something later comes. At the end nothing does, so one triple comes again.
  stream.add(last[0], last[1] + 2);
  while (closed.length) await answer(...closed.shift());
})();
