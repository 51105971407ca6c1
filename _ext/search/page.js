// The search page: asks `ranking.js` for the query in the address and shows what it found.
{
  const SHOWN = 20; // pages
  const query = (new URLSearchParams(location.search).get("q") ?? "").trim();
  const place = document.querySelector("#search-results");
  const make = (tag, { text = "", ...named } = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), named);
    made.append(text, ...children);
    return made;
  };
  for (const field of document.querySelectorAll('input[name="q"]')) field.value = query;

  const quoted = (parts) =>
    make(
      "p",
      { className: "context" },
      ...parts.map(([text, asked]) => (asked ? make("mark", { text }) : text)),
    );
  const link = (page, { anchor, heading }, text) =>
    make("a", { href: `${page}.html${anchor && `#${anchor}`}`, text: text ?? heading });
  const item = ({ page, title, row, sections: [first, ...others] }) => {
    const head = first.heading === title ? title : `${title} › ${first.heading}`;
    const told = make("li", {}, link(page, first, row ? `Glossary › ${first.heading}` : head));
    if (first.excerpt.length) told.append(quoted(first.excerpt));
    if (!row && others.length) {
      const more = others.flatMap((one) => [" · ", link(page, one)]).slice(1);
      told.append(make("p", { className: "g2h-more", text: "Also: " }, ...more));
    }
    return told;
  };

  if (query) {
    const stem = (word) => new globalThis.Stemmer().stemWord(word);
    const { bookSearch, bookIndex, MiniSearch, stopwords } = globalThis;
    const { asked, results } = bookSearch(bookIndex, { MiniSearch, stem, stopwords }).search(query);
    const count = `${results.length} ${results.length === 1 ? "result" : "results"}`;
    const told = results.length
      ? `${count} for “${asked}”.`
      : `Nothing in the book matches “${query}”.`;
    const mended = results.length && asked !== query;
    const text = mended ? `The book does not have every word of “${query}”. ${told}` : told;
    const status = make("p", { className: "search-summary", text });
    status.setAttribute("role", "status");
    const list = make(
      "ol",
      { className: "search g2h-found" },
      ...results.slice(0, SHOWN).map(item),
    );
    place.append(status, list);
  }
}
