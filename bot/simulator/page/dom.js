// Elements made by hand: everything from outside goes in as text, never as markup.

/** An element with attributes, listeners (on…) and children; strings become text. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (value === true) node.setAttribute(name, "");
    else node.setAttribute(name, String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Slack writes a text as a string here and as an object there. */
export function textOf(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? String(value.text ?? "") : String(value);
}

/**
 * Make the children of `container` equal `items`, touching only what changed, so that focus,
 * scroll and half-written words outside the changed item survive.
 * Returns what was added and what was replaced.
 */
export function reconcile(container, items, { key, make, mark = JSON.stringify }) {
  const old = new Map([...container.children].map((node) => [node.dataset.key, node]));
  const added = [];
  const changed = [];
  let cursor = container.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    const print = mark(item);
    let node = old.get(name);
    old.delete(name);
    if (!node || node.print !== print) {
      const fresh = make(item, node);
      fresh.dataset.key = name;
      fresh.print = print;
      if (node) {
        const focused = node.contains(document.activeElement) ? document.activeElement : null;
        const wanted = focused?.dataset?.focus;
        const wasItself = focused === node;
        if (cursor === node) cursor = node.nextElementSibling;
        node.replaceWith(fresh);
        if (focused) (wasItself ? fresh : (findFocus(fresh, wanted) ?? fresh)).focus({ preventScroll: true });
        changed.push({ item, node: fresh });
      } else {
        added.push({ item, node: fresh });
      }
      node = fresh;
    }
    if (node === cursor) cursor = cursor.nextElementSibling;
    else container.insertBefore(node, cursor);
  }
  for (const node of old.values()) node.remove();
  return { added, changed };
}

/** The control that answers to a focus name, as after a card was drawn anew. */
export function findFocus(root, name) {
  if (!name) return null;
  return [...root.querySelectorAll("[data-focus]")].find((node) => node.dataset.focus === name) ?? null;
}

/** Numbers as people read them: 60,000. */
export function grouped(value) {
  const number = Number(value);
  return Number.isFinite(number) ? number.toLocaleString("en-US") : String(value ?? "");
}

/** "Alice", "Alice and Dana", "Alice, Dana and Erin". */
export function listed(names, word = "and") {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`;
}
