// SPDX-License-Identifier: GPL-2.0-or-later
// Actions that change something: they run pvrdma-agentctl as root, if Cockpit's administrative access is on.
/* global cockpit */
import { el, time } from "./dom.js";
import { holders } from "./health.js";

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

function say(title, ...content) {
  const dismiss = el("button", { type: "button", onclick: () => { byId("outcome").hidden = true; } }, "Dismiss");
  byId("outcome").replaceChildren(el("div", {}, el("strong", {}, title), el("p", { class: "output" }, ...content)), dismiss);
  byId("outcome").hidden = false;
}

// The result of an action, from its JSON. Of an action that was done it gives only the time, which stays true: the state that
// follows changes, and the verdict shows it.
function result({ output, problem }, isDone, failure) {
  if (problem === "access-denied") return ["Not done: administrative access was refused."];
  try {
    const answer = JSON.parse(output);
    return isDone(answer) ? ["Done at ", time(new Date().toISOString()), "."] : failure(answer);
  } catch (error) {
    return [output.trim()];  // it is not JSON, so it is shown as it is
  }
}

let busy = false;

function enable() {
  for (const button of document.querySelectorAll("button.root, #reload")) button.disabled = busy || !permission.allowed;
  byId("rights").hidden = permission.allowed !== false;
  byId("rights").textContent = "To reload the driver or to acknowledge a removal, turn on administrative access in Cockpit.";
}

async function asRoot(title, argv, isDone, failure) {
  busy = true;
  enable();
  say(title, "…");
  say(title, ...result(await run(argv, { superuser: "require" }), isDone, failure));
  busy = false;
  enable();
}

export function acknowledgeButton(adapter) {
  // The agent gives the name of the adapter; after "--" pvrdma-agentctl cannot take it for an option.
  const argv = ["pvrdma-agentctl", "--json", "acknowledge", "--", adapter];
  // Without an answer of the agent the program prints a state "unknown", with the reason.
  const press = () => asRoot("Acknowledge", argv, ({ state }) => state && state !== "unknown", answer => [answer.summary ?? answer.error.message]);
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
    if (dialog.returnValue === "reload") {
      asRoot("Reload of the driver", ["pvrdma-agentctl", "--json", "reload"], answer => answer.reloaded,
        answer => [answer.message, holders(answer.holders)]);
    }
  });
  permission.addEventListener("changed", enable);
  enable();
}
