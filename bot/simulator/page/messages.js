// The middle column: the messages of a place, each drawn the way Slack does, or the home.
//
// Replies stand under the message they answer, the last few of them; all of a conversation is in
// the pane. A message is drawn again only when it changed.

import { blockNodes } from "./blocks.js";
import { dateOfTs, daysApart, hourOf, longDayOf } from "./dates.js";
import { el, reconcile, textOf } from "./dom.js";
import { emojiNode } from "./emoji.js";
import { icon } from "./icons.js";
import { openMenu } from "./menu.js";
import { mrkdwn, plainText, unescaped } from "./mrkdwn.js";
import { appAvatar, avatar, openSheet } from "./side.js";
import { emptyNote, welcome } from "./welcome.js";
import { HOME, placeName } from "./story.js";

const REPLIES_SHOWN = 3;
const NEAR_BOTTOM_PX = 60;
const SLACKBOT = "USLACKBOT";

let pinned = false;
let lastPlace = null;
let wanted = null;

/** Keep the end in view when the column itself grows or shrinks, as by a notice above it. */
export function watchScroll() {
  const scroll = document.getElementById("scroll");
  scroll.addEventListener("scroll", () => { pinned = isAtBottom(scroll); }, { passive: true });
  new ResizeObserver(() => {
    if (pinned) scroll.scrollTop = scroll.scrollHeight;
  }).observe(scroll);
}

export function drawLog(app) {
  const { view, value } = app;
  const messages = value.messages[view.place] ?? [];
  const channel = [...value.channels, ...(value.dms ?? [])].find((each) => each.id === view.place);
  heading(app, placeName(app, view.place), channel?.topic ?? "");
  const initial = lastPlace !== `${view.user}/${view.place}`;
  lastPlace = `${view.user}/${view.place}`;
  const scroll = document.getElementById("scroll");
  const atBottom = isAtBottom(scroll);
  const items = itemsOf(app, messages);
  const { added, changed } = reconcile(document.getElementById("log"), items, {
    key: (item) => `${view.user}/${view.place}/${item.key}`,
    make: (item) => drawn(app, item),
  });
  settleScroll(scroll, items, added, { initial, atBottom, me: view.user });
  if (!initial) news(app, added, changed);
}

export function drawHome(app) {
  heading(app, "Sayso home", "Yours alone: what waits for you, what you asked for.");
  const home = app.value.home;
  const scroll = document.getElementById("scroll");
  const initial = lastPlace !== `${app.view.user}/${HOME}`;
  lastPlace = `${app.view.user}/${HOME}`;
  reconcile(document.getElementById("log"), [{ key: `home/${app.view.user}`, blocks: home?.blocks ?? null, day: today(app) }], {
    key: (item) => item.key,
    make: (item) => el("section", { class: "home", "aria-label": "Sayso home" }, item.blocks
      ? blockNodes(item.blocks, app.context({ view_id: home.id ?? "home" }))
      : emptyNote("Nothing here yet.", "Sayso fills this page when it runs.")),
  });
  if (initial) scroll.scrollTop = 0;
}

/** Bring one message into view, now or when it has been drawn. */
export function scrollToMessage(ts) {
  const node = document.querySelector(`#log [data-ts="${CSS.escape(ts)}"]`);
  wanted = node ? null : ts;
  if (!node) return;
  node.scrollIntoView({ block: "start" });
  node.focus({ preventScroll: true });
  node.classList.add("fresh");
}

/** One message as an article; `surface` says where it is drawn. */
export function messageNode(app, message, surface = "log") {
  const context = app.context({ channel: message.channel ?? app.view.place, ts: message.ts });
  const person = app.value.people.find((each) => each.id === message.user);
  const when = message.at ? new Date(message.at) : dateOfTs(message.ts);
  const body = message.blocks?.length
    ? blockNodes(message.blocks, context)
    : message.text ? [el("div", { class: "block said" }, mrkdwn(message.text, context, { verbatim: false }))] : [];
  const node = el("article", {
    class: ["message", message.ephemeral && "private", message.reply && "reply", message.is_bot && "from-app"].filter(Boolean).join(" "),
    tabindex: "-1", "aria-label": `${message.name}, ${hourOf(when)}`, data: { ts: message.ts, focus: `message/${message.ts}` },
  },
  message.is_bot && message.user !== SLACKBOT ? appAvatar() : avatar(person ?? { name: message.name }),
  el("div", { class: "message-body" },
    message.ephemeral ? el("div", { class: "only-you" }, "Only visible to you", el("button", { type: "button", class: "link", data: { focus: `dismiss/${message.ts}` }, onclick: () => app.act("/_control/dismiss", { ts: message.ts }) }, "Dismiss")) : null,
    el("div", { class: "message-head" }, el("strong", { class: "author" }, message.name), message.is_bot ? el("span", { class: "app-tag" }, "APP") : null, el("time", { datetime: when.toISOString() }, hourOf(when)),
      message.edited && !message.blocks?.length ? el("span", { class: "edited" }, "(edited)") : null),
    body,
    message.files?.length ? el("div", { class: "files" }, message.files.map(fileChip)) : null,
    message.reactions?.length ? el("div", { class: "reactions" }, message.reactions.map((each) => el("span", { class: "reaction", title: each.name }, emojiNode(each.name) ?? `:${each.name}:`, ` ${each.count ?? each.users?.length ?? 1}`))) : null),
  message.ephemeral ? null : tools(app, message, surface));
  return node;
}

/** A document, by its name and what is known of it. */
export function fileChip(file) {
  const inside = [icon("file", "icon file-icon"), el("span", { class: "file-words" }, el("strong", {}, file.name), el("small", {}, aboutFile(file)))];
  return file.url ? el("a", { class: "file", href: file.url, target: "_blank", rel: "noreferrer noopener" }, inside) : el("span", { class: "file" }, inside);
}

export function aboutFile(file) {
  const kind = /\.([a-z0-9]{1,5})$/i.exec(file.name ?? "")?.[1]?.toUpperCase() ?? "File";
  const size = Number(file.size);
  const pages = file.pages ? `${file.pages} page${file.pages === 1 ? "" : "s"}` : "";
  if (pages) return `${kind}, ${pages}`;
  if (!size) return kind;
  return size < 1000 ? `${kind}, ${size} bytes` : size < 1_000_000 ? `${kind}, ${Math.round(size / 1000)} kB` : `${kind}, ${(size / 1_000_000).toFixed(1)} MB`;
}

const isAtBottom = (scroll) => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR_BOTTOM_PX;
const today = (app) => app.clock.now().toDateString();

function itemsOf(app, messages) {
  const isRoot = (message) => !message.thread_ts || message.thread_ts === message.ts;
  const roots = new Set(messages.filter(isRoot).map((message) => message.ts));
  const replies = Map.groupBy ? Map.groupBy(messages.filter((each) => !isRoot(each)), (each) => each.thread_ts) : grouped(messages.filter((each) => !isRoot(each)));
  const items = [];
  if (!messages.length) items.push({ kind: "welcome", key: `welcome/${app.view.user}`, rule: app.value.rule ?? null });
  let day = "";
  for (const message of messages) {
    if (!isRoot(message) && roots.has(message.thread_ts)) continue;
    const when = message.at ? new Date(message.at) : dateOfTs(message.ts);
    if (when.toDateString() !== day) {
      day = when.toDateString();
      items.push({ kind: "day", key: `day/${day}`, at: when.toISOString(), today: today(app) });
    }
    items.push({ kind: "message", key: message.ts, message, today: today(app) });
    const under = replies.get(message.ts) ?? [];
    const hidden = under.length - REPLIES_SHOWN;
    if (hidden > 0) items.push({ kind: "earlier", key: `earlier/${message.ts}`, root: message.ts, count: hidden });
    for (const reply of under.slice(-REPLIES_SHOWN)) items.push({ kind: "message", key: reply.ts, message: { ...reply, reply: true }, today: today(app) });
    if (under.length) items.push({ kind: "answer", key: `answer/${message.ts}`, root: message.ts, count: under.length });
  }
  return items;
}

function grouped(list) {
  const map = new Map();
  for (const each of list) map.set(each.thread_ts, [...(map.get(each.thread_ts) ?? []), each]);
  return map;
}

function drawn(app, item) {
  const conversation = () => app.showPane("conversation", { channel: app.view.place, ts: item.root });
  if (item.kind === "welcome") return welcome(app);
  if (item.kind === "day") return dayLine(app, new Date(item.at));
  if (item.kind === "earlier") return el("div", { class: "thread-link" }, el("button", { type: "button", class: "link", data: { focus: item.key }, onclick: conversation }, `Show ${item.count} earlier ${item.count === 1 ? "reply" : "replies"}`));
  if (item.kind === "answer") {
    return el("div", { class: "thread-link" }, el("button", { type: "button", class: "link", data: { focus: item.key }, onclick: conversation }, `Conversation, ${item.count} ${item.count === 1 ? "reply" : "replies"}`));
  }
  return messageNode(app, item.message);
}

function dayLine(app, date) {
  const near = { 0: "Today", "-1": "Yesterday" }[daysApart(date, app.clock.now())];
  return el("div", { class: "day", role: "separator", "aria-label": longDayOf(date) }, el("span", {}, near ? `${near}, ${longDayOf(date)}` : longDayOf(date)));
}

function tools(app, message, surface) {
  const channel = message.channel ?? app.view.place;
  const mine = message.user === app.view.user && !message.is_bot;
  const tool = (drawing, label, act) => el("button", { type: "button", class: "tool", title: label, "aria-label": label, onclick: act }, icon(drawing, "icon small"));
  const root = message.thread_ts ?? message.ts;
  const shortcuts = (app.value.shortcuts ?? []).map((each) => ({
    label: each.name,
    act: () => app.act("/_control/shortcut", { callback_id: each.callback_id, channel, ts: message.ts }),
  }));
  return el("div", { class: "tools" },
    surface === "log" ? tool("reply", "Reply in the conversation", () => app.showPane("conversation", { channel, ts: root })) : null,
    shortcuts.length ? tool("more", "More to do with this message", (event) => openMenu(event.currentTarget, shortcuts)) : null,
    mine ? tool("pen", "Edit this message", () => edit(app, channel, message)) : null,
    mine ? tool("bin", "Delete this message", async () => {
      const sure = await app.modals.ask({ title: "Delete this message", text: "It disappears for everybody. What was started by it goes on.", confirm: "Delete", deny: "Keep it", style: "danger" });
      if (sure) app.act("/_control/delete", { channel, ts: message.ts });
    }) : null);
}

async function edit(app, channel, message) {
  const text = await app.modals.write({ title: "Edit this message", label: "Message", value: unescaped(message.text ?? ""), submit: "Save" });
  if (text !== null && text.trim()) app.act("/_control/edit", { channel, ts: message.ts, text });
}

function heading(app, name, topic) {
  const place = document.getElementById("place");
  const print = JSON.stringify([name, topic]);
  if (place.dataset.print === print) return;
  place.dataset.print = print;
  const [mark, words] = name.startsWith("#") ? ["# ", name.slice(1)] : ["", name];
  place.replaceChildren(
    el("div", { class: "place-words" },
      el("h1", {}, el("button", { type: "button", class: "place-name", "aria-haspopup": "dialog", onclick: () => openSheet(app) }, mark, words, icon("down", "icon small narrow")), el("span", { class: "place-plain" }, mark, words)),
      el("p", {}, topic)),
    el("div", { class: "place-tools" }, el("button", { type: "button", class: "button", onclick: () => app.showPane("guide") }, "Guide"), el("button", { type: "button", class: "button", onclick: () => app.showPane("bank") }, "Bank")));
}

// A message taller than the view is shown from its top, others at the bottom.
function settleScroll(scroll, items, added, { initial, atBottom, me }) {
  if (wanted && document.querySelector(`#log [data-ts="${CSS.escape(wanted)}"]`)) {
    scrollToMessage(wanted);
    return;
  }
  const news = added.filter(({ item }) => item.kind === "message");
  const mine = news.some(({ item }) => item.message.user === me);
  if (!initial && !atBottom && !mine) return;
  const last = initial ? scroll.querySelector("article.message:last-of-type") : news.at(-1)?.node;
  if (last && last.offsetHeight > scroll.clientHeight - 20) scroll.scrollTop = last.offsetTop - 8;
  else if (initial || news.length || atBottom) {
    const tail = scroll.querySelector("article.message:last-of-type");
    if (initial || !tail || tail.offsetHeight <= scroll.clientHeight - 20) scroll.scrollTop = items.length > 1 ? scroll.scrollHeight : 0;
  }
}

function news(app, added, changed) {
  for (const { item, node } of [...added, ...changed]) {
    if (item.kind !== "message") continue;
    const { message } = item;
    if (message.user === app.view.user && !message.is_bot && !message.ephemeral) continue;
    if (added.some((each) => each.node === node)) node.classList.add("fresh");
    const text = plainText(message.text ?? "", app.context({}));
    app.announce(`${message.ephemeral ? "Only visible to you. " : ""}${message.name}: ${text || textOf(message.blocks?.[0]?.text)}`);
  }
}

