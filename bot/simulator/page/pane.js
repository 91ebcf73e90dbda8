// The right column: Guide, Bank, Conversation. It teaches: one sees the money move while clicking.

import { Composer } from "./composer.js";
import { drawBank, paidCount } from "./bank.js";
import { drawGuide } from "./guide.js";
import { el, reconcile } from "./dom.js";
import { icon } from "./icons.js";
import { messageNode } from "./messages.js";
import { HOME, placeName } from "./story.js";

const TABS = [["guide", "Guide"], ["bank", "Bank"], ["conversation", "Conversation"]];

export class Pane {
  #app;
  #tabs;
  #body;
  #lists = {};
  #reply;
  #seenPayments = null;
  #lastThread = "";

  constructor(app, root) {
    this.#app = app;
    this.#tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Pane", onkeydown: (event) => this.#onKey(event) });
    this.#body = el("div", { class: "pane-body", role: "tabpanel", id: "pane-body", tabindex: "-1" });
    for (const [name] of TABS) this.#body.append((this.#lists[name] = el("div", { class: `pane-${name}` })));
    const form = el("form", { class: "composer", autocomplete: "off" });
    root.append(el("div", { class: "pane-head" }, this.#tabs, el("button", { type: "button", class: "tool pane-close", "aria-label": "Close this pane", onclick: () => app.hidePane() }, icon("close"))), this.#body, form);
    this.#reply = new Composer(app, form, { thread: true });
    this.form = form;
  }

  draw() {
    const { view, value } = this.#app;
    const paid = paidCount(value);
    if (this.#seenPayments === null || view.pane === "bank") this.#seenPayments = paid;
    const news = Math.max(0, paid - this.#seenPayments);
    reconcile(this.#tabs, TABS.map(([name, label]) => ({ name, label, chosen: view.pane === name, news: name === "bank" ? news : 0 })), {
      key: (tab) => tab.name,
      make: (tab) => el("button", {
        type: "button", role: "tab", id: `tab-${tab.name}`, "aria-selected": String(tab.chosen), "aria-controls": "pane-body", tabindex: tab.chosen ? "0" : "-1",
        data: { focus: tab.name, tab: tab.name }, onclick: () => this.#app.showPane(tab.name),
      }, tab.label, tab.news ? el("span", { class: "badge" }, String(tab.news), el("span", { class: "unseen" }, " new")) : null),
    });
    this.#body.setAttribute("aria-labelledby", `tab-${view.pane}`);
    for (const [name, list] of Object.entries(this.#lists)) list.hidden = name !== view.pane;
    if (view.pane === "guide") drawGuide(this.#app, this.#lists.guide);
    else if (view.pane === "bank") drawBank(this.#app, this.#lists.bank);
    else this.#conversation(this.#lists.conversation);
    this.form.hidden = view.pane !== "conversation" || !view.shownThread;
    if (!this.form.hidden) this.#reply.draw();
  }

  #conversation(list) {
    const { view, value } = this.#app;
    const thread = view.thread && value.messages[view.thread.channel] ? view.thread : this.#latest();
    view.shownThread = thread;
    if (!thread) {
      reconcile(list, [{ key: "none" }], { key: (item) => item.key, make: () => el("div", { class: "no-payment" }, el("strong", {}, "No conversation yet."), el("span", {}, "Replies to a message are shown here.")) });
      return;
    }
    const messages = (value.messages[thread.channel] ?? []).filter((message) => message.ts === thread.ts || message.thread_ts === thread.ts);
    const day = this.#app.clock.now().toDateString();
    const items = [{ kind: "head", key: `head/${thread.channel}`, place: placeName(this.#app, thread.channel) }, ...messages.map((message) => ({ kind: "message", key: `${view.user}/${message.ts}`, message: { ...message, channel: thread.channel }, day }))];
    const key = `${view.user}/${thread.channel}/${thread.ts}`;
    const initial = this.#lastThread !== key;
    const atBottom = this.#body.scrollHeight - this.#body.scrollTop - this.#body.clientHeight < 60;
    this.#lastThread = key;
    const { added } = reconcile(list, items, {
      key: (item) => item.key,
      make: (item) => (item.kind === "head" ? el("p", { class: "pane-lead" }, `In ${item.place}`) : messageNode(this.#app, item.message, "pane")),
    });
    if (initial || (added.length && atBottom)) this.#body.scrollTop = this.#body.scrollHeight;
  }

  // Without a choice: the newest conversation of the place one looks at.
  #latest() {
    const { view, value } = this.#app;
    if (view.place === HOME) return null;
    const replies = (value.messages[view.place] ?? []).filter((message) => message.thread_ts && message.thread_ts !== message.ts);
    const last = replies.at(-1);
    return last ? { channel: view.place, ts: last.thread_ts } : null;
  }

  #onKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = TABS.findIndex(([name]) => name === this.#app.view.pane);
    const [name] = TABS[(at + step + TABS.length) % TABS.length];
    this.#app.showPane(name);
    this.#tabs.querySelector(`[data-tab=${name}]`)?.focus();
  }
}
