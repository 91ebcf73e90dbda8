// What an empty place says: the story on the first screen, a plain note elsewhere.

import { el } from "./dom.js";
import { icon } from "./icons.js";
import { avatar } from "./side.js";
import { channelNamed, rule } from "./story.js";

const NOTES = {
  credit: ["No card yet.", "A card appears here when somebody asks for a loan."],
  refunds: ["Nobody has asked for a refund yet.", "Bob writes for example: Refund 4,000 for order A-2231, arrived broken."],
  content: ["No text yet.", "Bob writes what it is about, for example: Announce the new opening hours."],
};

export function welcome(app) {
  const { value, view } = app;
  if (view.place !== channelNamed(value, "loans")) {
    const name = value.channels.find((channel) => channel.id === view.place)?.name;
    if (NOTES[name]) return emptyNote(...NOTES[name]);
    if (name) return emptyNote(`This is the very beginning of #${name}.`, "Nothing has been said here yet.");
    return emptyNote("Nothing here yet.", "Sayso writes here when something concerns you alone.");
  }
  if (view.user !== "U0BOB") return emptyNote("Nobody has asked for a loan yet.", "Be Bob, and send the message that waits below.");
  const told = rule(value);
  const person = (id) => value.people.find((each) => each.id === id) ?? { name: value.names.users[id] ?? "?" };
  const step = (mark, title, note) => el("li", {}, mark, el("span", {}, el("strong", {}, title), el("span", {}, note)));
  return el("section", { class: "welcome" },
    el("h2", {}, "Bob needs a loan for a customer."),
    el("p", {}, `A program reads his documents and works out the risk. Then it waits, ${told.why}. You play the people.`),
    el("ol", {},
      step(avatar(person("U0BOB")), "Bob asks", "here, in #loans"),
      step(avatar(person(told.first)), told.who.replace(/^./, (letter) => letter.toUpperCase()), "on a card in #credit"),
      step(el("span", { class: "avatar bank", "aria-hidden": "true" }, icon("bank")), "The bank pays", "once, whatever happens")));
}

export function emptyNote(title, note) {
  return el("div", { class: "empty" }, el("strong", {}, title), el("span", {}, note));
}
