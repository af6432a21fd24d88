// Copyright 2026 The Mallard Authors.
// SPDX-License-Identifier: Apache-2.0

// Searches the index that the build writes. An entry is a section of a page; it matches if it contains all words of the query.
(() => {
  const base = document.currentScript.dataset.base;
  const box = document.getElementById("search");
  const input = box.querySelector("input");
  const results = box.querySelector(".results");
  const status = box.querySelector("[role=status]");
  const list = box.querySelector("ol");
  const most = 12;
  let loading;

  // load loads the index once, as a script, which works for pages that are opened as files, too.
  const load = () => (loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = base + "assets/search-index.js";
    script.onload = () => resolve(window.searchIndex.map((entry) => ({
      ...entry, fields: [[entry.heading ?? entry.page, 8], [entry.page, 4], [entry.text, 1]].map(([text, weight]) => [text.toLowerCase(), weight]),
    })));
    script.onerror = reject;
    document.head.append(script);
  }));

  // rank returns a number for how well an entry matches: 0 if it does not. The beginning of a word counts twice, and
  // so does a heading that is the query.
  const rank = (entry, words) => {
    let sum = 0;
    for (const word of words) {
      let best = 0;
      for (const [text, weight] of entry.fields) {
        const at = text.indexOf(word);
        if (at >= 0) best += weight * (at === 0 || /\W/.test(text[at - 1]) ? 2 : 1);
      }
      if (!best) return 0;
      sum += best;
    }
    return entry.fields[0][0] === words.join(" ") ? 2 * sum : sum;
  };

  const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });

  // excerpt returns the text around the first word, with the words marked.
  const excerpt = (text, words) => {
    const lower = text.toLowerCase();
    const first = Math.max(0, Math.min(...words.map((word) => (lower.includes(word) ? lower.indexOf(word) : 0))) - 40);
    const part = (first ? "…" : "") + text.slice(first, first + 160) + (text.length > first + 160 ? "…" : "");
    const paragraph = document.createElement("p");
    const pattern = new RegExp("(" + words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "gi");
    part.split(pattern).forEach((piece, i) => paragraph.append(i % 2 ? element("mark", piece) : piece));
    return paragraph;
  };

  const search = async () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    results.hidden = words.length === 0;
    if (results.hidden) return;
    const entries = await load();
    const found = entries.map((entry) => ({ entry, rank: rank(entry, words) })).filter((hit) => hit.rank).sort((a, b) => b.rank - a.rank);
    status.textContent = found.length === 0 ? "No results" : found.length === 1 ? "1 result" : `${found.length} results`;
    list.replaceChildren(...found.slice(0, most).map(({ entry }) => {
      const link = document.createElement("a");
      link.href = base + entry.url;
      link.append(element("strong", entry.heading ?? entry.page), entry.heading ? element("span", entry.page) : "", excerpt(entry.text, words));
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
  };

  const close = () => { results.hidden = true; };
  box.hidden = false;
  input.addEventListener("focus", load);
  input.addEventListener("input", search);
  box.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  list.addEventListener("click", close);
  document.addEventListener("click", (event) => { if (!box.contains(event.target)) close(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (event.key === "/" && !/^(input|textarea|select)$/i.test(event.target.tagName)) {
      event.preventDefault();
      input.focus();
    }
  });
})();
