// The words of the first screen and the guide. Names and numbers follow what the server tells of
// the configured rule; without it the sentences do without them.

import { grouped, listed } from "./dom.js";

/** The app home, as a place beside the channels. */
export const HOME = "home";

export const story = {
  stopped: "Bot stopped. Start it again, nothing is lost.",
};

/** The rule behind the story: who decides, how many are needed, above what amount. */
export function rule(value) {
  const told = value.rule ?? {};
  const names = (told.deciders ?? ["U0ALICE", "U0DANA"]).map((id) => value.names.users[id] ?? id);
  const needed = told.needed ?? 1;
  const several = needed > 1 && names.length > 1;
  return {
    names, needed, above: told.above ?? null,
    first: (told.deciders ?? ["U0ALICE"])[0],
    second: (told.deciders ?? [])[1] ?? null,
    who: several ? `${listed(names)} decide` : names.length > 1 ? `${listed(names, "or")} decides` : `${names[0]} decides`,
    turn: several ? `${names[0]} approves, then ${names[1]}` : `${names[0]} decides`,
    why: told.above ? `because above ${grouped(told.above)} people decide` : "because a person has to decide",
  };
}

/** What a place is called: #loans, the name of a direct message, or the home. */
export function placeName(app, place) {
  const channel = app.value.channels.find((each) => each.id === place);
  if (channel) return `#${channel.name}`;
  return app.value.dms?.find((each) => each.id === place)?.name ?? "Sayso home";
}

/** The channel of a name, wherever the configuration put it. */
export function channelNamed(value, name) {
  return value.channels.find((channel) => channel.name === name)?.id ?? value.channels[0]?.id;
}
