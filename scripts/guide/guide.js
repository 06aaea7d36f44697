// Search: sections that have all the words, those with the words in their headings first.
const field = document.getElementById("search");
const found = document.getElementById("found");
const contents = document.getElementById("contents");

function sections(words) {
  return SECTIONS
    .map(([page, path, heading, text]) => {
      const head = `${page} ${heading}`.toLowerCase(), body = text.toLowerCase();
      if (!words.every(word => head.includes(word) || body.includes(word))) return null;
      return { page, path, heading, text, weight: words.filter(word => head.includes(word)).length };
    })
    .filter(section => section !== null)
    .sort((one, other) => other.weight - one.weight)
    .slice(0, 20);
}

function shown({ page, path, heading, text }, word) {
  const link = document.createElement("a");
  link.href = `${document.body.dataset.base}/${path}`;
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 30);
  const title = document.createElement("b"), excerpt = document.createElement("small");
  title.textContent = page === heading ? heading : `${page}: ${heading}`;
  excerpt.textContent = text.slice(at, at + 90);
  link.append(title, excerpt);
  return link;
}

field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(word => word.length > 1);
  contents.hidden = words.length > 0;
  const matching = words.length ? sections(words) : [];
  found.replaceChildren(...matching.map(section => shown(section, words[0])));
  if (words.length && !matching.length) found.textContent = "Nothing has these words.";
});

document.addEventListener("keydown", event => {
  if (event.key === "/" && event.target.tagName !== "INPUT") { event.preventDefault(); field.focus(); }
});
