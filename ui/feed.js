// What the pages know: one store, filled by /api/v1/live and a few reads of the API.
import { useEffect, useState } from '/vendor/hooks.js';
import { toEvents, toJobs, toLines, toNow } from '/model.js';

export const WINDOW_MS = 5 * 60 * 1000;
const JOBS_EVERY_MS = 10_000;
const MAX_EVENTS = 200;

// The JSON of an API address; rejects with the error object that the server sent.
export async function get(path) {
  let response;
  try {
    response = await fetch(path, { headers: { accept: 'application/json' } });
  } catch {
    throw { code: 'unavailable', what: 'Stoker does not answer', where: path };
  }
  let body = null;
  try {
    body = await response.json();
  } catch {
    body = null;
  }
  if (response.ok && body) return body;
  throw (body && body.error) || { code: 'internal', what: `status ${response.status}`, where: path };
}

class Feed {
  constructor() {
    this.state = {
      now: null, // the newest readings
      receivedAt: 0, // performance.now() of their arrival
      link: 'joining', // joining, live, lost
      fault: null, // what the server says when it cannot read its ledger
      jobs: null,
      events: null, // newest first
      history: new Map(), // uuid to { busy: [[t, ratio]], power: [[t, watts]] }
    };
    this.listeners = new Set();
    this.jobsAt = 0;
  }

  set(change) {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }

  start() {
    this.refreshJobs();
    this.loadHistory();
    get('/api/v1/events?limit=100').then(
      (body) => this.addEvents(toEvents(body)),
      (error) => this.set({ fault: error }),
    );
    const source = new EventSource('/api/v1/live');
    source.addEventListener('now', (message) => this.onNow(JSON.parse(message.data)));
    source.addEventListener('event', (message) => {
      const events = toEvents(JSON.parse(message.data));
      this.addEvents(events);
      if (events.some((e) => /^(job|checkpoint)\./.test(e.kind))) this.refreshJobs();
    });
    source.addEventListener('fault', (message) => {
      this.set({ fault: JSON.parse(message.data).error });
    });
    source.onopen = () => this.set({ link: 'live' });
    source.onerror = () => this.set({ link: 'lost' });
  }

  onNow(body) {
    const now = toNow(body);
    const history = new Map(this.state.history);
    const oldest = now.atMs - WINDOW_MS - 5000;
    for (const card of now.cards) {
      const lines = history.get(card.uuid) || { busy: [], power: [] };
      const t = now.atMs - card.ageS * 1000;
      const add = (line, value) => {
        const kept = line.filter((p) => p[0] >= oldest);
        const isNew = !kept.length || t > kept[kept.length - 1][0] + 200;
        return isNew ? [...kept, [t, value]] : kept;
      };
      history.set(card.uuid, {
        busy: add(lines.busy, card.value('busy_ratio')),
        power: add(lines.power, card.value('power_w')),
      });
    }
    this.set({ now, history, fault: null, link: 'live', receivedAt: performance.now() });
    if (performance.now() - this.jobsAt > JOBS_EVERY_MS && !document.hidden) this.refreshJobs();
  }

  // What was before this page was opened.
  async loadHistory() {
    const ask = (metric) => get(`/api/v1/series?metric=${metric}&from=-5m&points=150`);
    try {
      const [busy, power] = await Promise.all([ask('busy_ratio'), ask('power_w')]);
      this.mergeHistory(toLines(busy), toLines(power));
    } catch {
      // The sparklines then begin now; the live feed shows what is wrong.
    }
  }

  // Series go by card number, readings by UUID: they meet when the first readings are there.
  mergeHistory(busy, power) {
    const { now } = this.state;
    if (!now) {
      setTimeout(() => this.mergeHistory(busy, power), 250);
      return;
    }
    const history = new Map(this.state.history);
    const join = (old = [], live) => [...old.filter((p) => !live.length || p[0] < live[0][0]), ...live];
    for (const card of now.cards) {
      const live = history.get(card.uuid) || { busy: [], power: [] };
      history.set(card.uuid, {
        busy: join(busy.get(card.gpu), live.busy),
        power: join(power.get(card.gpu), live.power),
      });
    }
    this.set({ history });
  }

  addEvents(more) {
    const byId = new Map((this.state.events || []).map((e) => [e.id, e]));
    for (const event of more) byId.set(event.id, event);
    const events = [...byId.values()].sort((a, b) => b.id - a.id).slice(0, MAX_EVENTS);
    this.set({ events });
  }

  refreshJobs() {
    this.jobsAt = performance.now();
    get('/api/v1/jobs?limit=200').then(
      (body) => this.set({ jobs: toJobs(body) }),
      (error) => this.set({ fault: error }),
    );
  }
}

export const feed = new Feed();

export function useFeed() {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((n) => n + 1);
    feed.listeners.add(listener);
    return () => feed.listeners.delete(listener);
  }, []);
  return feed.state;
}

// Redraws every second, so that data which stops coming is seen to age.
export function useSecond() {
  const [, redraw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => redraw((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
}

// Seconds since the newest reading was taken, as far as this page knows; null before the first.
export function ageOf(state) {
  if (!state.now) return null;
  return state.now.ageS + (performance.now() - state.receivedAt) / 1000;
}
