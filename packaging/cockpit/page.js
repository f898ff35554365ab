// SPDX-License-Identifier: GPL-2.0-or-later
// The page: what the agent says as it says it, how old that is, and whether it still answers.
import { acknowledgeButton, prepareActions, run } from "./actions.js";
import { boots } from "./boots.js";
import { show, span } from "./dom.js";
import { adapters, executor, findings, verdict } from "./health.js";
import { plan } from "./plan.js";
import { call, watchHealth } from "./varlink.js";

// An agent has nothing to tell while nothing changes, so it is asked now and then whether it is still there. It answers
// within half a second.
const ASK_MS = 5000;
const ANSWER_MS = 4000;
const LOOK_MS = 60000;  // a look waits for the devices
const PAUSE_MS = 1000;  // between two questions for the plan

const byId = id => document.getElementById(id);
const PROBLEMS = {
  timeout: "The agent does not answer.",
  "not-found": "The agent does not run (systemctl status pvrdma-agent).",
  disconnected: "The agent has closed the connection.",
  "access-denied": "This user may not ask the agent.",
};

let health = null;
let observed = null;  // when the look behind it was, in milliseconds of the page's own clock; null: not known
let heard = 0;        // when the agent said something last, by the same clock
let trouble = "";     // why what is shown may no longer be so; empty: it is

function tick() {
  const age = observed === null ? null : span((performance.now() - observed) / 1000);
  byId("age").textContent = age === null ? "" : `Observed ${age} ago.`;
  byId("stale").hidden = !trouble;
  // Only what has changed: an alert is read aloud.
  const words = trouble && `${PROBLEMS[trouble] ?? `The agent's answer cannot be used (${trouble}).`} Shown is what it said last; trying again.`;
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

let planState = "";  // "", "asked", or "asked again" while one is on its way

// One at a time, however often health changes.
async function showPlan() {
  planState = planState ? "asked again" : "asked";
  if (planState !== "asked") return;
  const answer = await call("GetPlan", ANSWER_MS).catch(() => null);
  if (answer) show(byId("plan"), answer.plan, plan);
  const again = planState === "asked again";
  planState = "";
  if (again) window.setTimeout(showPlan, PAUSE_MS);
}

async function showBoots() {
  // Who may not read the system's journal is told so.
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
    // It lacks what each answer has: no answer of this interface.
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
  // As root where that is allowed: then the agent tries again what it had given up.
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
