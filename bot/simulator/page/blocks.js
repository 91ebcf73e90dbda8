// Block Kit drawn: one function a kind of block. Interactive parts are in elements.js.
//
// `context` is what a surface gives its blocks: names, me, now(), open(channel, ts),
// and press(element, block, value, button) which sends the action and shows what came of it.

import { el, textOf } from "./dom.js";
import { withEmoji } from "./emoji.js";
import { element, inputBlock } from "./elements.js";
import { linkNode } from "./links.js";
import { mrkdwn } from "./mrkdwn.js";
import { richText } from "./richtext.js";

/** A text object, plain or mrkdwn. */
export function textNodes(text, context) {
  if (!text) return [];
  if (typeof text === "string") return [text];
  if (text.type === "mrkdwn") return mrkdwn(text.text, context, { verbatim: text.verbatim === true });
  return text.emoji === false ? [text.text] : withEmoji(text.text);
}

/** All blocks of a message, a modal or a home, one node each. */
export function blockNodes(blocks, context) {
  return (blocks ?? []).map((block) => {
    const node = (KINDS[block.type] ?? unknown)(block, context);
    node.dataset.block = block.block_id ?? "";
    return node;
  });
}

const KINDS = {
  header: (block, context) => el("h3", { class: "block header" }, textNodes(block.text, context)),
  divider: () => el("hr", { class: "block" }),
  section,
  context: (block, context) => el("div", { class: "block footnote" }, (block.elements ?? []).map((part) => (
    part.type === "image" ? picture(part, "footnote-image") : el("span", {}, textNodes(part, context))
  ))),
  actions: (block, context) => el("div", { class: "block actions", role: "group" }, (block.elements ?? []).map((part) => element(part, block, context))),
  rich_text: (block, context) => el("div", { class: "block richtext" }, richText(block, context)),
  input: inputBlock,
  image: (block) => el("figure", { class: "block" }, textOf(block.title) ? el("figcaption", {}, textOf(block.title)) : null, picture(block, "image")),
  table,
  markdown: (block, context) => el("div", { class: "block richtext" }, markdown(String(block.text ?? ""), context)),
};

function section(block, context) {
  const main = el("div", { class: "section-text" });
  if (block.text) main.append(el("div", { class: "rich" }, textNodes(block.text, context)));
  if (block.fields?.length) main.append(el("div", { class: "fields" }, block.fields.map((field) => el("div", { class: "rich" }, textNodes(field, context)))));
  const accessory = block.accessory ? el("div", { class: "accessory" }, block.accessory.type === "image" ? picture(block.accessory, "thumb") : element(block.accessory, block, context)) : null;
  return el("div", { class: "block section" }, main, accessory);
}

function table(block, context) {
  const settings = block.column_settings ?? [];
  const cell = (tag, part, column) => el(tag, { class: `align-${settings[column]?.align ?? "left"}`, scope: tag === "th" ? "col" : null }, part?.type === "rich_text" ? richText(part, context) : textOf(part));
  const [head, ...rows] = block.rows ?? [];
  return el("div", { class: "block table-frame", tabindex: "0", role: "region", "aria-label": "Table" }, el("table", {},
    el("thead", {}, el("tr", {}, (head ?? []).map((part, column) => cell("th", part, column)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((part, column) => cell("td", part, column)))))));
}

// Pictures from outside are not fetched: the page asks nobody but its own server.
function picture(block, className) {
  const file = block.slack_file?.id;
  const address = file ? `/_page/files/${encodeURIComponent(file)}/picture` : block.image_url ?? "";
  const own = address.startsWith("/") || address.startsWith(`${location.origin}/`);
  return own ? el("img", { class: className, src: address, alt: block.alt_text ?? "" }) : el("span", { class: `${className} no-image` }, block.alt_text || "Picture");
}

function unknown(block) {
  return el("div", { class: "block footnote" }, `A block of kind "${block.type}" is not drawn here.`);
}

// Enough of Markdown for what models write: headings, lists, quotes, code, bold, italics, links.
function markdown(text, context) {
  const nodes = [];
  let list = null;
  text.split("```").forEach((piece, index) => {
    if (index % 2) {
      nodes.push(el("pre", { class: "code-block" }, piece.replace(/^[a-z]*\n|\n$/g, "")));
      list = null;
      return;
    }
    for (const line of piece.split("\n")) {
      const item = /^\s*(?:([-*+])|\d+[.)])\s+(.*)$/.exec(line);
      const heading = /^#{1,6}\s+(.*)$/.exec(line);
      const quote = /^>\s?(.*)$/.exec(line);
      if (item) {
        const tag = item[1] ? "UL" : "OL";
        if (list?.tagName !== tag) {
          list = el(tag, {});
          nodes.push(list);
        }
        list.append(el("li", {}, markdownRuns(item[2], context)));
        continue;
      }
      list = null;
      if (heading) nodes.push(el("div", { class: "rich" }, el("strong", {}, markdownRuns(heading[1], context))));
      else if (quote) nodes.push(el("blockquote", {}, markdownRuns(quote[1], context)));
      else if (line.trim()) nodes.push(el("div", { class: "rich" }, markdownRuns(line, context)));
    }
  });
  return nodes;
}

function markdownRuns(text, context) {
  const nodes = [];
  let rest = 0;
  for (const found of text.matchAll(/`([^`]+)`|\*\*(.+?)\*\*|(?<!\w)[*_]([^*_]+)[*_](?!\w)|~~(.+?)~~|\[([^\]]+)\]\((https?:[^)\s]+)\)/g)) {
    const [whole, code, bold, italic, strike, label, address] = found;
    nodes.push(text.slice(rest, found.index));
    if (code) nodes.push(el("code", {}, code));
    else if (bold) nodes.push(el("strong", {}, bold));
    else if (italic) nodes.push(el("em", {}, italic));
    else if (strike) nodes.push(el("s", {}, strike));
    else nodes.push(linkNode(address, label, context));
    rest = found.index + whole.length;
  }
  nodes.push(text.slice(rest));
  return nodes;
}
