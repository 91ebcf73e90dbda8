// The bank of the story: its balance, its list, and the trouble one can make.

import { el, grouped, reconcile } from "./dom.js";
import { hourOf } from "./dates.js";

const TROUBLE = [
  ["down", "The bank does not answer", (on) => ({ bank_down: on })],
  ["loses_answer", "The bank pays, then loses its answer", (on) => ({ bank_loses_answer: on ? 1 : 0 })],
  ["slack_twice", "Slack sends everything twice", (on) => ({ redeliver: on ? 1 : 0 })],
  ["slack_slow", "Slack is slow", (on) => ({ delay_ms: on ? 1500 : 0 })],
];

export const paidCount = (value) => value.bank?.transfers?.length ?? 0;

export function drawBank(app, list) {
  const bank = app.value.bank ?? { transfers: [], trouble: {} };
  reconcile(list, [
    { key: "lead" },
    { key: "sums", balance: bank.balance, paid: bank.paid_today },
    { key: "list", transfers: bank.transfers ?? [] },
    { key: "trouble", trouble: bank.trouble ?? {} },
  ], { key: (item) => item.key, make: (item) => PARTS[item.key](app, item) });
}

const PARTS = {
  lead: () => el("p", { class: "pane-lead" }, "A pretend bank. It pays when a loan or a refund is approved, and it keeps its own list."),
  sums: (_, { balance, paid }) => el("div", { class: "sums" }, sum("Balance", balance), sum("Paid today", paid)),
  list: (_, { transfers }) => (transfers.length ? paid(transfers) : el("div", { class: "no-payment" }, el("strong", {}, "No payment yet."), el("span", {}, "Approve the loan and watch this list."))),
  trouble: (app, { trouble }) => el("fieldset", { class: "trouble" }, el("legend", {}, "Make trouble"), el("p", {}, "Sayso has to cope with all of these. Nothing is paid twice."),
    TROUBLE.map(([name, label, asked]) => el("label", { class: "tick" }, el("input", {
      type: "checkbox", checked: trouble[name] === true, data: { focus: `trouble/${name}` },
      onchange: async ({ target }) => {
        const { ok } = await app.set("/_control/misbehave", asked(target.checked));
        if (!ok) target.checked = !target.checked;
      },
    }), el("span", {}, label)))),
};

function sum(label, value) {
  return el("div", { class: "sum" }, el("span", {}, label), el("strong", {}, grouped(value ?? 0)));
}

function paid(transfers) {
  return el("table", { class: "transfers" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Time"), el("th", { scope: "col" }, "To"), el("th", { scope: "col", class: "amount" }, "Amount"))),
    el("tbody", {}, [...transfers].reverse().map((transfer) => el("tr", { data: { reference: transfer.reference } },
      el("td", {}, transfer.at ? hourOf(new Date(transfer.at)) : ""),
      el("td", {}, el("strong", {}, String(transfer.to ?? "")), el("small", {}, `Reference ${transfer.reference}.`, transfer.asked > 1 ? el("b", {}, ` Asked for ${transfer.asked} times, paid once.`) : null)),
      el("td", { class: "amount" }, grouped(transfer.amount))))));
}
