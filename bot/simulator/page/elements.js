// The parts of blocks one acts on: buttons, menus, selects, ticks, inputs.
//
// In an `actions` block or beside a section a part sends an action when it is used; in an `input`
// block it only holds a value until the modal is submitted. Every part that holds a value gives it
// by `part.read()`, in the shape the local Slack's /_control/submit takes.

import { el, textOf } from "./dom.js";
import { withEmoji } from "./emoji.js";
import { icon } from "./icons.js";
import { openMenu } from "./menu.js";

let ids = 0;

/** One interactive part, drawn; `block` is the block it stands in. */
export function element(part, block, context) {
  const kind = KINDS[part.type];
  if (!kind) return el("span", { class: "footnote" }, `"${part.type}" is not drawn here.`);
  const node = kind(part, block, context);
  node.dataset.action = part.action_id ?? "";
  return node;
}

/** An input block: label, part, hint, and a place for its error. */
export function inputBlock(block, context) {
  const id = `input-${(ids += 1)}`;
  const part = block.element ?? {};
  const quiet = { ...context, press: block.dispatch_action ? context.press : null };
  const node = element(part, block, quiet);
  const many = node.matches(".ticks");
  const field = many ? node : node.matches("input, select, textarea") ? node : node.querySelector("input, select, textarea");
  const hint = textOf(block.hint);
  const kept = context.kept?.[block.block_id];
  if (kept !== undefined && node.write) node.write(kept);
  if (field) {
    field.id = id;
    field.removeAttribute("aria-label"); // its label says it
    field.setAttribute("aria-describedby", `${id}-error ${id}-hint`);
    if (!many && !block.optional) field.setAttribute("aria-required", "true");
  }
  const label = [textOf(block.label), block.optional ? el("span", { class: "optional" }, " (optional)") : null];
  const box = el(many ? "fieldset" : "div", { class: "block input", data: { input: block.block_id ?? part.action_id ?? "" } },
    many ? el("legend", {}, label) : el("label", { for: id }, label),
    node,
    el("div", { class: "error", id: `${id}-error`, role: "alert" }),
    hint ? el("div", { class: "hint", id: `${id}-hint` }, hint) : null);
  box.read = () => node.read?.();
  box.write = (value) => node.write?.(value);
  box.wanted = !block.optional;
  box.problem = () => node.problem?.() ?? "";
  return box;
}

const KINDS = {
  button, overflow, workflow_button: button,
  static_select: (part, block, context) => select(part, choices(part), block, context),
  external_select: external,
  users_select: (part, block, context) => select({ ...part, initial_option: { value: part.initial_user } }, people(context), block, context),
  channels_select: (part, block, context) => select({ ...part, initial_option: { value: part.initial_channel } }, channels(context), block, context),
  conversations_select: (part, block, context) => select({ ...part, initial_option: { value: part.initial_conversation } }, channels(context), block, context),
  multi_static_select: (part, block, context) => ticks("checkbox", part, choices(part), block, context),
  multi_users_select: (part, block, context) => ticks("checkbox", { ...part, initial_options: (part.initial_users ?? []).map((value) => ({ value })) }, people(context), block, context),
  multi_channels_select: (part, block, context) => ticks("checkbox", part, channels(context), block, context),
  multi_conversations_select: (part, block, context) => ticks("checkbox", part, channels(context), block, context),
  checkboxes: (part, block, context) => ticks("checkbox", part, choices(part), block, context),
  radio_buttons: (part, block, context) => ticks("radio", part, choices(part), block, context),
  plain_text_input: (part, block, context) => words(part, block, context, part.multiline ? "area" : "text"),
  rich_text_input: (part, block, context) => words(part, block, context, "area"),
  email_text_input: (part, block, context) => words(part, block, context, "email"),
  url_text_input: (part, block, context) => words(part, block, context, "url"),
  number_input: number,
  datepicker: (part, block, context) => picker("date", part.initial_date, part, block, context),
  timepicker: (part, block, context) => picker("time", part.initial_time, part, block, context),
  datetimepicker: moment,
  file_input: files,
};

function button(part, block, context) {
  const style = ["primary", "danger"].includes(part.style) ? part.style : "";
  const label = part.text?.emoji === false ? textOf(part.text) : withEmoji(textOf(part.text));
  const common = {
    class: `button ${style}`.trim(),
    "aria-label": part.accessibility_label || null,
    data: { focus: `${block.block_id ?? ""}/${part.action_id ?? ""}` },
  };
  if (part.url) {
    return el("a", { ...common, href: /^https?:/.test(part.url) ? part.url : null, target: "_blank", rel: "noreferrer noopener", onclick: (event) => context.follow?.(event, part, block) }, label);
  }
  const node = el("button", { ...common, type: "button", onclick: () => context.press?.(part, block, part.value, node) }, label);
  return node;
}

function overflow(part, block, context) {
  const node = el("button", {
    type: "button", class: "button more", "aria-haspopup": "menu", "aria-expanded": "false", "aria-label": part.accessibility_label || "More",
    data: { focus: `${block.block_id ?? ""}/${part.action_id ?? ""}` },
    onclick: () => openMenu(node, (part.options ?? []).map((option) => ({
      label: textOf(option.text), note: textOf(option.description), act: () => context.press?.(part, block, option.value, node),
    }))),
  }, icon("more"));
  return node;
}

function choices(part) {
  const groups = part.option_groups ?? [{ options: part.options ?? [] }];
  return groups.map((group) => ({
    label: textOf(group.label),
    options: (group.options ?? []).map((option) => ({ value: option.value, label: textOf(option.text), note: textOf(option.description) })),
  }));
}

const people = (context) => [{ label: "", options: (context.people ?? []).map((person) => ({ value: person.id, label: person.name, note: "" })) }];
const channels = (context) => [{ label: "", options: Object.entries(context.names.channels).map(([value, name]) => ({ value, label: `#${name}`, note: "" })) }];

function select(part, groups, block, context) {
  const initial = part.initial_option?.value ?? "";
  const options = groups.map((group) => {
    const nodes = group.options.map((option) => el("option", { value: option.value, selected: option.value === initial }, option.label));
    return group.label ? el("optgroup", { label: group.label }, nodes) : nodes;
  });
  const hint = textOf(part.placeholder) || "Choose";
  const node = el("select", {
    class: "field", "aria-label": part.accessibility_label || hint, data: { focus: `${block.block_id ?? ""}/${part.action_id ?? ""}` },
    onchange: () => {
      if (node.value) context.press?.(part, block, node.value, node);
    },
  }, el("option", { value: "", selected: !initial }, hint), options);
  node.read = () => node.value;
  node.write = (value) => { node.value = value ?? ""; };
  return focusing(node, part);
}

// The options of an external select come from the app; the local Slack asks it when it can.
function external(part, block, context) {
  const list = el("datalist", { id: `list-${(ids += 1)}` });
  const known = new Map();
  const hint = textOf(part.placeholder) || "Search";
  const initial = part.initial_option;
  if (initial) known.set(textOf(initial.text), initial.value);
  const input = el("input", {
    class: "field search", type: "search", list: list.id, placeholder: hint, "aria-label": hint, value: textOf(initial?.text),
    data: { focus: `${block.block_id ?? ""}/${part.action_id ?? ""}` },
    oninput: async () => {
      if (input.value.length < (part.min_query_length ?? 1)) return;
      for (const option of (await context.suggest?.(part, block, input.value)) ?? []) known.set(textOf(option.text), option.value);
      list.replaceChildren(...[...known.keys()].map((label) => el("option", { value: label })));
    },
    onchange: () => {
      if (known.has(input.value)) context.press?.(part, block, known.get(input.value), input);
    },
  });
  const node = el("span", { class: "combo" }, input, list);
  node.read = () => known.get(input.value) ?? "";
  return node;
}

function ticks(type, part, groups, block, context) {
  const name = `tick-${(ids += 1)}`;
  const start = new Set((part.initial_options ?? (part.initial_option ? [part.initial_option] : [])).map((option) => option.value));
  const boxes = [];
  const read = () => {
    const on = boxes.filter((box) => box.checked).map((box) => box.value);
    return type === "radio" ? (on[0] ?? "") : on;
  };
  const node = el("div", { class: "ticks" }, groups.map((group) => [
    group.label ? el("div", { class: "tick-group" }, group.label) : null,
    group.options.map((option) => {
      const box = el("input", { type, name, value: option.value, checked: start.has(option.value), data: { focus: `${block.block_id ?? ""}/${part.action_id ?? ""}/${option.value}` }, onchange: () => context.press?.(part, block, read(), node) });
      boxes.push(box);
      return el("label", { class: "tick" }, box, el("span", {}, option.label, option.note ? el("small", {}, option.note) : null));
    }),
  ]));
  node.read = read;
  node.write = (value) => {
    const on = new Set([].concat(value ?? []));
    for (const box of boxes) box.checked = on.has(box.value);
  };
  if (part.focus_on_load) boxes[0]?.setAttribute("data-first", "");
  return node;
}

function words(part, block, context, kind) {
  const attributes = {
    class: "field", placeholder: textOf(part.placeholder) || null, maxlength: part.max_length ?? null,
    data: { focus: `${block.block_id ?? ""}/${part.action_id ?? ""}` },
    onchange: () => context.press?.(part, block, node.value, node),
  };
  const node = kind === "area" ? el("textarea", { ...attributes, rows: 4 }) : el("input", { ...attributes, type: kind });
  node.value = typeof part.initial_value === "string" ? part.initial_value : "";
  node.read = () => node.value;
  node.write = (value) => { node.value = value ?? ""; };
  node.problem = () => {
    if (node.value && part.min_length && node.value.length < part.min_length) return `Write at least ${part.min_length} characters.`;
    return node.value && !node.checkValidity() ? `Write ${kind === "email" ? "a mail address" : "a web address"}, such as ${kind === "email" ? "bob@example.com" : "https://example.com"}.` : "";
  };
  return focusing(node, part);
}

function number(part, block, context) {
  const node = el("input", {
    class: "field", type: "text", inputmode: part.is_decimal_allowed ? "decimal" : "numeric", placeholder: textOf(part.placeholder) || null,
    data: { focus: `${block.block_id ?? ""}/${part.action_id ?? ""}` },
    onchange: () => context.press?.(part, block, node.value, node),
  });
  node.value = part.initial_value ?? "";
  node.read = () => node.value.trim();
  node.write = (value) => { node.value = value ?? ""; };
  node.problem = () => {
    const text = node.value.trim();
    if (!text) return "";
    const shape = part.is_decimal_allowed ? /^[+-]?\d+(\.\d+)?$/ : /^[+-]?\d+$/;
    const low = part.min_value !== undefined && Number(text) < Number(part.min_value);
    const high = part.max_value !== undefined && Number(text) > Number(part.max_value);
    if (shape.test(text) && !low && !high) return "";
    const kind = part.is_decimal_allowed ? "a number" : "a whole number";
    if (part.min_value !== undefined && part.max_value !== undefined) return `Write ${kind} from ${part.min_value} to ${part.max_value}.`;
    if (low) return `Write ${kind} of at least ${part.min_value}.`;
    if (high) return `Write ${kind} of at most ${part.max_value}.`;
    return `Write ${kind}.`;
  };
  return focusing(node, part);
}

function picker(type, initial, part, block, context) {
  const node = el("input", {
    class: "field", type, value: initial ?? null, "aria-label": part.accessibility_label || textOf(part.placeholder) || null,
    data: { focus: `${block.block_id ?? ""}/${part.action_id ?? ""}` },
    onchange: () => context.press?.(part, block, node.value, node),
  });
  node.read = () => node.value;
  node.write = (value) => { node.value = value ?? ""; };
  return focusing(node, part);
}

function moment(part, block, context) {
  const shift = (seconds) => {
    const date = new Date(Number(seconds) * 1000);
    return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  };
  const node = picker("datetime-local", part.initial_date_time ? shift(part.initial_date_time) : null, part, block, context);
  node.read = () => (node.value ? Math.floor(new Date(node.value).getTime() / 1000) : "");
  node.write = (value) => { node.value = value ? shift(value) : ""; };
  return node;
}

function files(part, block) {
  const types = (part.filetypes ?? []).map((type) => `.${type}`).join(",");
  const node = el("input", { class: "field", type: "file", multiple: (part.max_files ?? 10) > 1, accept: types || null, data: { focus: `${block.block_id ?? ""}/${part.action_id ?? ""}` } });
  node.read = () => [...node.files];
  return focusing(node, part);
}

function focusing(node, part) {
  if (part.focus_on_load) node.setAttribute("data-first", "");
  return node;
}
