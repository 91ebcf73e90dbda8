// Times in the reader's zone, as Slack's date tokens say them, on the clock of this page.

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const two = (number) => String(number).padStart(2, "0");
const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());

/** 18:05 */
export function hourOf(date) {
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Mon 30 Nov */
export function dayOf(date) {
  return `${DAYS[date.getDay()].slice(0, 3)} ${date.getDate()} ${MONTHS[date.getMonth()].slice(0, 3)}`;
}

/** Monday, 30 November */
export function longDayOf(date) {
  return `${DAYS[date.getDay()]}, ${date.getDate()} ${MONTHS[date.getMonth()]}`;
}

/** Whole days between two moments by the calendar: -1 is yesterday. */
export function daysApart(date, now) {
  return Math.round((midnight(date) - midnight(now)) / 86_400_000);
}

/** The time of a message id such as 1796010120.000100. */
export function dateOfTs(ts) {
  return new Date(Number.parseFloat(ts) * 1000);
}

function ordinal(day) {
  const last = day % 10;
  if (day > 10 && day < 14) return `${day}th`;
  return `${day}${{ 1: "st", 2: "nd", 3: "rd" }[last] ?? "th"}`;
}

function ago(date, now) {
  const seconds = Math.round((now - date) / 1000);
  const size = Math.abs(seconds);
  const [count, unit] = size < 60 ? [size, "second"] : size < 3600 ? [Math.round(size / 60), "minute"] : size < 86_400 ? [Math.round(size / 3600), "hour"] : [Math.round(size / 86_400), "day"];
  const words = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return seconds >= 0 ? `${words} ago` : `in ${words}`;
}

function plainDate(kind, date) {
  const month = MONTHS[date.getMonth()];
  if (kind === "date_num") return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  if (kind === "date_slash") return `${two(date.getMonth() + 1)}/${two(date.getDate())}/${date.getFullYear()}`;
  if (kind === "date_short") return `${month.slice(0, 3)} ${date.getDate()}, ${date.getFullYear()}`;
  if (kind === "date_long") return `${DAYS[date.getDay()]}, ${month} ${ordinal(date.getDate())}, ${date.getFullYear()}`;
  return `${month} ${ordinal(date.getDate())}, ${date.getFullYear()}`;
}

/**
 * A Slack date token filled in. Slack writes the near days as words, with a capital when the
 * token begins with them; an unusable timestamp shows the fallback.
 */
export function filledDate(timestamp, format, fallback, now) {
  const date = new Date(Number(timestamp) * 1000);
  if (Number.isNaN(date.getTime())) return fallback ?? "";
  const text = String(format ?? "").replace(/\{([a-z_]+)\}/g, (whole, name, offset) => {
    if (name === "time") return hourOf(date);
    if (name === "time_secs") return `${hourOf(date)}:${two(date.getSeconds())}`;
    if (name === "ago") return ago(date, now);
    const pretty = name.endsWith("_pretty");
    const kind = name.replace(/_pretty$/, "").replace("day_divider", "date_long");
    if (!kind.startsWith("date")) return whole;
    if (pretty) {
      const near = { "-1": "yesterday", 0: "today", 1: "tomorrow" }[daysApart(date, now)];
      if (near) return offset === 0 ? near[0].toUpperCase() + near.slice(1) : near;
    }
    return plainDate(kind, date);
  });
  return text || fallback || "";
}

/** The clock of this page: the server's, moved or not, carried on by this machine's. */
export class PageClock {
  #ahead = 0;

  set(iso) {
    const told = Date.parse(iso);
    if (Number.isFinite(told)) this.#ahead = told - Date.now();
  }

  now() {
    return new Date(Date.now() + this.#ahead);
  }
}
