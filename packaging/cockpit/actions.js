// SPDX-License-Identifier: GPL-2.0-or-later
// Actions that change something: they run pvrdma-agentctl as root, if Cockpit's administrative access is on.
/* global cockpit */
import { el } from "./dom.js";

const byId = id => document.getElementById(id);
const permission = cockpit.permission({ admin: true });

// Runs a program; resolves when it has ended, also with an error: { output, problem }.
export function run(argv, options) {
  return new Promise(resolve => {
    cockpit.spawn(argv, { err: "out", ...options }).then(
      output => resolve({ output, problem: null }),
      (error, output) => resolve({ output: output || error.message, problem: error.problem }));
  });
}

function say(title, text) {
  const dismiss = el("button", { type: "button", onclick: () => { byId("outcome").hidden = true; } }, "Dismiss");
  byId("outcome").replaceChildren(el("div", {}, el("strong", {}, title), el("p", { class: "output" }, text)), dismiss);
  byId("outcome").hidden = false;
}

let busy = false;

function enable() {
  for (const button of document.querySelectorAll("button.root, #reload")) button.disabled = busy || !permission.allowed;
  byId("rights").hidden = permission.allowed !== false;
  byId("rights").textContent = "To reload the driver or to acknowledge a removal, turn on administrative access in Cockpit.";
}

async function asRoot(title, argv) {
  busy = true;
  enable();
  say(title, "…");
  const { output, problem } = await run(argv, { superuser: "require" });
  say(title, problem === "access-denied" ? "Not done: administrative access was refused." : output.trim());
  busy = false;
  enable();
}

export function acknowledgeButton(adapter) {
  // The agent gives the name of the adapter; after "--" pvrdma-agentctl cannot take it for an option.
  const argv = ["pvrdma-agentctl", "acknowledge", ...(adapter ? ["--", adapter] : [])];
  const press = () => asRoot("Acknowledge", argv);
  const attributes = { type: "button", class: "root", "data-key": `acknowledge ${adapter}`, "aria-describedby": "rights", onclick: press };
  const button = el("button", attributes, "Acknowledge the removal");
  button.disabled = busy || !permission.allowed;
  return button;
}

export function prepareActions() {
  const dialog = byId("confirm");
  byId("reload").addEventListener("click", () => {
    dialog.returnValue = "cancel";
    dialog.showModal();
  });
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === "reload") asRoot("Reload of the driver", ["pvrdma-agentctl", "reload"]);
  });
  permission.addEventListener("changed", enable);
  enable();
}
