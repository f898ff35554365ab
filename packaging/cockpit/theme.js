// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the page light or dark like Cockpit, which keeps the choice in the local storage and sends an event when it changes.
(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const apply = style => {
    const chosen = style || window.localStorage.getItem("shell:style") || "auto";
    document.documentElement.classList.toggle("dark", chosen === "dark" || (chosen === "auto" && dark.matches));
  };
  dark.addEventListener("change", () => apply());
  window.addEventListener("storage", event => { if (event.key === "shell:style") apply(); });
  window.addEventListener("cockpit-style", event => apply(event.detail.style));
  apply();
})();
