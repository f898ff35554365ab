// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's varlink interface, io.pvrdma.Agent(7), over Cockpit's channels: JSON messages, each ended by a NUL byte. The
// channels are binary, as text channels would replace that byte.
/* global cockpit */

const INTERFACE = "io.pvrdma.Agent";
const SOCKET = `/run/pvrdma-agent/${INTERFACE}`;
const LONGEST = 1 << 24;  // characters of one message; ten adapters and their findings take some ten thousand
const AGAIN_MS = [500, 1000, 2000, 4000];  // pauses before further tries to connect; the last is for all later ones

// Sends one call on a connection of its own. Calls answered(parameters) for each reply, and ended(problem) once, after the
// last. Returns a function that closes the connection without calling ended.
function ask(method, { more = false, superuser = null }, answered, ended) {
  const decoder = new TextDecoder();
  const channel = cockpit.channel({ payload: "stream", unix: SOCKET, binary: true, superuser });
  let text = "";
  let open = true;

  const end = problem => {
    if (!open) return;
    open = false;
    channel.close();
    ended(problem);
  };
  const take = message => {
    let reply = null;
    try {
      reply = JSON.parse(message);
    } catch (error) {
      // The check below reports it: reply stays null.
    }
    if (reply?.error) end(reply.error);
    else if (typeof reply?.parameters !== "object" || reply.parameters === null) end("protocol-error");
    else answered(reply.parameters);
  };

  channel.addEventListener("message", (_event, data) => {
    const messages = (text + decoder.decode(data, { stream: true })).split("\0");
    text = messages.pop();
    messages.forEach(message => open && take(message));
    if (text.length > LONGEST) end("protocol-error");
  });
  channel.addEventListener("close", (_event, options) => end(options.problem || "disconnected"));
  channel.send(new TextEncoder().encode(JSON.stringify({ method: `${INTERFACE}.${method}`, parameters: {}, more }) + "\0"));
  return () => {
    open = false;
    channel.close();
  };
}

// Resolves with the parameters of one reply; rejects with the problem's name, "timeout" if no reply comes in time.
export function call(method, limitMs, superuser = null) {
  return new Promise((resolve, reject) => {
    const close = ask(method, { superuser }, parameters => finish(resolve, parameters), problem => finish(reject, problem));
    const timer = window.setTimeout(() => finish(reject, "timeout"), limitMs);
    const finish = (settle, value) => {
      window.clearTimeout(timer);
      close();
      settle(value);
    };
  });
}

// Calls changed(health) for each state of health, as long as the page is open, and lost(problem) each time the connection
// ends or cannot be made. Then it connects again, without end.
export function watchHealth(changed, lost, tries = 0) {
  const take = parameters => {
    tries = 0;
    changed(parameters.health);
  };
  ask("WatchHealth", { more: true }, take, problem => {
    lost(problem);
    const pause = AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)];
    window.setTimeout(() => watchHealth(changed, lost, tries + 1), pause);
  });
}
