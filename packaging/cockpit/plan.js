// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's plan: its actions with their reasons.
import { el, span } from "./dom.js";

const WORDS = {
  LoadModule: target => `load module ${target}`,
  BindFunction: target => `bind driver vmw_pvrdma to adapter ${target}`,
  RebindFunction: target => `unbind adapter ${target} from its driver and bind it again`,
  ReloadDriver: () => "unload driver vmw_pvrdma and load it again, for all adapters",
  ConfigureLink: target => `bring up the link of adapter ${target}`,
};

export function plan({ actions, next_look_in_ms: next }) {
  const words = ({ verb, target }) => WORDS[verb]?.(target) ?? `${verb} ${target}`;
  const item = one => el("li", {}, words(one), el("div", { class: "small" }, `because ${one.reason}`));
  return el("div", { class: "card" },
    actions.length ? el("ol", {}, ...actions.map(item)) : el("p", {}, "Nothing is to be done now."),
    next === null ? null : el("p", { class: "small" }, `Without any event, the agent looks again within ${span(Math.ceil(next / 1000))}.`));
}
