// Links: those to a message of this Slack stay in the page, others open beside it.

import { el } from "./dom.js";

/** Where a permalink such as …/archives/C0CREDIT/p1796010120000100 points, or null. */
export function placeOf(address) {
  const found = /^https?:\/\/[^/]+\/archives\/([A-Z0-9]+)\/p(\d{7,})/.exec(address);
  if (!found) return null;
  const digits = found[2];
  return { channel: found[1], ts: `${digits.slice(0, -6)}.${digits.slice(-6)}` };
}

/** A link; anything but the web and mail is shown as letters. */
export function linkNode(address, label, context) {
  if (!/^(https?:|mailto:)/.test(address)) return el("span", {}, label || address);
  const place = placeOf(address);
  const here = place && context.names?.channels?.[place.channel] !== undefined;
  return el("a", {
    href: address,
    target: here ? null : "_blank",
    rel: "noreferrer noopener",
    title: address,
    data: { focus: address },
    onclick: here ? (event) => {
      event.preventDefault();
      context.open?.(place.channel, place.ts);
    } : null,
  }, label || address);
}
