// The page: what the agent says as it says it, how old that is, and whether it still answers.
import { acknowledgeButton, prepareActions, run } from "./actions.js";
import { boots } from "./boots.js";
import { show, span } from "./dom.js";
import { adapters, executor, findings, verdict } from "./health.js";
import { plan } from "./plan.js";
import { call, watchHealth } from "./varlink.js";

// An agent has nothing to tell while nothing changes, so it is asked now and then whether it is still there. It answers
// from memory.
const ASK_MS = 5000;
const ANSWER_MS = 4000;
const LOOK_MS = 60000;  // a look waits for the devices

const byId = id => document.getElementById(id);
const PROBLEMS = {
  timeout: "The agent does not answer.",
  "not-found": "The agent does not run (systemctl status pvrdma-agent).",
  disconnected: "The agent has closed the connection.",
  "access-denied": "This user may not ask the agent.",
};

let health = null;
let observed = null;  // when the look behind it was, in milliseconds of the page's own clock; null: not known
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

async function showPlan() {
  const answer = await call("GetPlan", ANSWER_MS).catch(() => null);
  if (answer) show(byId("plan"), answer.plan, plan);
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
  observed = health.observed_ms_ago === null ? null : performance.now() - health.observed_ms_ago;
  tick();
  showPlan();
  if (before && health.state === "ready" && before.state !== "ready") showBoots();
}

const ask = () => call("GetHealth", ANSWER_MS).then(answer => take(answer.health), lose);

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
window.setInterval(() => { if (!document.hidden) ask(); }, ASK_MS);
document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
