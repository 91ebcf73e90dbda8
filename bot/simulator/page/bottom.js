// The bottom bar of narrow screens: Channels, Home, Bank, Guide.

import { el } from "./dom.js";
import { icon } from "./icons.js";
import { openSheet } from "./side.js";
import { HOME } from "./story.js";



export function drawBottom(app) {
  const bar = document.getElementById("bottom");
  const inPane = document.body.classList.contains("pane-view");
  const unread = app.value.channels.reduce((sum, channel) => sum + (channel.unread ?? 0), 0);
  const here = inPane ? (app.view.pane === "bank" ? "bank" : app.view.pane === "guide" ? "guide" : "channels") : app.view.place === HOME ? "home" : "channels";
  const tabs = [
    ["channels", "hash", "Channels", () => (here === "channels" && !inPane ? openSheet(app) : app.go(app.view.place === HOME ? app.value.channels[0].id : app.view.place)), unread],
    ["home", "home", "Home", () => app.go(HOME), 0],
    ["bank", "bank", "Bank", () => app.showPane("bank"), 0],
    ["guide", "guide", "Guide", () => app.showPane("guide"), 0],
  ];
  const print = JSON.stringify([here, unread, inPane, app.view.place]);
  if (bar.dataset.print === print) return;
  bar.dataset.print = print;
  const focused = bar.contains(document.activeElement) ? document.activeElement.dataset.tab : null;
  bar.replaceChildren(...tabs.map(([name, drawing, label, act, count]) => el("button", {
    type: "button", class: here === name ? "chosen" : null, "aria-current": here === name ? "page" : null, data: { tab: name }, onclick: act,
  }, el("span", { class: "tab-icon" }, icon(drawing), count ? el("span", { class: "badge" }, String(count)) : null), label)));
  if (focused) bar.querySelector(`[data-tab=${focused}]`)?.focus();
}
