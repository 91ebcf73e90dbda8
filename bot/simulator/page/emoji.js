// The few emoji names that our texts and people use; the rest stay letters, as :name:.

import { el } from "./dom.js";
import { drawnMark } from "./icons.js";

const LETTERS = {
  hourglass_flowing_sand: "⏳", hourglass: "⌛", alarm_clock: "⏰", arrow_forward: "▶️",
  white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", warning: "⚠️",
  black_square_for_stop: "⏹️", leftwards_arrow_with_hook: "↩️", double_vertical_bar: "⏸️",
  tada: "🎉", eyes: "👀", thumbsup: "👍", "+1": "👍", thumbsdown: "👎", "-1": "👎", wave: "👋",
  smile: "😄", slightly_smiling_face: "🙂", heart: "❤️", fire: "🔥", rocket: "🚀", bulb: "💡",
  memo: "📝", page_facing_up: "📄", paperclip: "📎", lock: "🔒", moneybag: "💰", bank: "🏦",
  question: "❓", exclamation: "❗", bell: "🔔", no_entry: "⛔", information_source: "ℹ️",
  point_right: "👉", pray: "🙏", clock1: "🕐", calendar: "📅", package: "📦", truck: "🚚",
};

/** A node for an emoji name, or null for a name nobody knows. */
export function emojiNode(name) {
  const bare = name.replace(/::skin-tone-\d$/, "");
  const mark = drawnMark(bare);
  if (!mark && !LETTERS[bare]) return null;
  const label = bare.replaceAll("_", " ");
  return el("span", { class: "emoji", role: "img", "aria-label": label, title: `:${bare}:` }, mark ?? LETTERS[bare]);
}

/** Plain text whose :names: are shown as emoji. */
export function withEmoji(text) {
  const parts = [];
  let rest = 0;
  for (const found of text.matchAll(/:([a-z0-9_+-]+(?:::skin-tone-\d)?):/g)) {
    const node = emojiNode(found[1]);
    if (!node) continue;
    parts.push(text.slice(rest, found.index), node);
    rest = found.index + found[0].length;
  }
  parts.push(text.slice(rest));
  return parts.filter((part) => part !== "");
}
