// A small menu under a button: arrows move, Enter chooses, Escape or a click elsewhere closes.

import { el } from "./dom.js";

let open = null;

/** Show `choices` ({label, act, note}) under `button`. */
export function openMenu(button, choices) {
  const again = open?.button === button;
  closeMenu();
  if (again) return;
  const list = el("div", { class: "menu", role: "menu" }, choices.map((choice) => el("button", {
    type: "button", role: "menuitem", tabindex: "-1",
    onclick: () => {
      closeMenu(true);
      choice.act();
    },
  }, el("span", {}, choice.label), choice.note ? el("small", {}, choice.note) : null)));
  // A dialog lies above everything else, so a menu of a dialog has to lie in it.
  (button.closest("dialog") ?? document.body).append(list);
  button.setAttribute("aria-expanded", "true");
  open = { button, list };
  place(button, list);
  list.addEventListener("keydown", onKey);
  list.firstElementChild?.focus();
  setTimeout(() => document.addEventListener("pointerdown", elsewhere, true));
  document.addEventListener("scroll", closeMenu, { capture: true, once: true });
}

/** Close the open menu, if any; `back` returns the focus to its button. */
export function closeMenu(back = false) {
  if (!open) return;
  const { button, list } = open;
  open = null;
  document.removeEventListener("pointerdown", elsewhere, true);
  list.remove();
  button.setAttribute("aria-expanded", "false");
  if (back === true) button.focus();
}

function place(button, list) {
  const from = button.getBoundingClientRect();
  const size = list.getBoundingClientRect();
  const left = Math.max(8, Math.min(from.left, innerWidth - size.width - 8));
  const below = from.bottom + 4 + size.height < innerHeight - 8;
  list.style.left = `${left}px`;
  list.style.top = `${Math.max(8, below ? from.bottom + 4 : from.top - size.height - 4)}px`;
}

function elsewhere(event) {
  if (open && !open.list.contains(event.target) && !open.button.contains(event.target)) closeMenu();
}

function onKey(event) {
  const items = [...open.list.children];
  const at = items.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) items[(at + step + items.length) % items.length].focus();
  else if (event.key === "Home") items[0].focus();
  else if (event.key === "End") items.at(-1).focus();
  else if (event.key === "Escape" || event.key === "Tab") closeMenu(true);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
