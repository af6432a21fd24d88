// Copyright 2026 The Mallard Authors.
// SPDX-License-Identifier: Apache-2.0

// Renders the diagrams with mermaid, in the colors of the page, and again when these change. Without a script, a reader sees their text.
(() => {
  const figures = [...document.querySelectorAll(".diagram")];
  const system = matchMedia("(prefers-color-scheme: dark)");

  // headingBefore returns the text of the heading that a diagram is under.
  const headingBefore = (figure) => {
    const headings = [...document.querySelectorAll("article :is(h1, h2, h3, h4)")];
    const before = headings.filter((heading) => heading.compareDocumentPosition(figure) & Node.DOCUMENT_POSITION_FOLLOWING);
    return before.at(-1).firstChild.textContent.trim();
  };

  const render = async () => {
    const theme = document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light");
    mermaid.initialize({
      startOnLoad: false, securityLevel: "strict", theme: theme === "dark" ? "dark" : "default",
      fontFamily: "Arial, Helvetica, 'Liberation Sans', sans-serif", flowchart: { wrappingWidth: 260 }, gantt: { useWidth: 800 },
    });
    for (const [number, figure] of figures.entries()) {
      const image = figure.querySelector("[role=img]");
      const { svg } = await mermaid.render(`diagram-${number}`, figure.querySelector("pre").textContent);
      image.innerHTML = svg;
      image.hidden = false;
      image.ariaLabel = `Diagram: ${headingBefore(figure)}`;
      // On a narrow screen a wide diagram is scrolled, so that its text stays readable.
      const { style } = image.firstElementChild;
      style.minWidth = `min(${style.maxWidth}, 44rem)`;
      figure.querySelector("details").open = false;
    }
  };

  let rendered = render();
  const again = () => { rendered = rendered.then(render); };
  system.addEventListener("change", again);
  new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
})();
