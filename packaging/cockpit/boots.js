// SPDX-License-Identifier: GPL-2.0-or-later
// The last boots as bars, from `pvrdma-agentctl boots --json`: the time of each part until the adapters were ready.
import { el, svg, time } from "./dom.js";

// Parts of a boot; a part ends with the last of its steps.
const PARTS = [
  { name: "before the agent", steps: ["agent_started"] },
  { name: "modules and driver", steps: ["adapter_seen", "module_loaded", "driver_reloaded", "driver_live"] },
  { name: "link", steps: ["link_up", "carrier"] },
  { name: "port", steps: ["port_active"] },
  { name: "addresses, until ready", steps: ["ready"] },
];
const STEP = {
  agent_started: () => "start of the agent",
  adapter_seen: subject => `${subject} on the bus`,
  module_loaded: subject => `load of ${subject}`,
  driver_reloaded: subject => `reload of ${subject}`,
  driver_live: () => "vmw_pvrdma live",
  link_up: subject => `link up of ${subject}`,
  carrier: subject => `carrier of ${subject}`,
  port_active: subject => `port ACTIVE of ${subject}`,
  address: subject => `address of ${subject}`,
  gid: subject => `GID of ${subject}`,
  ready: () => "ready",
};

const seconds = ms => (ms / 1000).toFixed(2);

// The end of each part, in milliseconds since the boot began. A part that took no time ends with the part before it; steps
// after ready belong to no part.
function ends(boot) {
  const ready = boot.steps.find(one => one.step === "ready")?.at_ms ?? Infinity;
  let end = 0;
  return PARTS.map(({ steps }) => {
    const reached = boot.steps.filter(one => steps.includes(one.step) && one.at_ms <= ready).map(one => one.at_ms);
    end = Math.max(end, ...reached);
    return end;
  });
}

function bar(boot, longest) {
  const scale = 1000 / longest;
  const parts = ends(boot).map((end, i, all) => {
    const begin = i ? all[i - 1] : 0;
    const title = `${PARTS[i].name}: ${seconds(end - begin)} s`;
    return svg("rect", { class: `part${i}`, x: begin * scale, width: (end - begin) * scale, height: 10 }, svg("title", {}, title));
  });
  return svg("svg", { class: "bar", viewBox: "0 0 1000 10", preserveAspectRatio: "none", "aria-hidden": "true" }, ...parts);
}

function steps(boot) {
  const row = one => el("tr", {},
    el("th", { scope: "row" }, STEP[one.step]?.(one.subject) ?? `${one.step} ${one.subject ?? ""}`),
    el("td", {}, (one.at_or_before ? "≤ " : "") + seconds(one.at_ms)),
    el("td", {}, one.took_ms === null ? "" : seconds(one.took_ms)));
  const head = ["Step", "at (s)", "took (s)"].map(text => el("th", { scope: "col" }, text));
  return el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...boot.steps.map(row)));
}

function row(boot, longest) {
  const ready = boot.steps.find(one => one.step === "ready");
  return el("details", { "data-key": boot.boot_id },
    el("summary", { "data-key": `summary ${boot.boot_id}` },
      el("span", { class: "when" }, time(boot.began)),
      el("span", { class: "result" }, ready ? `ready at ${seconds(ready.at_ms)} s` : "not ready"),
      bar(boot, longest)),
    steps(boot),
    el("p", { class: "small" }, `Kernel ${boot.kernel || "not known"}. Seconds since the boot began; ≤: reached then or before.`));
}

function legend() {
  const entry = ({ name }, i) => el("li", {}, svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" },
    svg("rect", { class: `part${i}`, width: 10, height: 10 })), name);
  return el("ul", { class: "legend" }, ...PARTS.map(entry));
}

// Elements for the program's output, or for the reason why there are no boots.
export function boots(output) {
  let found = null;
  try {
    found = JSON.parse(output);
  } catch (error) {
    // The output is not JSON, so it is shown as it is.
  }
  if (!found?.boots) {
    const why = found?.error ? [found.error.message, found.error.remedy].filter(Boolean).join(". ") : output;
    return el("p", { class: "card" }, why || "Nothing is known of earlier boots.");
  }
  const longest = Math.max(1, ...found.boots.flatMap(ends));
  return el("div", { class: "card" }, legend(), ...found.boots.map(boot => row(boot, longest)));
}
