// SPDX-License-Identifier: GPL-2.0-or-later
// Elements of the page. Text of other programs only becomes a text node or the value of a text attribute.

const SVG = "http://www.w3.org/2000/svg";

// el("p", {class: "small"}, "text", otherElement): attributes and children that are null or undefined are left out.
export function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const shown = new WeakMap();

// Fills a place with build(value), unless the place shows that value already. Details that the reader has opened stay open,
// and the focus stays on its element: such elements have a data-key.
export function show(place, value, build) {
  const key = JSON.stringify(value);
  if (shown.get(place) === key) return;
  // A value that cannot be shown must not count as shown.
  const built = [build(value)].flat();
  shown.set(place, key);
  const open = new Set([...place.querySelectorAll("details[open]")].map(one => one.dataset.key));
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  place.replaceChildren(...built);
  for (const one of place.querySelectorAll("details")) one.open = open.has(one.dataset.key);
  if (focused !== undefined) [...place.querySelectorAll("[data-key]")].find(one => one.dataset.key === focused)?.focus();
}

// An age in one unit: 12 s, 3 min, 2 h, 4 d.
export function span(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 120) return `${whole} s`;
  if (whole < 7200) return `${Math.floor(whole / 60)} min`;
  if (whole < 172800) return `${Math.floor(whole / 3600)} h`;
  return `${Math.floor(whole / 86400)} d`;
}

// A time of the agent (RFC 3339, UTC) in the reader's own format; a text that is no time stays as it is.
export function time(text) {
  const date = new Date(text);
  const known = !Number.isNaN(date.getTime());
  const words = known ? date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }) : text;
  return el("time", { datetime: known ? text : null, title: text }, words);
}
