// Copyright 2026 The Mallard Authors.
// SPDX-License-Identifier: Apache-2.0

// Applies the theme that the reader chose, before the page is painted. Without a choice, the theme is that of the reader's system.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  if (stored()) root.dataset.theme = stored();
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const show = () => button.setAttribute("aria-pressed", String(isDark()));
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* the choice lasts until the next page */ }
      show();
    });
    system.addEventListener("change", show);
    show();
  });
})();
