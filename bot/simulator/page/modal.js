// Modals: the top view of this person's stack, in a native dialog, which keeps the focus inside
// and Escape working. Our own small questions (confirm, edit, help) are dialogs too.

import { blockNodes } from "./blocks.js";
import { el, findFocus, textOf } from "./dom.js";
import { icon } from "./icons.js";

let ids = 0;

export class Modals {
  #app;
  #dialog = null;
  #shown = null;
  #kept = {};
  #back = null;
  #closing = new Set(); // closed here, and not yet by the server: they must not come up again

  constructor(app) {
    this.#app = app;
  }

  get isOpen() {
    return Boolean(document.querySelector("dialog[open]"));
  }

  /** The control that is about to open a modal; focus returns to it, or to the one that replaced it. */
  remember(node, where) {
    if (!node.closest("dialog")) this.#back = { ts: where.ts, focus: node.dataset.focus, node };
  }

  /** Show the view on top of the stack; leave it alone when nothing changed. */
  draw() {
    const view = (this.#app.value.views ?? []).filter(({ id }) => !this.#closing.has(id)).at(-1) ?? null;
    if (!view) {
      this.#shut();
      return;
    }
    const print = JSON.stringify([view.id, view.hash, view.title, view.submit, view.close, view.blocks]);
    if (this.#shown?.print === print && this.#dialog?.open) return;
    const same = this.#shown?.id === view.id;
    if (same) this.#keep();
    else this.#kept = {};
    this.#show(view, print, same);
  }

  /** Slack's confirm question; true when it was confirmed. */
  ask(question) {
    const no = el("button", { type: "button", class: "button" }, textOf(question.deny) || "Cancel");
    const yes = el("button", { type: "button", class: `button ${question.style === "danger" ? "danger" : "primary"}` }, textOf(question.confirm) || "Yes");
    return this.#small(textOf(question.title) || "Are you sure?", [el("p", {}, textOf(question.text))], [no, yes], (done) => {
      no.onclick = () => done(false);
      yes.onclick = () => done(true);
      yes.focus();
    }, false);
  }

  /** One text to write; null when it was left. */
  write({ title, label, value, submit }) {
    const text = el("textarea", { class: "field", rows: 3, "aria-label": label });
    text.value = value;
    const no = el("button", { type: "button", class: "button" }, "Cancel");
    const yes = el("button", { type: "button", class: "button primary" }, submit);
    return this.#small(title, [text], [no, yes], (done) => {
      no.onclick = () => done(null);
      yes.onclick = () => done(text.value);
      text.focus();
    }, null);
  }

  /** Something to read or to pick from, with nothing to decide. */
  tell(title, nodes, ready = () => {}) {
    return this.#small(title, nodes, [], ready, null);
  }

  #small(title, nodes, buttons, ready, left) {
    return new Promise((resolve) => {
      const id = `dialog-${(ids += 1)}`;
      let result = left;
      const dialog = el("dialog", { class: "modal small", "aria-labelledby": id },
        el("div", { class: "modal-head" }, el("h2", { id }, title), el("button", { type: "button", class: "tool", "aria-label": "Close", onclick: () => dialog.close() }, icon("close"))),
        el("div", { class: "modal-body" }, nodes),
        buttons.length ? el("div", { class: "modal-foot" }, buttons) : null);
      const from = document.activeElement;
      dialog.addEventListener("close", () => {
        dialog.remove();
        if (from?.isConnected) from.focus();
        resolve(result);
      });
      document.body.append(dialog);
      dialog.showModal();
      ready((value) => {
        result = value;
        dialog.close();
      });
    });
  }

  #show(view, print, same) {
    const first = !this.#dialog;
    if (first) {
      this.#dialog = el("dialog", { class: "modal", "aria-labelledby": "modal-title" });
      this.#dialog.addEventListener("close", () => this.#left());
      this.#dialog.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#dialog.querySelector("form").requestSubmit();
      });
      document.body.append(this.#dialog);
      this.#back ??= { node: document.activeElement, focus: document.activeElement?.dataset?.focus };
    }
    const focused = same ? document.activeElement?.dataset?.focus : null;
    const depth = this.#app.value.views.length;
    this.#shown = { id: view.id, print, view };
    const context = { ...this.#app.context({ view_id: view.id }), kept: this.#kept };
    const form = el("form", { novalidate: true, onsubmit: (event) => {
      event.preventDefault();
      this.#submit();
    } },
    el("div", { class: "modal-head" },
      depth > 1 ? el("button", { type: "button", class: "tool", "aria-label": "Back", onclick: () => this.#dialog.close() }, icon("back")) : null,
      el("h2", { id: "modal-title", tabindex: "-1" }, textOf(view.title)),
      el("button", { type: "button", class: "tool", "aria-label": "Close", onclick: () => this.#dialog.close() }, icon("close"))),
    el("div", { class: "modal-body" }, blockNodes(view.blocks, context)),
    el("div", { class: "modal-foot" }, el("p", { class: "modal-error", role: "alert" }),
      el("button", { type: "button", class: "button", onclick: () => this.#dialog.close() }, textOf(view.close) || (view.submit ? "Cancel" : "Close")),
      view.submit ? el("button", { type: "submit", class: "button primary submit" }, textOf(view.submit)) : null));
    this.#dialog.replaceChildren(form);
    if (!this.#dialog.open) this.#dialog.showModal();
    const wanted = findFocus(form, focused) ?? form.querySelector("[data-first]") ?? form.querySelector(".modal-body input, .modal-body textarea, .modal-body select") ?? form.querySelector("#modal-title");
    wanted.focus();
    if (!same) this.#app.announce(textOf(view.title));
  }

  #boxes() {
    return [...this.#dialog.querySelectorAll("[data-input]")];
  }

  #keep() {
    for (const box of this.#dialog ? this.#boxes() : []) this.#kept[box.dataset.input] = box.read();
  }

  async #submit() {
    const { view } = this.#shown;
    const submit = this.#dialog.querySelector(".submit");
    if (!submit || submit.getAttribute("aria-busy") === "true") return;
    if (!this.#check()) return;
    const values = {};
    for (const box of this.#boxes()) {
      const value = box.read();
      values[box.dataset.input] = value?.[0] instanceof File ? await Promise.all(value.map(asUpload)) : value;
    }
    this.#dialog.querySelector(".modal-error").textContent = "";
    submit.setAttribute("aria-busy", "true");
    const { status, data } = await this.#app.act("/_control/submit", { view_id: view.id, values });
    submit.removeAttribute("aria-busy");
    if (data.errors && Object.keys(data.errors).length) this.#mark(data.errors);
    else if (status !== 200 || data.ok === false) this.#dialog?.querySelector(".modal-error")?.replaceChildren(icon("warning"), "We had some trouble connecting. Try again?");
  }

  // What can be said without asking the app, as Slack does: a required field left empty.
  #check() {
    const errors = {};
    for (const box of this.#boxes()) {
      const value = box.read();
      const empty = Array.isArray(value) ? !value.length : typeof value === "string" ? !value.trim() : value === undefined || value === null;
      if (empty && box.wanted) errors[box.dataset.input] = box.querySelector("select, [type=radio], [type=date], [type=time]") ? "Choose one." : box.querySelector("[type=checkbox]") ? "Tick at least one." : box.querySelector("[inputmode]") ? "Write a number." : "Write something here.";
      else if (box.problem()) errors[box.dataset.input] = box.problem();
    }
    this.#mark(errors);
    return !Object.keys(errors).length;
  }

  #mark(errors) {
    if (!this.#dialog) return;
    let first = null;
    for (const box of this.#boxes()) {
      const text = errors[box.dataset.input] ?? "";
      box.classList.toggle("wrong", Boolean(text));
      box.querySelector(".error").textContent = text;
      const field = box.querySelector("input, select, textarea");
      if (text) field?.setAttribute("aria-invalid", "true");
      else field?.removeAttribute("aria-invalid");
      if (text) first ??= field;
    }
    first?.focus();
  }

  // The dialog was closed here, by Escape or a button: tell the server, which may show the one below.
  async #left() {
    const shown = this.#shown;
    this.#shown = null;
    if (!shown) return;
    this.#closing.add(shown.id);
    const { ok } = await this.#app.act("/_control/close", { view_id: shown.id });
    this.#closing.delete(shown.id);
    if (!ok) this.#app.draw();
  }

  #shut() {
    if (!this.#dialog) return;
    const dialog = this.#dialog;
    this.#shown = null;
    this.#dialog = null;
    this.#kept = {};
    if (dialog.open) dialog.close();
    dialog.remove();
    const back = this.#back;
    this.#back = null;
    if (!back) return;
    const root = back.ts ? document.querySelector(`[data-ts="${CSS.escape(back.ts)}"]`) : document;
    const target = back.node?.isConnected ? back.node : (root && findFocus(root, back.focus)) ?? root ?? null;
    if (target instanceof HTMLElement) target.focus();
  }
}

function asUpload(file) {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve({ name: file.name, content_base64: String(reader.result).split(",")[1] ?? "" });
    reader.readAsDataURL(file);
  });
}
