// What happens between a press and what it does: the confirm question, the spinner,
// and Slack's warning when the app did not answer.

import { el } from "./dom.js";
import { icon } from "./icons.js";
import { placeOf } from "./links.js";

/** The actions of a surface; `where` is {channel, ts}, {view_id} or {home: true}. */
export function pressing(app, where) {
  const send = (part, block, value) => app.act("/_control/click", {
    ...where, action_id: part.action_id, block_id: block.block_id, value,
  });
  return {
    press: async (part, block, value, node) => {
      if (node.getAttribute("aria-busy") === "true") return;
      if (part.confirm && !(await app.modals.ask(part.confirm))) return;
      app.modals.remember(node, where);
      const warned = warning(node);
      warned?.remove();
      node.setAttribute("aria-busy", "true");
      const { status, data } = await send(part, block, value);
      node.removeAttribute("aria-busy");
      if (status === 200 && data.ok !== false) return;
      const text = status === 404 ? "This has changed meanwhile. Look again before you press." : "This app did not respond";
      show(node, text);
      app.announce(text);
    },
    // A link opens by itself, one to a message here in this page; the app hears that it was followed.
    follow: (event, part, block) => {
      const place = placeOf(part.url);
      if (place && app.value.names.channels[place.channel] !== undefined) {
        event.preventDefault();
        app.go(place.channel, place.ts);
      }
      send(part, block, part.value);
    },
    suggest: async (part, block, value) => {
      const { ok, data } = await app.state.act("/_control/suggest", { user: app.view.user, ...where, action_id: part.action_id, block_id: block.block_id, value });
      return ok ? data.options : [];
    },
  };
}

function warning(node) {
  return node.closest(".block")?.querySelector(":scope > .did-not-respond");
}

function show(node, text) {
  const block = node.closest(".block");
  if (!block) return;
  warning(node)?.remove();
  block.append(el("span", { class: "did-not-respond" }, icon("warning"), text));
}
