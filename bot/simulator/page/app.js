// The page of the local Slack, put together: one state, drawn into its columns.
//
// `view` is where this browser looks (person, place, pane); `state.value` is what the server says.
// Every change of either ends in draw(), which touches only what differs.

import { Composer } from "./composer.js";
import { PageClock } from "./dates.js";
import { drawBottom } from "./bottom.js";
import { drawHome, drawLog, scrollToMessage, watchScroll } from "./messages.js";
import { drawSide } from "./side.js";
import { drawTop } from "./top.js";
import { el } from "./dom.js";
import { listenKeys } from "./keys.js";
import { Modals } from "./modal.js";
import { Pane } from "./pane.js";
import { HOME, placeName, story } from "./story.js";
import { pressing } from "./press.js";
import { State } from "./state.js";



class App {
  clock = new PageClock();
  view = { user: "U0BOB", place: "C0LOANS", pane: "guide", paneOpen: false, thread: null, shownThread: null };
  #seen = new Map();

  constructor() {
    Object.assign(this.view, remembered());
    this.state = new State(this.view.user, () => {
      this.view.user = this.state.user;
      this.draw();
    });
    this.modals = new Modals(this);
    this.composer = new Composer(this, document.getElementById("composer"), { thread: false });
    this.pane = new Pane(this, document.getElementById("pane"));
    listenKeys(this);
    watchScroll();
    setInterval(() => this.value && drawTop(this), 10_000);
  }

  get value() {
    return this.state.value;
  }

  get me() {
    return this.value.people.find((person) => person.id === this.view.user) ?? this.value.me;
  }

  /** What blocks need to know of the surface they are on; `where` names it to the control routes. */
  context(where) {
    const context = {
      me: this.view.user,
      names: this.value.names,
      people: this.value.people,
      now: () => this.clock.now(),
      open: (channel, ts) => this.go(channel, ts),
    };
    return { ...context, ...pressing(this, where) };
  }

  /** POST a control route as the chosen person, then look again. */
  async act(path, body = {}) {
    const answer = await this.state.act(path, { user: this.view.user, ...body });
    await this.state.refresh();
    return answer;
  }

  /** POST a control route that is nobody's act: the clock, the trouble. */
  async set(path, body) {
    const answer = await this.state.act(path, body);
    await this.state.refresh();
    return answer;
  }

  /** Become another of the cast. */
  async become(user, place = this.view.place) {
    this.composer.keep();
    this.view.user = user;
    this.view.place = place;
    document.body.classList.remove("pane-view");
    await this.state.become(user);
    if (place === HOME) await this.act("/_control/home");
    this.announce(`You are ${this.me.name}.`);
  }

  /** Show a channel, a direct message or the home; with `ts`, bring that message into view. */
  async go(place, ts = null) {
    this.composer.keep();
    const other = this.view.place !== place;
    this.view.place = place;
    if (other) this.view.thread = null;
    document.body.classList.remove("pane-view");
    this.draw();
    if (other && place === HOME) await this.act("/_control/home");
    if (ts) scrollToMessage(ts);
  }

  /** Show a tab of the pane; on a narrow screen the pane comes in front. */
  showPane(tab, thread = this.view.thread) {
    this.view.pane = tab;
    this.view.thread = thread;
    this.view.paneOpen = true;
    document.body.classList.add("pane-view");
    this.draw();
  }

  hidePane() {
    this.view.paneOpen = false;
    document.body.classList.remove("pane-view");
    this.draw();
  }

  /** Say something to those who listen to the page instead of looking at it. */
  announce(text) {
    const says = document.getElementById("says");
    const line = el("p", {}, text);
    says.append(line);
    while (says.childElementCount > 3) says.firstElementChild.remove();
  }

  draw() {
    if (!this.value) {
      drawNotice(this);
      return;
    }
    const places = [...this.value.channels, ...(this.value.dms ?? [])].map((place) => place.id);
    if (this.view.place !== HOME && !places.includes(this.view.place)) this.view.place = places[0] ?? HOME;
    this.clock.set(this.value.clock.now);
    remember(this.view);
    const frame = document.documentElement.style;
    frame.setProperty("--person", this.me.color ?? "#12363c");
    document.body.classList.toggle("pane-open", this.view.paneOpen);
    document.body.classList.toggle("at-home", this.view.place === HOME);
    drawTop(this);
    drawSide(this);
    drawBottom(this);
    drawNotice(this);
    if (this.view.place === HOME) drawHome(this);
    else drawLog(this);
    this.composer.draw();
    this.pane.draw();
    this.modals.draw();
    this.#title();
    this.#read();
  }

  #title() {
    const waits = this.me.waiting ? `(${this.me.waiting}) ` : "";
    document.title = `${waits}${placeName(this, this.view.place)} as ${this.me.name}, Sayso`;
  }

  // What is on screen counts as read, once for each new state of it.
  #read() {
    const place = [...this.value.channels, ...(this.value.dms ?? [])].find((each) => each.id === this.view.place);
    if (!place?.unread || document.hidden) return;
    const key = `${this.view.user}/${place.id}`;
    if (this.#seen.get(key) === this.value.seq) return;
    this.#seen.set(key, this.value.seq);
    this.act("/_page/read", { channel: place.id });
  }
}

function drawNotice(app) {
  const notice = document.getElementById("notice");
  const away = !app.state.reachable;
  const stopped = !away && app.value && !app.value.bot.running;
  const text = away || stopped ? story.stopped : "";
  if (notice.textContent !== text) notice.replaceChildren(...(text ? [el("strong", {}, "Bot stopped."), ` ${text.slice("Bot stopped. ".length)}`] : []));
  document.body.classList.toggle("away", Boolean(away || stopped));
}

// Where one looked survives a reload: in the address, so that it can be bookmarked.
function remembered() {
  const saved = new URLSearchParams(location.hash.slice(1));
  const view = {};
  if (saved.get("as")) view.user = saved.get("as");
  if (saved.get("in")) view.place = saved.get("in");
  if (saved.get("pane")) view.pane = saved.get("pane");
  return view;
}

function remember(view) {
  const hash = `#${new URLSearchParams({ as: view.user, in: view.place, pane: view.pane })}`;
  if (location.hash !== hash) history.replaceState(null, "", hash);
}

// A permalink leads here with the message it names.
const wanted = new URLSearchParams(location.hash.slice(1)).get("ts");
const app = new App();
app.state.start().then(() => wanted && app.value && app.go(app.view.place, wanted));
addEventListener("hashchange", () => {
  const view = remembered();
  const ts = new URLSearchParams(location.hash.slice(1)).get("ts");
  if (view.user && view.user !== app.view.user) app.become(view.user, view.place);
  else if (view.place && (ts || view.place !== app.view.place)) app.go(view.place, ts);
});
