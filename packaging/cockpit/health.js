// SPDX-License-Identifier: GPL-2.0-or-later
// Health in words and elements: the verdict, the findings, the adapters.
import { el, time } from "./dom.js";

const RANK = { error: 0, warning: 1, info: 2 };
const SEVERITY = { error: "Error", warning: "Warning", info: "Note" };
const ACTOR = { agent: "The agent goes on by itself.", host: "For the vSphere administrator.", image: "For the maker of the image." };
const MANAGER = { agent: "pvrdma-agent", master: "its bond, bridge or team", nobody: "no program; the agent only observes it" };
const PORT_MEANING = { ACTIVE: "", DOWN: " (no RDMA traffic)" };

export const badge = state => el("span", { class: `badge ${state}` }, state.toUpperCase());

export function verdict({ health, trouble }) {
  if (!health) return [badge("unknown"), el("span", { class: "summary" }, trouble ? "The state of the adapters is not known." : "Asking the agent…")];
  const words = el("span", { class: "summary" }, health.summary);
  if (trouble) return [badge("stale"), el("span", { class: "summary" }, `Last known: ${health.state}. `, words)];
  return [badge(health.state), words, el("span", { class: "small" }, "since ", time(health.since))];
}

export function executor({ executor }) {
  const { busy, reloads, rebinds } = executor;
  const times = number => (number === 1 ? "once" : `${number} times`);
  const done = [reloads > 0 ? `driver reloaded ${times(reloads)}` : null, rebinds > 0 ? `function rebound ${times(rebinds)}` : null];
  const words = done.filter(Boolean).join(", ");
  return [
    busy ? el("strong", {}, `${busy.stuck ? "Stuck in the kernel" : "At work"}: ${busy.call}. `) : null,
    words ? `In this boot: ${words}.` : null,
  ].filter(Boolean);
}

// "0000:13:00.1 (rocep19s0f1, ens224f0)": the names of an adapter that administrators know.
function nameOf(fn, adapters) {
  const found = adapters.find(one => one.function === fn);
  const names = [found?.rdma_device, found?.netdev].filter(Boolean).join(", ");
  return names ? `${fn} (${names})` : fn;
}

export function holders(list) {
  if (list.length === 0) return null;
  const line = one => el("li", {}, one.pid === 0 && one.command ? "" : `PID ${one.pid} `, el("code", {}, one.command || "(its name could not be read)"), ` ${one.rdma_device}`);
  return el("div", {}, "Held by:", el("ul", {}, ...list.map(line)));
}

// The function of an adapter that was removed. The finding is about the machine, so its `adapter` is null; the function comes first
// in the value of that name: "0000:13:00.1 (ens224f0, 00:50:56:8a:9f:c2)".
const removed = one => one.id === "adapter-removed" && one.evidence.values.adapter?.split(" ")[0];

function finding(one, { adapters, acknowledge }) {
  return el("article", { class: `card finding ${one.severity}` },
    el("p", { class: "kind" }, el("strong", {}, SEVERITY[one.severity] ?? one.severity), " ", el("code", {}, one.id)),
    el("p", {}, one.summary),
    one.adapter && !one.summary.includes(one.adapter) ? el("p", { class: "small" }, `Adapter ${nameOf(one.adapter, adapters)}`) : null,
    holders(one.evidence.holders),
    one.remedy ? el("p", {}, el("strong", {}, "To do: "), one.remedy) : null,
    ACTOR[one.actor] ? el("p", { class: "small" }, ACTOR[one.actor]) : null,
    removed(one) ? acknowledge(removed(one)) : null);
}

// acknowledge(adapter) gives the button for an adapter that was removed.
export function findings({ findings: list, adapters }, acknowledge) {
  if (list.length === 0) return el("p", { class: "card good" }, "None.");
  const sorted = [...list].sort((left, right) => RANK[left.severity] - RANK[right.severity]);
  return sorted.map(one => finding(one, { adapters, acknowledge }));
}

function port(one) {
  if (!one) return null;
  const state = one.state === null ? "state not known" : one.state + (PORT_MEANING[one.state] ?? " (not usable yet)");
  return [state, one.phys_state && `physical ${one.phys_state}`, one.active_mtu && `RDMA MTU ${one.active_mtu}`].filter(Boolean).join(", ");
}

function link(one) {
  if (one.netdev === null) return "none: vmxnet3 has not registered one";
  const up = one.carrier === false ? "link up but no carrier" : "link up";
  return [one.netdev, one.link_up === null ? null : one.link_up ? up : "link down", one.mac, one.mtu && `MTU ${one.mtu}`].filter(Boolean).join(", ");
}

function adapter(one) {
  const aliases = one.aliases.length ? `, also known as ${one.aliases.join(", ")}` : "";
  const used = one.application_gid;
  const rows = [
    ["PCI function", one.function],
    ["Driver", one.driver ?? "none: vmw_pvrdma is not bound to it"],
    ["RDMA device", one.rdma_device === null ? "none: the driver has not registered one" : one.rdma_device + aliases],
    ["Port", port(one.port)],
    ["Interface", link(one)],
    ["Managed by", MANAGER[one.managed_by] ?? one.managed_by],
    ["Addresses", one.addresses.join(", ") || "none"],
    ["For applications", used ? `GID index ${used.index} (${used.type}), ${used.address}` : "no GID: the interface has no address that they can use"],
    ["Port changes", one.transitions ? el("span", {}, `${one.transitions}, last `, time(one.last_change)) : null],
    ["Not readable", one.unreadable.join("; ")],
  ];
  return el("article", { class: "card adapter" },
    el("h3", {}, one.netdev ?? one.function, " ", badge(one.state)),
    el("dl", {}, ...rows.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}

export function adapters({ adapters: list }) {
  if (list.length === 0) return el("p", { class: "card" }, "This VM has no PVRDMA adapter.");
  return el("div", { class: "grid" }, ...list.map(adapter));
}
