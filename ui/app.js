// The page: a header that is always there, and below it the box or one job.
import { useEffect, useState } from '/vendor/hooks.js';
import { render } from '/vendor/preact.js';
import { Cards, Host } from '/box.js';
import { ageOf, feed, get, useFeed, useSecond } from '/feed.js';
import { clockTime, fixed } from '/format.js';
import { html } from '/html.js';
import { JobPage } from '/job.js';
import { Jobs } from '/jobs.js';
import { toSum } from '/model.js';
import { EventList, Panel, Trouble, Value } from '/parts.js';

const LATE_S = 3;
const FLOWS_EVERY_MS = 5000;
const RECENT_EVENTS = 30;

function useRoute() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const listener = () => {
      setHash(location.hash);
      scrollTo(0, 0);
    };
    addEventListener('hashchange', listener);
    return () => removeEventListener('hashchange', listener);
  }, []);
  const job = /^#\/jobs\/(\d+)$/.exec(hash);
  return job ? { job: Number(job[1]) } : {};
}

// Disk and network are kept by device and not in the live frame: their sums, every few seconds.
function useFlows() {
  const unknown = { value: null, why: 'not yet' };
  const [flows, setFlows] = useState({ disk: [unknown, unknown], net: [unknown, unknown] });
  useEffect(() => {
    const ask = (metric) =>
      get(`/api/v1/series?metric=${metric}&from=-30s&points=30`).then(
        (body) => ({ value: toSum(body), why: 'no reading in the last 30 s' }),
        (error) => ({ value: null, why: error.what }),
      );
    const load = async () => {
      if (document.hidden) return;
      const [read, written, received, sent] = await Promise.all([
        ask('disk_read_bytes_per_s'),
        ask('disk_written_bytes_per_s'),
        ask('net_received_bytes_per_s'),
        ask('net_sent_bytes_per_s'),
      ]);
      setFlows({ disk: [read, written], net: [received, sent] });
    };
    load();
    const timer = setInterval(load, FLOWS_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return flows;
}

function Live({ state }) {
  useSecond();
  const age = ageOf(state);
  let kind = 'ok';
  let words = 'live';
  if (age === null) {
    kind = 'late';
    words = state.link === 'lost' ? 'no answer' : 'joining';
  } else if (age > LATE_S) {
    kind = state.link === 'lost' ? 'off' : 'late';
    words = `${fixed(age)} s old`;
  }
  const title = state.link === 'lost' ? 'the connection is lost; trying again' : 'age of the newest reading';
  return html`<div class=${'live ' + kind} title=${title} role="status">
    <i></i><span>${words}</span>
    ${state.now && html`<time>${clockTime(state.now.atMs - state.now.ageS * 1000)}</time>`}
  </div>`;
}

function Top({ state }) {
  const { now } = state;
  const cards = now ? now.cards.length : 0;
  return html`<header class="top">
    <a class="brand" href="#/" title="all cards and jobs"><img src="/favicon.svg" alt="Stoker" /></a>
    <h1>${now ? now.hostname || 'no box yet' : ' '}</h1>
    ${now && now.simulated && html`<span class="badge">SIMULATED</span>`}
    ${cards > 0 &&
    html`<div class="total" title="sum over the cards that answer">
      <${Value} big of=${now.answering ? now.powerW : null} why="no card answers" show=${(v) => [fixed(v), 'W']} />
      <span class="sub">
        ${now.answering === cards ? `${cards} card${cards === 1 ? '' : 's'}` : `${now.answering} of ${cards} cards answer`}
      </span>
    </div>`}
    <${Live} state=${state} />
  </header>`;
}

function Overview({ state }) {
  useSecond();
  const flows = useFlows();
  const age = ageOf(state);
  const extraAge = age === null ? 0 : age - state.now.ageS;
  return html`<main>
    <${Cards} state=${state} extraAge=${extraAge} />
    ${state.now && html`<${Host} now=${state.now} flows=${flows} />`}
    <${Jobs} jobs=${state.jobs} />
    <${Panel} title="Events">
      <${EventList} events=${state.events && state.events.slice(0, RECENT_EVENTS)} />
    <//>
  </main>`;
}

function App() {
  const state = useFeed();
  const route = useRoute();
  return html`<${Top} state=${state} />
    ${state.fault && html`<${Trouble} error=${state.fault} />`}
    ${route.job ? html`<${JobPage} id=${route.job} />` : html`<${Overview} state=${state} />`}
    <footer class="foot">
      <a href="/api/v1/now">JSON</a> <a href="/metrics">OpenMetrics</a>
      <span>These pages only show; change things with the <code>stoker</code> command.</span>
    </footer>`;
}

render(html`<${App} />`, document.getElementById('app'));
feed.start();
