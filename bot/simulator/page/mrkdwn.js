// Slack's mrkdwn, read into nodes. Text that came from a person was escaped by Slack
// (&amp; &lt; &gt;); everything between < and > is Slack's own: mentions, links, dates.

import { el } from "./dom.js";
import { emojiNode } from "./emoji.js";
import { filledDate } from "./dates.js";
import { linkNode } from "./links.js";

const STYLES = { "*": "strong", _: "em", "~": "s" };
const WORD = /[\p{L}\p{N}]/u;

/** `&lt;b&gt;` back to `<b>`, exactly once. */
export function unescaped(text) {
  return text.replace(/&(amp|lt|gt);/g, (_, name) => ({ amp: "&", lt: "<", gt: ">" })[name]);
}

/** The nodes of a mrkdwn text. `verbatim` leaves bare addresses alone. */
export function mrkdwn(text, context, { verbatim = true } = {}) {
  const nodes = [];
  const pieces = String(text ?? "").split("```");
  pieces.forEach((piece, index) => {
    const fenced = index % 2 === 1 && index < pieces.length - 1;
    if (fenced) {
      nodes.push(el("pre", { class: "code-block" }, unescaped(piece.replace(/^\n|\n$/g, ""))));
    } else {
      const kept = index % 2 === 1 ? `\`\`\`${piece}` : piece;
      nodes.push(...lines(kept, context, verbatim));
    }
  });
  return nodes;
}

/** The same text as one line of letters: for announcements and titles. */
export function plainText(text, context) {
  return el("span", {}, mrkdwn(text, context)).textContent;
}

function lines(text, context, verbatim) {
  const nodes = [];
  let quote = null;
  let first = true;
  for (const line of text.split("\n")) {
    const quoted = /^(?:&gt;|>)(?!&gt;) ?(.*)$/.exec(line);
    if (quoted) {
      if (quote) quote.append("\n");
      else {
        quote = el("blockquote", {});
        nodes.push(quote);
      }
      quote.append(...inline(quoted[1], context, verbatim));
    } else {
      if (!first && !quote) nodes.push("\n");
      quote = null;
      nodes.push(...inline(line, context, verbatim));
    }
    first = false;
  }
  return nodes;
}

function inline(text, context, verbatim) {
  const nodes = [];
  let letters = "";
  let at = 0;
  const flush = () => {
    if (letters) nodes.push(...bareLinks(unescaped(letters), context, verbatim));
    letters = "";
  };
  while (at < text.length) {
    const found = code(text, at) ?? control(text, at, context) ?? styled(text, at, context, verbatim) ?? emoji(text, at);
    if (found) {
      flush();
      nodes.push(found.node);
      at = found.end;
    } else {
      letters += text[at];
      at += 1;
    }
  }
  flush();
  return nodes;
}

function code(text, at) {
  if (text[at] !== "`") return null;
  const end = text.indexOf("`", at + 1);
  if (end < at + 2) return null;
  return { node: el("code", {}, unescaped(text.slice(at + 1, end))), end: end + 1 };
}

function styled(text, at, context, verbatim) {
  const tag = STYLES[text[at]];
  if (!tag || (at > 0 && WORD.test(text[at - 1])) || !/\S/.test(text[at + 1] ?? " ")) return null;
  for (let end = text.indexOf(text[at], at + 1); end > 0; end = text.indexOf(text[at], end + 1)) {
    if (end > at + 1 && /\S/.test(text[end - 1]) && !WORD.test(text[end + 1] ?? " ")) {
      return { node: el(tag, {}, inline(text.slice(at + 1, end), context, verbatim)), end: end + 1 };
    }
  }
  return null;
}

function emoji(text, at) {
  const found = text[at] === ":" ? /^:([a-z0-9_+-]+(?:::skin-tone-\d)?):/.exec(text.slice(at, at + 80)) : null;
  const node = found && emojiNode(found[1]);
  return node ? { node, end: at + found[0].length } : null;
}

function control(text, at, context) {
  if (text[at] !== "<") return null;
  const end = text.indexOf(">", at);
  if (end < 0) return null;
  const [target, label] = split(text.slice(at + 1, end));
  const node = controlNode(target, label && unescaped(label), context);
  return node ? { node, end: end + 1 } : null;
}

function split(inside) {
  const bar = inside.indexOf("|");
  return bar < 0 ? [inside, ""] : [inside.slice(0, bar), inside.slice(bar + 1)];
}

function controlNode(target, label, context) {
  const user = /^@([UWB][A-Z0-9]+)$/.exec(target);
  if (user) return mention("user", user[1], context);
  const channel = /^#([CG][A-Z0-9]+)$/.exec(target);
  if (channel) return mention("channel", channel[1], context);
  const group = /^!subteam\^(\w+)$/.exec(target);
  if (group) return mention("group", group[1], context);
  const date = /^!date\^(-?\d+)\^([^^]*)(?:\^(.*))?$/.exec(target);
  if (date) return timeNode(date[1], unescaped(date[2]), label, context);
  const broadcast = /^!(here|channel|everyone)$/.exec(target);
  if (broadcast) return el("span", { class: "mention loud" }, `@${broadcast[1]}`);
  if (/^(https?:|mailto:)/.test(target)) return linkNode(unescaped(target), label || unescaped(target).replace(/^mailto:/, ""), context);
  return null;
}

function bareLinks(text, context, verbatim) {
  if (verbatim) return [text];
  return text.split(/(https?:\/\/[^\s<>]+[^\s<>.,:;"')\]])/).map((part, index) => (index % 2 ? linkNode(part, part, context) : part)).filter((part) => part !== "");
}

/** A person, group or channel by its name; an id nobody knows stays an id. */
export function mention(kind, id, context) {
  const { names, me } = context;
  if (kind === "channel") {
    const name = names.channels[id];
    return name
      ? el("button", { class: "mention", type: "button", data: { focus: `#${id}` }, onclick: () => context.open?.(id) }, `#${name}`)
      : el("span", { class: "mention" }, `#${id}`);
  }
  if (kind === "group") return el("span", { class: "mention" }, `@${names.groups[id] ?? id}`);
  return el("span", { class: id === me ? "mention mine" : "mention" }, `@${names.users[id] ?? id}`);
}

/** A moment in the reader's zone. */
export function timeNode(timestamp, format, fallback, context) {
  const moment = new Date(Number(timestamp) * 1000);
  const iso = Number.isNaN(moment.getTime()) ? null : moment.toISOString();
  return el("time", { datetime: iso, title: fallback || null }, filledDate(timestamp, format, fallback, context.now()));
}
