// Keyboard use: people by Alt and a digit, places by Ctrl or Cmd and K, messages by the arrows.

import { closeMenu } from "./menu.js";
import { el } from "./dom.js";
import { HOME } from "./story.js";

const KEYS = [
  ["Tab", "everything, in reading order"],
  ["Alt 1 to 6", "be another person"],
  ["Ctrl or Cmd K", "go to a channel"],
  ["Up, Down", "from message to message"],
  ["Enter", "into the first button of a card; send, in the message field"],
  ["Shift Enter", "a new line in the message field"],
  ["Escape", "close, or back out of a card"],
  ["?", "this list"],
];

export function listenKeys(app) {
  document.addEventListener("keydown", (event) => {
    if (!app.value || event.defaultPrevented || app.modals.isOpen) return;
    const digit = /^Digit([1-9])$/.exec(event.code);
    if (event.altKey && !event.ctrlKey && !event.metaKey && digit) {
      const person = app.value.people[Number(digit[1]) - 1];
      if (person) {
        event.preventDefault();
        app.become(person.id);
      }
    } else if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      switcher(app);
    } else if (event.key === "?" && !isTyping(event.target)) {
      event.preventDefault();
      showKeys(app);
    } else if (event.key === "Escape") {
      escape(app, event);
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      move(event);
    } else if (event.key === "Enter" && event.target.matches?.("article.message")) {
      const control = event.target.querySelector(".block :is(button, a, select, input)");
      if (control) {
        event.preventDefault();
        control.focus();
      }
    }
  });
}

/** The list of keys. */
export function showKeys(app) {
  app.modals.tell("Keys", [el("dl", { class: "keys" }, KEYS.map(([keys, what]) => [el("dt", {}, keys), el("dd", {}, what)]))]);
}

function isTyping(target) {
  return target.matches?.("input:not([type=checkbox], [type=radio]), textarea, select");
}

function escape(app, event) {
  closeMenu();
  const message = event.target.closest?.("article.message");
  if (message && event.target !== message) message.focus();
  else if (message) document.getElementById("composer-text")?.focus();
  else if (event.target.closest?.("#pane")) {
    app.hidePane();
    document.getElementById("composer-text")?.focus();
  } else if (document.body.classList.contains("pane-view")) app.hidePane();
}

function move(event) {
  const { target } = event;
  if (isTyping(target) && !(target.matches("textarea") && target.value === "" && event.key === "ArrowUp")) return;
  if (target.closest?.("[role=tablist], [role=menu]")) return;
  const list = target.closest?.("#pane") ? document.getElementById("pane") : document.getElementById("log");
  const messages = [...list.querySelectorAll("article.message")];
  if (!messages.length) return;
  const at = messages.indexOf(target.closest?.("article.message"));
  const next = at < 0 ? messages.length - 1 : at + (event.key === "ArrowUp" ? -1 : 1);
  event.preventDefault();
  if (next >= messages.length) document.getElementById("composer-text")?.focus();
  else if (next >= 0) {
    messages[next].focus({ preventScroll: true });
    messages[next].scrollIntoView({ block: "nearest" });
  }
}

function switcher(app) {
  const places = [
    ...app.value.channels.map((channel) => ({ id: channel.id, label: `#${channel.name}` })),
    ...(app.value.dms ?? []).map((dm) => ({ id: dm.id, label: dm.name })),
    { id: HOME, label: "Sayso home" },
  ];
  const input = el("input", { class: "field", type: "text", role: "combobox", "aria-label": "Channel", "aria-expanded": "true", "aria-controls": "places", placeholder: "Where to" });
  const list = el("div", { id: "places", class: "choices", role: "listbox" });
  let found = places;
  let at = 0;
  app.modals.tell("Go to", [input, list], (done) => {
    const choose = (place) => {
      done(null);
      if (place) app.go(place.id);
    };
    const draw = () => {
      found = places.filter((place) => place.label.toLowerCase().includes(input.value.trim().toLowerCase()));
      at = Math.min(at, Math.max(found.length - 1, 0));
      list.replaceChildren(...(found.length ? found.map((place, index) => el("div", { id: `place-${index}`, role: "option", "aria-selected": String(index === at), onclick: () => choose(place) }, place.label)) : [el("p", { class: "hint" }, "No place of that name.")]));
      input.setAttribute("aria-activedescendant", found.length ? `place-${at}` : "");
    };
    input.addEventListener("input", draw);
    input.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && found.length) {
        at = (at + step + found.length) % found.length;
        draw();
        event.preventDefault();
      } else if (event.key === "Enter") {
        event.preventDefault();
        choose(found[at]);
      }
    });
    draw();
    input.focus();
  });
}
