// What one person may see, kept fresh: fetched whole, again whenever the server says that
// something changed. The server is the truth; a lost connection loses nothing but time.

const SOMEBODY = "U0BOB";
const RETRY_MS = 1000;
const SILENCE_MS = 40_000; // the server speaks every 15 s, so this long a silence is a lost line

export class State {
  value = null;
  reachable = true;
  #user;
  #changed;
  #events = null;
  #lastHeard = Date.now();
  #running = null;
  #again = false;

  /** `changed` is called whenever `value` or `reachable` is new. */
  constructor(user, changed) {
    this.#user = user;
    this.#changed = changed;
    setInterval(() => this.#watch(), 5000);
    addEventListener("online", () => this.#connect());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.refresh();
    });
  }

  /** Through whose eyes this looks. */
  get user() {
    return this.#user;
  }

  async start() {
    await this.refresh();
    this.#connect();
  }

  /** Look through somebody else's eyes. */
  async become(user) {
    this.#user = user;
    await this.refresh();
  }

  /** Fetch again; calls that come while one is under way share the next one. */
  refresh() {
    if (this.#running) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#fetch().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #fetch() {
    do {
      this.#again = false;
      const user = this.#user;
      try {
        const response = await fetch(`/_page/state?user=${encodeURIComponent(user)}`, { cache: "no-store" });
        if (response.status >= 400 && response.status < 500 && user !== SOMEBODY) {
          this.#user = SOMEBODY; // an address that names nobody of this Slack
          this.#again = true;
          continue;
        }
        if (!response.ok) throw new Error(`${response.status}`);
        const value = await response.json();
        if (user !== this.#user) {
          this.#again = true;
          continue;
        }
        this.value = value;
        this.#reach(true);
      } catch {
        this.#reach(false);
        return;
      }
    } while (this.#again);
    this.#changed();
  }

  /** What somebody else may see now, or null. */
  async seenBy(user) {
    try {
      const response = await fetch(`/_page/state?user=${encodeURIComponent(user)}`, { cache: "no-store" });
      return response.ok ? await response.json() : null;
    } catch {
      return null;
    }
  }

  /** POST a control route; never throws: {ok, status, data}. */
  async act(path, body) {
    try {
      const response = await fetch(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      let data = {};
      try {
        data = await response.json();
      } catch {
        // An answer without JSON has nothing to say beyond its status.
      }
      return { ok: response.ok, status: response.status, data };
    } catch {
      this.#reach(false);
      return { ok: false, status: 0, data: { error: "The local Slack is away." } };
    }
  }

  #connect() {
    this.#events?.close();
    this.#lastHeard = Date.now();
    const events = new EventSource("/_page/events");
    this.#events = events;
    events.onopen = () => this.refresh();
    events.onmessage = (event) => {
      this.#lastHeard = Date.now();
      const seq = seqOf(event.data);
      if (seq === null || seq !== this.value?.seq) this.refresh();
    };
    events.onerror = () => {
      events.close();
      if (this.#events !== events) return;
      this.#events = null;
      this.#reach(false);
      setTimeout(() => this.#knock(), RETRY_MS);
    };
  }

  // A plain request first, so that a server that is away is not reported as a broken stream.
  async #knock() {
    if (this.#events) return;
    await this.refresh();
    if (this.reachable) this.#connect();
    else setTimeout(() => this.#knock(), RETRY_MS);
  }

  #watch() {
    if (this.#events && Date.now() - this.#lastHeard > SILENCE_MS) this.#connect();
  }

  #reach(reachable) {
    if (this.reachable === reachable) return;
    this.reachable = reachable;
    this.#changed();
  }
}

function seqOf(data) {
  try {
    return JSON.parse(data).seq ?? null;
  } catch {
    return null;
  }
}
