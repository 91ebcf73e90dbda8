// rich_text blocks: runs of text with styles, lists, quotes, preformatted text.
// Text in here stays letters: no emoji codes, no mentions, no bold by asterisks.

import { el } from "./dom.js";
import { emojiNode } from "./emoji.js";
import { linkNode } from "./links.js";
import { mention, timeNode } from "./mrkdwn.js";

/** The nodes of one rich_text block. */
export function richText(block, context) {
  return gathered(block.elements ?? []).map((part) => {
    if (part.type === "rich_text_list_group") return listGroup(part.lists, context);
    if (part.type === "rich_text_quote") return el("blockquote", {}, runs(part.elements, context));
    if (part.type === "rich_text_preformatted") return el("pre", { class: "code-block" }, runs(part.elements, context));
    return el("div", { class: "rich" }, runs(part.elements, context));
  });
}

// Lists that follow one another are one list with indents, as Slack draws them.
function gathered(parts) {
  const all = [];
  for (const part of parts) {
    if (part.type !== "rich_text_list") all.push(part);
    else if (all.at(-1)?.type === "rich_text_list_group") all.at(-1).lists.push(part);
    else all.push({ type: "rich_text_list_group", lists: [part] });
  }
  return all;
}

function listGroup(lists, context) {
  return lists.map((list) => el(
    list.style === "ordered" ? "ol" : "ul",
    { class: `indent-${Math.min(list.indent ?? 0, 4)}`, start: list.style === "ordered" && list.offset ? list.offset + 1 : null },
    (list.elements ?? []).map((item) => el("li", {}, runs(item.elements, context))),
  ));
}

function runs(elements, context) {
  const parts = elements ?? [];
  return parts.map((part, index) => {
    const last = index === parts.length - 1;
    const node = run(part, context, last);
    return wrapped(node, part.style);
  });
}

function run(part, context, last) {
  switch (part.type) {
    case "text": return last ? String(part.text).replace(/\n$/, "") : String(part.text);
    case "link": return linkNode(part.url, part.text || part.url, context);
    case "user": return mention("user", part.user_id, context);
    case "usergroup": return mention("group", part.usergroup_id, context);
    case "channel": return mention("channel", part.channel_id, context);
    case "broadcast": return el("span", { class: "mention loud" }, `@${part.range}`);
    case "emoji": return emojiNode(part.name) ?? `:${part.name}:`;
    case "date": return timeNode(part.timestamp, part.format, part.fallback, context);
    case "color": return part.value;
    default: return part.text ?? "";
  }
}

function wrapped(node, style) {
  let out = node;
  for (const [name, tag] of [["code", "code"], ["strike", "s"], ["italic", "em"], ["bold", "strong"], ["underline", "u"]]) {
    if (style?.[name]) out = el(tag, {}, out);
  }
  return out;
}
