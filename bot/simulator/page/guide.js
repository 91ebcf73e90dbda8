// Six steps that tick by what really happened; the current one has a button that does it.

import { el, reconcile } from "./dom.js";
import { channelNamed, HOME, rule } from "./story.js";

const SAMPLES_OF_FIRST = (app) => (app.value.first?.files ?? []).map((file) => ({ ...file, sample: file.name }));
const BOB = "U0BOB";
const LOOK_BACK_MS = 3000;
const CUSTOMERS = [
  "Gupta Tools", "Mehta Foods", "Lakshmi Tailors", "Bright Books", "Noor Bakery", "Zed Imports", "Kavya Prints",
  "Omkar Auto", "Pearl Clinic", "Sunrise Dairy", "Banyan Toys", "Coral Paints", "Delta Cycles", "Ember Lamps",
  "Fern Florists", "Garnet Gems", "Harbour Fish", "Indigo Textiles", "Jasmine Tea", "Kite Couriers",
];
const AGAIN = "Loan for Asha Traders, 20000 for spare parts";
const LARGE = "Loan for Lakshmi Tailors, 120000 for ten sewing machines";
const VERY_LARGE = "Loan for Harbour Fish, 300000 for a cold store";
const AWAY = "/sayso away until tomorrow, @Charlie covers";
const REFUND = "Refund 4,000 for order A-2231, arrived broken";
const BRIEF = "Announce the new opening hours";
const has = (value, name) => value.channels.some((channel) => channel.name === name);

export function drawGuide(app, list) {
  const { value } = app;
  const steps = stepsOf(app);
  const current = steps.findIndex((step) => !step.done);
  const items = steps.map((step, index) => ({ key: step.key, number: index + 1, title: step.title, note: step.note, button: step.button ?? "", done: step.done, current: index === current }));
  reconcile(list, [
    { key: "lead", over: current < 0 }, ...items,
    { key: "try", tries: triesOf(app).map((each) => each.label) },
  ], {
    key: (item) => item.key,
    make: (item) => {
      if (item.key === "lead") return el("p", { class: "pane-lead" }, item.over ? "That was the whole story. Make trouble now, under Bank." : "Two minutes, six steps. Do them yourself, or press the buttons here.");
      if (item.key === "try") return tries(app);
      return stepNode(app, item);
    },
  });
  list.dataset.seq = value.seq ?? "";
}

function stepsOf(app) {
  const { value } = app;
  const done = value.guide ?? {};
  const told = rule(value);
  const decider = value.names.users[told.first] ?? "Alice";
  const credit = channelNamed(value, "credit");
  return [
    { key: "asked", title: "Bob asks for a loan", note: `Send the message below the channel. It has ${documents(value)}.`, button: "Send it", act: () => ask(app, value.first?.text ?? "", SAMPLES_OF_FIRST(app)) },
    { key: "card", title: "A card reaches the people who decide", note: "See it in #credit. It says what is asked, why it came, and what happens next.", button: "Show #credit", act: () => app.go(credit) },
    { key: "decided", title: told.turn, note: `Be ${decider}, click Approve.${told.needed > 1 && told.above ? ` Above ${told.above.toLocaleString("en-US")} it takes two.` : ""}`, button: app.view.user === told.first ? "Show the card" : `Be ${decider}`, act: () => decideAs(app, told.first, credit) },
    { key: "paid", title: "The bank pays once", note: "Look at the bank while you click.", button: "Open the bank", act: () => app.showPane("bank") },
    { key: "again", title: "Ask again for Asha Traders", note: "The next card remembers this one.", button: "Ask again", act: () => ask(app, value.first?.again ?? AGAIN) },
    { key: "plug", title: "Pull the plug", note: "Press Ctrl-C where you started this, or kill it. Start it again: nothing is lost and the card still works." },
  ].map((step) => ({ ...step, done: done[step.key] === true }));
}

function documents(value) {
  const count = value.first?.files?.length ?? 0;
  return count === 0 ? "no documents" : count === 1 ? "one document" : count === 2 ? "two documents" : `${count} documents`;
}

function stepNode(app, step) {
  const button = step.current && step.button ? el("button", { type: "button", class: "button dark", data: { focus: `step/${step.key}` }, onclick: async (event) => {
    event.currentTarget.disabled = true;
    await stepsOf(app).find((each) => each.key === step.key).act();
  } }, step.button) : null;
  if (button) button.addEventListener("click", () => setTimeout(() => { button.disabled = false; }, 1500));
  return el("section", { class: ["step", step.done && "done", step.current && "current"].filter(Boolean).join(" "), "aria-current": step.current ? "step" : null },
    el("span", { class: "number" }, step.done ? el("span", { "aria-label": "Done" }, "✓") : String(step.number)),
    el("div", {}, el("h3", {}, step.title), step.done ? null : el("p", {}, step.note), button));
}

// Become who decides, with the card's first button under the finger.
async function decideAs(app, user, channel) {
  await app.become(user, channel);
  const button = [...document.querySelectorAll("#log .button.primary")].at(-1);
  button?.focus({ preventScroll: true });
  button?.scrollIntoView({ block: "nearest" });
}

async function ask(app, text, files = [], channel = "loans") {
  await app.become(BOB, channelNamed(app.value, channel));
  await app.composer.fill(text, files, true);
}

async function goAway(app, channel) {
  await app.become("U0ALICE", channel);
  await app.composer.fill(AWAY, [], true);
}

// Things to try once the story is told; each is offered when there is something to try it on.
function triesOf(app) {
  const { value } = app;
  const credit = channelNamed(value, "credit");
  const card = openCard(value, credit);
  const all = [
    { label: "Two have to approve", act: () => ask(app, LARGE) },
    { label: "Erin first, then two", act: () => ask(app, VERY_LARGE) },
    { label: "Charlie covers for Alice", act: () => goAway(app, credit) },
    { label: "Refund an order", when: has(value, "refunds"), act: () => ask(app, REFUND, [], "refunds") },
    { label: "Two people review a text", when: has(value, "content"), act: () => ask(app, BRIEF, [], "content") },
    { label: "Decide as Charlie", act: () => app.become("U0CHARLIE", credit) },
    { label: "Two people at once", when: card, act: () => twoAtOnce(app, credit, card) },
    { label: "Run out the clock", when: value.clock.deadline && value.clock.movable !== false, act: () => app.set("/_control/clock", { advance_seconds: Math.ceil((new Date(value.clock.deadline) - app.clock.now()) / 1000) + 1 }) },
    { label: "Change the amount", when: card && hasAction(card, /edit/), act: () => decideAs(app, rule(value).first, credit) },
    { label: "Ask 20 times at once", act: () => askOften(app) },
    { label: "See your home", act: () => app.go(HOME) },
  ];
  return all.filter((each) => !("when" in each) || each.when);
}

function tries(app) {
  return el("section", { class: "try" }, el("h2", {}, "Then try"), el("div", { class: "pills" }, triesOf(app).map((each) => el("button", { type: "button", class: "pill", data: { focus: `try/${each.label}` }, onclick: () => triesOf(app).find((now) => now.label === each.label)?.act() }, each.label))));
}

function hasAction(message, pattern) {
  return (message.blocks ?? []).some((block) => (block.elements ?? []).some((part) => part.type === "button" && pattern.test(part.action_id ?? "")));
}

function openCard(value, channel) {
  return [...(value.messages[channel] ?? [])].reverse().find((message) => message.is_bot && hasAction(message, /^approve$/));
}

async function twoAtOnce(app, channel, card) {
  const both = ["U0ALICE", "U0DANA"];
  await Promise.all(both.map((user) => app.state.act("/_control/click", { user, channel, ts: card.ts, action_id: "approve" })));
  await app.become(await whoWasLate(app, channel, both), channel);
}

// The app tells the later one privately; look for that for a moment.
async function whoWasLate(app, channel, both) {
  const began = app.clock.now().getTime() - LOOK_BACK_MS;
  for (let tries = 0; tries < 10; tries += 1) {
    for (const user of both) {
      const seen = await app.state.seenBy(user);
      if (seen?.messages[channel]?.some((message) => message.ephemeral && Date.parse(message.at) > began)) return user;
    }
    await new Promise((resolve) => { setTimeout(resolve, 300); });
  }
  return both[1];
}

async function askOften(app) {
  const channel = channelNamed(app.value, "loans");
  await app.become(BOB, channel);
  await Promise.all(CUSTOMERS.map((name, index) => app.state.act("/_control/message", { user: BOB, channel, text: `Loan for ${name}, ${(index + 3) * 1000} for stock` })));
  await app.state.refresh();
}
