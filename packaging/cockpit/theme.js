// SPDX-License-Identifier: GPL-2.0-or-later
// Light or dark as Cockpit is: its choice is in the local storage, and it tells of a change by an event.
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
