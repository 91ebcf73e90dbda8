// The left column: whom one is, with a badge of what waits for each, and where one looks.
// On a narrow screen the same column comes up as a sheet.

import { el, reconcile } from "./dom.js";
import { appMark, icon } from "./icons.js";
import { HOME } from "./story.js";



/** A person's square: first letter on their colour. */
export function avatar(person, className = "avatar") {
  const node = el("span", { class: className, "aria-hidden": "true" }, (person.name ?? "?").slice(0, 1));
  node.style.setProperty("--own", person.color ?? "#5d6b70");
  return node;
}

/** The app's own square. */
export function appAvatar(className = "avatar app") {
  return el("span", { class: className, "aria-hidden": "true" }, appMark("avatar-mark"));
}

export function drawSide(app) {
  const side = document.querySelector("#sheet .side") ?? document.querySelector("#side .side") ?? document.getElementById("side").appendChild(build());
  const { people, channels, dms = [] } = app.value;
  const list = (name) => side.querySelector(`[data-list=${name}]`);
  reconcile(list("people"), people.map((person, index) => ({ ...person, index, chosen: person.id === app.view.user })), {
    key: (person) => person.id, make: (person) => personRow(app, person),
  });
  reconcile(list("channels"), channels.map((channel) => ({ id: channel.id, name: channel.name, unread: channel.unread, member: channel.is_member, chosen: channel.id === app.view.place })), {
    key: (channel) => channel.id, make: (channel) => placeRow(app, channel, icon("hash", "icon small")),
  });
  reconcile(list("dms"), dms.map((dm) => ({ ...dm, chosen: dm.id === app.view.place })), {
    key: (dm) => dm.id, make: (dm) => placeRow(app, dm, icon("dot", "icon small")),
  });
  side.querySelector("[data-part=dms]").hidden = dms.length === 0;
  reconcile(list("apps"), [{ id: HOME, name: "Sayso home", unread: 0, chosen: app.view.place === HOME }], {
    key: (place) => place.id, make: (place) => placeRow(app, place, icon("home", "icon small")),
  });
}

/** The column as a sheet from below, for narrow screens. */
export function openSheet(app) {
  const side = document.querySelector("#side .side");
  if (!side) return;
  const home = side.parentElement;
  const sheet = el("dialog", { id: "sheet", "aria-label": "People and channels" }, side);
  sheet.addEventListener("click", (event) => {
    if (event.target === sheet || event.target.closest("button")) sheet.close();
  });
  sheet.addEventListener("close", () => {
    home.append(side);
    sheet.remove();
  });
  document.body.append(sheet);
  sheet.showModal();
  side.querySelector("[aria-current=true]")?.focus();
  drawSide(app);
}

function build() {
  const list = (name, title) => el("div", { data: { part: name } }, el("h2", {}, title), el("div", { class: "rows", role: "list", data: { list: name } }));
  return el("div", { class: "side" }, list("people", "You are"), list("channels", "Channels"), list("dms", "Direct messages"), list("apps", "Apps"));
}

function badge(count, what) {
  return count ? el("span", { class: "badge", title: `${count} ${what}` }, String(count), el("span", { class: "unseen" }, ` ${what}`)) : null;
}

function personRow(app, person) {
  const row = el("button", {
    type: "button", class: person.chosen ? "person chosen" : "person", "aria-current": person.chosen ? "true" : null,
    data: { focus: person.id }, onclick: () => app.become(person.id),
  }, avatar(person), el("span", { class: "who" }, el("strong", {}, person.name), el("small", {}, person.role ?? "")),
  badge(person.waiting, "waiting"), person.index < 9 ? el("kbd", { "aria-hidden": "true", title: `Alt+${person.index + 1}` }, String(person.index + 1)) : null);
  row.style.setProperty("--own", person.color ?? "#5d6b70");
  return el("div", { role: "listitem" }, row);
}

function placeRow(app, place, mark) {
  return el("div", { role: "listitem" }, el("button", {
    type: "button", class: ["place", place.chosen && "chosen", place.unread && "unread"].filter(Boolean).join(" "),
    "aria-current": place.chosen ? "true" : null, data: { focus: place.id }, onclick: () => app.go(place.id),
  }, mark, el("span", { class: "name" }, place.name), place.chosen ? null : badge(place.unread, "new")));
}
