// The top bar: the name, who one is (narrow screens), the clock, whether the bot runs, help.

import { dayOf, hourOf } from "./dates.js";
import { el } from "./dom.js";
import { appMark, icon } from "./icons.js";
import { avatar, openSheet } from "./side.js";
import { showKeys } from "./keys.js";

const NEXT_MORNING_HOUR = 9;

export function drawTop(app) {
  const top = document.getElementById("top");
  if (!top.firstElementChild) build(app, top);
  const { clock, bot } = app.value;
  const now = app.clock.now();
  const part = (name) => top.querySelector(`[data-part=${name}]`);
  set(part("hour"), hourOf(now));
  set(part("day"), dayOf(now));
  const moves = clock.movable !== false;
  for (const node of top.querySelectorAll(".move")) node.hidden = !moves;
  part("deadline").hidden = !moves || !clock.deadline || new Date(clock.deadline) <= now;
  part("back").hidden = !moves || !clock.moved;
  part("clock").classList.toggle("moved", clock.moved === true);
  const running = bot.running && app.state.reachable;
  part("bot").classList.toggle("stopped", !running);
  set(part("bot-text"), running ? "Bot running" : "Bot stopped");
  const me = part("me");
  if (me.dataset.user !== app.view.user) {
    me.dataset.user = app.view.user;
    me.replaceChildren(avatar(app.me), el("span", { class: "who" }, el("strong", {}, app.me.name), el("small", {}, app.me.role ?? "")), icon("down", "icon small"));
    me.setAttribute("aria-label", `You are ${app.me.name}. Change person or channel`);
  }
}

function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function build(app, top) {
  const advance = (seconds) => app.set("/_control/clock", { advance_seconds: Math.round(seconds) });
  const until = (date) => advance((date - app.clock.now()) / 1000);
  const move = (label, act, more = {}) => el("button", { type: "button", class: "move", onclick: act, ...more }, label);
  top.append(
    el("div", { class: "brand" }, appMark("brand-mark"), el("strong", {}, "Sayso"), el("span", { class: "tagline" }, "a small Slack on this machine, nothing leaves it")),
    el("button", { type: "button", class: "me", "aria-haspopup": "dialog", data: { part: "me" }, onclick: () => openSheet(app) }),
    el("div", { class: "clock", role: "group", "aria-label": "Clock", data: { part: "clock" } },
      el("span", { class: "shown" }, el("strong", { data: { part: "hour" } }), el("span", { data: { part: "day" } })),
      move("+1 hour", () => advance(3600)),
      move("Next morning", () => {
        const date = app.clock.now();
        date.setDate(date.getDate() + (date.getHours() < NEXT_MORNING_HOUR ? 0 : 1));
        date.setHours(NEXT_MORNING_HOUR, 0, 0, 0);
        until(date);
      }, { class: "move wide" }),
      move("To the deadline", () => until(new Date(new Date(app.value.clock.deadline).getTime() + 1000)), { class: "move wide", data: { part: "deadline" } }),
      move("Back to now", () => app.set("/_control/clock", { reset: true }), { class: "move back", data: { part: "back" } })),
    el("div", { class: "bot", data: { part: "bot" } }, el("span", { class: "light" }), el("span", { data: { part: "bot-text" } })),
    el("button", { type: "button", class: "help", "aria-label": "Keys of this page", onclick: () => showKeys(app) }, "?"),
  );
}
