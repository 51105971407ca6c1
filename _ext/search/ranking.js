// Ranks the book's sections for a query. MiniSearch finds and scores them (BM25 over heading, page
// title and text); what is the book's own is here: how a page counts, that words of a query stand
// together, where the glossary's entry goes, which word a misspelt one was meant to be.
globalThis.bookSearch = (pages, { MiniSearch, stem, stopwords = [] }) => {
  const WORD = /[\p{L}\p{N}]+(?:[-'’][\p{L}\p{N}]+)*/gu;
  const CHINESE = /[\u4e00-\u9fff]/;
  const LENGTH = 260; // of an excerpt, in characters
  // A section that asks or sums up is found, but below the one that teaches.
  const ASKS = /^(exercise|predict|sources|summary|further reading)|\bsummary$/i;

  // One spelling for American and British readers, and one form for a word's inflections.
  const forms = new Map();
  const normal = (word) => {
    if (!forms.has(word)) {
      const british = word
        .toLowerCase()
        .replace(/iz(?=(?:e[drs]?|ing|ations?|ers?)$)/, "is")
        .replace(/(behavi|fav|col|neighb|hon)or/, "$1our");
      forms.set(word, stem(british));
    }
    return forms.get(word);
  };
  const pairs = (word) =>
    word.length < 2 ? [word] : Array.from(word.slice(1), (character, at) => word[at] + character);
  // A word with a hyphen is its parts, and in the index also the whole: pre-training, pretraining.
  const split = (text, whole = false) =>
    [...text.normalize("NFKC").matchAll(WORD)].flatMap(([word]) => {
      if (CHINESE.test(word)) return pairs(word);
      const parts = word.replace(/['’]s$/, "").split(/[-'’]/);
      return whole && parts.length > 1 ? [...parts, parts.join("")] : parts;
    });
  const stem_all = (text) => split(text).map(normal);

  const records = Object.entries(pages).flatMap(
    ([page, { title, weight, sections, rows = [] }]) => [
      ...sections.map(([anchor, heading, text]) => ({
        page,
        title,
        weight,
        anchor,
        heading,
        text,
      })),
      ...rows.map(([anchor, heading, text, names]) => {
        return { page, title, weight, anchor, heading, text, names, row: true };
      }),
    ],
  );
  records.forEach((record, id) => (record.id = id));

  // How each word is written most often, and which words follow each other.
  const spelt = new Map();
  const following = new Map();
  const count = (map, key, by = 1) => map.set(key, (map.get(key) ?? 0) + by);
  for (const { heading, text } of records) {
    let before = "";
    for (const word of split(`${heading} . ${text}`)) {
      const form = normal(word);
      if (!spelt.has(form)) spelt.set(form, new Map());
      count(spelt.get(form), word.toLowerCase());
      count(following, `${before} ${form}`);
      before = form;
    }
  }
  const often = (form) => [...(spelt.get(form)?.values() ?? [])].reduce((sum, one) => sum + one, 0);
  const index = new MiniSearch({
    fields: ["title", "heading", "names", "text"],
    tokenize: (text) => split(text, true),
    processTerm: (word) => normal(word) || null,
  });
  index.addAll(records);
  const known = (form) => index.search(form, { processTerm: (word) => word }).length > 0;

  // The nearest known word; of several, the one that the book puts beside the query's other words,
  // then the most frequent.
  const mended = (words, place) => {
    const [before, , after] = [words[place - 1], words[place], words[place + 1]].map(
      (word) => word && normal(word),
    );
    const wrong = words[place].toLowerCase();
    const most = Math.min(2, Math.max(1, Math.floor(wrong.length / 4))); // letters
    const near = new Map();
    for (const [form, writings] of spelt) {
      for (const word of writings.keys()) {
        const off = distance(wrong, word);
        if (off <= most && !(off >= near.get(form)?.off)) near.set(form, { off, word });
      }
    }
    const fits = (form) =>
      (following.get(`${before} ${form}`) ?? 0) + (following.get(`${form} ${after}`) ?? 0);
    const rate = ([form, { off }]) => [fits(form) > 0 ? off - 1 : off, -fits(form), -often(form)];
    const better = (a, b) =>
      rate(a)
        .map((one, at) => one - rate(b)[at])
        .find((gap) => gap) ?? 0;
    const [best] = [...near].sort(better);
    return best?.[1].word;
  };

  const meant = (query) => {
    const words = split(query);
    const better = words.map((word, place) =>
      CHINESE.test(word) || word.length < 3 || known(normal(word))
        ? word
        : (mended(words, place) ?? word),
    );
    return better.join(" ") === words.join(" ") ? query.trim() : better.join(" ");
  };

  const joined = (text) => ` ${stem_all(text).join(" ")} `;
  const cache = new Map();
  const stood = (record) => {
    if (!cache.has(record.id))
      cache.set(record.id, [
        joined(record.heading),
        joined(record.text),
        joined(record.names ?? ""),
      ]);
    return cache.get(record.id);
  };

  const search = (query) => {
    const asked = meant(query);
    const wanted = stem_all(asked).filter((word) => word);
    const dull = new Set(stopwords);
    const words = split(asked).filter((word) => !dull.has(word.toLowerCase()));
    const phrase = joined(asked);
    const options = { boost: { heading: 3, title: 2, names: 3 } };
    const terms = words.length ? words.join(" ") : asked;
    let hits = index.search(terms, { ...options, combineWith: "AND" });
    if (!hits.length) hits = index.search(terms, { ...options, combineWith: "OR" });
    const scored = hits.map(({ id, score }) => {
      const record = records[id];
      const [heading, text] = stood(record);
      // A term of several words counts where the words stand together.
      let near = 1;
      if (heading.includes(phrase)) near = 3;
      else if (wanted.length > 1 && text.includes(phrase)) near = 2;
      if (ASKS.test(record.heading)) near /= 3;
      else if (!record.anchor && near < 3) near /= 2; // a page's opening lists what comes
      return { record, score: score * near * record.weight };
    });
    const byPage = new Map();
    for (const one of scored) {
      const key = one.record.row ? `${one.record.page}#${one.record.anchor}` : one.record.page;
      byPage.set(key, [...(byPage.get(key) ?? []), one]);
    }
    const found = [...byPage.values()].map((ones) => {
      ones.sort((a, b) => b.score - a.score || a.record.id - b.record.id);
      // A page that is about something says it in many sections.
      const rest = ones.slice(1).reduce((sum, { score }) => sum + score, 0);
      const { page, title, row } = ones[0].record;
      const exact = Boolean(row) && names_of(ones[0].record).includes(phrase);
      const shown = ones.slice(0, 3).map(({ record }) => ({
        anchor: record.anchor,
        heading: record.heading,
        excerpt: excerpt(record.text, wanted),
      }));
      return {
        page,
        title,
        row: Boolean(row),
        exact,
        score: ones[0].score + 0.3 * rest,
        sections: shown,
      };
    });
    found.sort((a, b) => b.score - a.score);
    // A page comes first, then what the glossary says of the very term; of a Chinese one, that first.
    const entries = found.filter((one) => one.exact);
    const others = found.filter((one) => !one.exact);
    const first = CHINESE.test(asked) ? undefined : others.find((one) => !one.row);
    const rest = others.filter((one) => one !== first);
    return { asked, results: [...(first ? [first] : []), ...entries, ...rest] };
  };

  const names_of = ({ heading, names }) => [heading, ...(names ?? "").split(" / ")].map(joined);

  // The passage with the most words of the query, close together: [text, whether it was asked for].
  const excerpt = (text, wanted) => {
    const places = [];
    for (const { 0: word, index: at } of text.matchAll(WORD)) {
      const kinds = stem_all(word).filter((form) => wanted.includes(form));
      if (kinds.length) places.push({ at, end: at + word.length, kinds });
    }
    let [from, best] = [0, -1];
    places.forEach(({ at }, first) => {
      const inside = places.slice(first).filter((one) => one.end <= at + 0.7 * LENGTH);
      const kinds = new Set(inside.flatMap((one) => one.kinds)).size;
      const next = inside[1] && inside[1].at - inside[0].end < 2 ? 4 : 0; // the first two touch
      const worth = 10 * kinds + next + Math.min(inside.length, 4) / 2;
      if (worth > best) [from, best] = [at, worth];
    });
    const opening = Math.max(
      ...[". ", "? ", "! ", ": "].map((end) => text.lastIndexOf(end, from) + 2),
    );
    const sentence = opening === 1 ? 0 : opening;
    let start = from - sentence < LENGTH / 2 ? sentence : text.indexOf(" ", from - LENGTH / 3) + 1;
    const stop =
      start + LENGTH >= text.length ? text.length : text.lastIndexOf(" ", start + LENGTH);
    const parts = start === sentence ? [] : [["… ", false]];
    for (const { at, end } of places) {
      if (at < start || end > stop) continue;
      parts.push([text.slice(start, at), false], [text.slice(at, end), true]);
      start = end;
    }
    parts.push([text.slice(start, stop) + (stop < text.length ? " …" : ""), false]);
    return parts.filter(([part]) => part);
  };

  return { search };

  // Letters to add, take away, change or exchange with the next.
  function distance(a, b) {
    if (Math.abs(a.length - b.length) > 3) return 9;
    const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
    for (let i = 1; i <= a.length; i++) {
      rows.push([i]);
      for (let j = 1; j <= b.length; j++) {
        const same = a[i - 1] === b[j - 1] ? 0 : 1;
        let least = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + same);
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
          least = Math.min(least, rows[i - 2][j - 2] + 1);
        rows[i].push(least);
      }
    }
    return rows[a.length][b.length];
  }
};
