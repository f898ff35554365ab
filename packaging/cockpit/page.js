// SPDX-License-Identifier: GPL-2.0-or-later
// The page shows the agent's answers as they come, their age, and whether the agent still answers.
import { acknowledgeButton, prepareActions, run } from "./actions.js";
import { boots } from "./boots.js";
import { show, span } from "./dom.js";
import { adapters, executor, findings, verdict } from "./health.js";
import { plan } from "./plan.js";
import { call, watchHealth } from "./varlink.js";

// The agent sends nothing while nothing changes, so the page asks it every ASK_MS whether it still answers. The agent answers
// within half a second.
const ASK_MS = 5000;
const ANSWER_MS = 4000;
const LOOK_MS = 60000;  // a look waits for the devices
const PAUSE_MS = 1000;  // between two questions for the plan

const byId = id => document.getElementById(id);
// If there is no socket, Cockpit's bridge in Python says terminated; the older bridge in C says not-found, as for a refusal.
const PROBLEMS = {
  timeout: "The agent does not answer.",
  terminated: "The agent cannot be reached. Perhaps it has not run in this boot (systemctl status pvrdma-agent).",
  "not-found": "The agent does not run (systemctl status pvrdma-agent).",
  disconnected: "The agent has closed the connection.",
  "access-denied": "This user may not ask the agent.",
};

let health = null;
let observed = null;  // the time of the agent's look, in milliseconds of the page's own clock; null: not known
let heard = 0;        // the time of the agent's last answer, by the same clock
let trouble = "";     // why the shown state may be out of date; empty: it is up to date

function tick() {
  const age = observed === null ? null : span((performance.now() - observed) / 1000);
  byId("age").textContent = age === null ? "" : `Observed ${age} ago.`;
  byId("stale").hidden = !trouble;
  // The alert is filled only when its text changes, because screen readers read it aloud.
  const words = trouble && `${PROBLEMS[trouble] ?? `The agent's answer cannot be used (${trouble}).`} This page shows the last answer and asks again.`;
  show(byId("stale"), words, () => words);
}

function showHealth() {
  document.body.classList.toggle("stale", Boolean(trouble));
  show(byId("verdict"), { health: health && { state: health.state, since: health.since, summary: health.summary }, trouble }, verdict);
  if (health) {
    show(byId("executor"), { executor: health.executor }, executor);
    show(byId("findings"), { findings: health.findings, adapters: health.adapters }, value => findings(value, acknowledgeButton));
    show(byId("adapters"), { adapters: health.adapters }, adapters);
  }
  tick();
}

let planState = "";  // "", "asked", or "asked again" while a call is under way

// One call at a time, however often health changes.
async function showPlan() {
  planState = planState ? "asked again" : "asked";
  if (planState !== "asked") return;
  const answer = await call("GetPlan", ANSWER_MS).catch(() => null);
  const again = planState === "asked again";
  planState = "";
  if (again) window.setTimeout(showPlan, PAUSE_MS);
  // At the end, as it fails where a field is missing.
  if (answer) show(byId("plan"), answer.plan, plan);
}

async function showBoots() {
  // If the user may not read the system's journal, the output says so.
  const { output } = await run(["pvrdma-agentctl", "boots", "--json"], { superuser: "try", err: "ignore" });
  show(byId("boots"), output, boots);
}

function lose(problem) {
  trouble = problem;
  showHealth();
}

function take(answer) {
  const before = health;
  try {
    health = answer;
    trouble = "";
    showHealth();
  } catch (error) {
    // A field is missing that each answer has, so this is no answer of the interface.
    health = before;
    lose("protocol-error");
    return;
  }
  heard = performance.now();
  observed = health.observed_ms_ago === null ? null : heard - health.observed_ms_ago;
  tick();
  showPlan();
  if (before && health.state === "ready" && before.state !== "ready") showBoots();
}

function ask() {
  const isFresh = !trouble && performance.now() - heard < ASK_MS / 2;
  if (!document.hidden && !isFresh) call("GetHealth", ANSWER_MS).then(answer => take(answer.health), lose);
}

async function look() {
  byId("look").disabled = true;
  // For root the agent also tries operations again that it had given up, so the page asks as root if that is allowed.
  await call("Refresh", LOOK_MS, "try").then(answer => take(answer.health), lose);
  byId("look").disabled = false;
}

prepareActions();
showHealth();
showBoots();
watchHealth(take, lose);
byId("look").addEventListener("click", look);
window.setInterval(tick, 1000);
window.setInterval(ask, ASK_MS);
document.addEventListener("visibilitychange", ask);
