// The message field: words, documents, Send. What is half written stays with its person and place.

import { el, reconcile } from "./dom.js";
import { icon } from "./icons.js";
import { aboutFile } from "./messages.js";
import { openMenu } from "./menu.js";
import { channelNamed, HOME, placeName } from "./story.js";

const LARGEST_BYTES = 60_000_000;
const drafts = new Map();

export class Composer {
  #app;
  #form;
  #inThread;
  #key = null;
  #files = [];
  #busy = false;
  #text;
  #chips;
  #wrong;
  #sendButton;

  constructor(app, form, { thread }) {
    this.#app = app;
    this.#form = form;
    this.#inThread = thread;
    this.#build();
  }

  /** Bring the field in line with who and where one is. */
  draw() {
    const { app, where } = this.#here();
    this.#form.hidden = !where;
    if (!where) return;
    const key = `${app.view.user}/${where.channel}/${where.thread_ts ?? ""}`;
    if (key !== this.#key) {
      this.keep();
      this.#key = key;
      this.#load(drafts.get(key) ?? this.#firstDraft(where));
    } else if (!drafts.has(key) && !this.#text.value && !this.#files.length) {
      this.#load(this.#firstDraft(where));
    }
    const place = where.thread_ts ? "Reply" : `Message ${placeName(app, where.channel)}`;
    this.#text.placeholder = `${place} as ${app.me.name}`;
    this.#text.setAttribute("aria-label", this.#text.placeholder);
    this.#form.style.setProperty("--person", app.me.color ?? "#12363c");
    this.#refresh();
  }

  /** Remember what is half written. */
  keep() {
    if (!this.#key) return;
    drafts.set(this.#key, { text: this.#text.value, files: this.#files });
  }

  focus() {
    this.#text.focus();
  }

  /** Put words into the field, and with `send` off they go. */
  async fill(text, files = [], send = false) {
    this.#load({ text, files });
    this.#refresh();
    if (send) await this.#send();
    else this.focus();
  }

  #here() {
    const app = this.#app;
    const { place, shownThread: thread } = app.view;
    const where = this.#inThread ? thread && { channel: thread.channel, thread_ts: thread.ts } : place !== HOME && { channel: place };
    return { app, where };
  }

  #firstDraft(where) {
    const { value, view } = this.#app;
    const first = !this.#inThread && view.user === "U0BOB" && where.channel === channelNamed(value, "loans") && value.guide && !value.guide.asked;
    return first && value.first ? { text: value.first.text, files: (value.first.files ?? []).map(asSample) } : { text: "", files: [] };
  }

  #build() {
    const name = this.#inThread ? "reply" : "composer";
    this.#text = el("textarea", { id: `${name}-text`, rows: 1, oninput: () => this.#refresh(), onkeydown: (event) => this.#onKey(event), onpaste: (event) => this.#take(event.clipboardData.files) });
    this.#chips = el("div", { class: "chips", role: "list", "aria-label": "Attached documents" });
    this.#wrong = el("p", { class: "composer-error", role: "alert" });
    this.#sendButton = el("button", { type: "submit", class: "button primary send" }, "Send");
    const pick = el("input", { type: "file", multiple: true, class: "unseen", tabindex: "-1", "aria-hidden": "true", onchange: () => {
      this.#take(pick.files);
      pick.value = "";
    } });
    const attach = el("button", { type: "button", class: "attach", "aria-label": "Attach a document", "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => openMenu(attach, this.#choices(pick)) }, icon("plus", "icon small"));
    this.#form.append(el("div", { class: "composer-box" }, this.#chips, el("div", { class: "composer-row" }, attach, pick, this.#text, this.#sendButton)), this.#wrong);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    this.#form.addEventListener("dragover", (event) => event.preventDefault());
    this.#form.addEventListener("drop", (event) => {
      event.preventDefault();
      this.#take(event.dataTransfer.files);
    });
  }

  #choices(pick) {
    const samples = this.#app.value.samples ?? this.#app.value.first?.files ?? [];
    return [
      { label: "From this computer", act: () => pick.click() },
      ...samples.map((file) => ({ label: file.name, note: file.note ?? aboutFile(file), act: () => {
        this.#files = [...this.#files.filter((each) => each.name !== file.name), asSample(file)];
        this.#refresh();
        this.focus();
      } })),
      ...(this.#inThread ? [] : this.#app.value.commands ?? []).map((one) => ({ label: one.command, note: one.about, act: () => this.fill(`${one.command} `) })),
    ];
  }

  #load({ text, files }) {
    this.#text.value = text;
    this.#files = files;
    this.#wrong.textContent = "";
  }

  #refresh() {
    const { value } = this.#text;
    reconcile(this.#chips, this.#files.map((file, index) => ({ name: file.name, size: file.size, pages: file.pages, index })), {
      key: (file) => `${file.index}/${file.name}`,
      make: (file) => el("div", { class: "file", role: "listitem" }, el("span", { class: "file-words" }, el("strong", {}, file.name), el("small", {}, aboutFile(file))),
        el("button", { type: "button", class: "drop", "aria-label": `Take ${file.name} away`, onclick: () => {
          this.#files = this.#files.filter((_, at) => at !== file.index);
          this.#refresh();
          this.focus();
        } }, icon("close", "icon small"))),
    });
    this.#chips.hidden = !this.#files.length;
    this.#sendButton.disabled = this.#busy || (!value.trim() && !this.#files.length);
    this.#text.style.height = "auto";
    this.#text.style.height = `${Math.min(this.#text.scrollHeight, 160)}px`;
  }

  #onKey(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.#send();
    }
  }

  #take(list) {
    const files = [...(list ?? [])];
    const tooLarge = files.find((file) => file.size > LARGEST_BYTES);
    this.#wrong.textContent = tooLarge ? `${tooLarge.name} is too large for this page. Attach a file of at most 60 MB.` : "";
    this.#files = [...this.#files, ...files.filter((file) => file !== tooLarge).map((file) => ({ name: file.name, size: file.size, file }))];
    this.#refresh();
  }

  async #send() {
    const { app, where } = this.#here();
    const text = this.#text.value.trim();
    if (this.#busy || !where || (!text && !this.#files.length)) return;
    this.#busy = true;
    this.#refresh();
    const key = this.#key;
    const answer = await this.#post(app, where, text);
    this.#busy = false;
    if (answer.ok) {
      drafts.set(key, { text: "", files: [] });
      if (this.#key === key) this.#load({ text: "", files: [] });
    } else {
      this.#wrong.textContent = answer.data.error || "This was not sent. Try again.";
    }
    this.#refresh();
    if (answer.ok) this.focus();
  }

  async #post(app, where, text) {
    const command = /^\/(\S+)\s*([\s\S]*)$/.exec(text);
    if (command && !this.#files.length) {
      if (where.thread_ts) return { ok: false, data: { error: "Commands cannot be used inside a conversation. Write it in the channel." } };
      return app.act("/_control/command", { channel: where.channel, command: `/${command[1]}`, text: command[2] });
    }
    const files = await Promise.all(this.#files.map(async (file) => (file.sample ? { sample: file.sample } : { name: file.name, content_base64: await base64(file.file) })));
    return app.act("/_control/message", { ...where, text, files });
  }
}

const asSample = (file) => ({ ...file, sample: file.name });

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
