// The machine: one panel a card, and the host.
import { Spark } from '/charts.js';
import { WINDOW_MS } from '/feed.js';
import { bytes, fixed, percent, rate, withUnit } from '/format.js';
import { html } from '/html.js';
import { Bar, Panel, Value } from '/parts.js';

const STALE_S = 3;
const NO_HISTORY = { busy: [], power: [] };
// A kernel that runs all the time and draws little power waits more than it works.
const BUSY = 0.9;
const LITTLE_POWER = 0.45;

const THROTTLE_WORDS = {
  power_cap: 'power cap',
  hw_slowdown: 'card slowed itself',
  sw_thermal: 'heat (driver)',
  hw_thermal: 'heat (card)',
  power_brake: 'power brake',
};

function Figure({ label, title, reading, show, unit, ratio, kind, note }) {
  return html`<div class=${'figure ' + kind}>
    <span class="label" title=${title}>${label}</span>
    <${Value} big of=${reading.value} why=${reading.why} show=${show} unit=${unit} />
    <span class="note">${note}</span>
    <${Bar} ratio=${ratio} kind=${kind} label=${label} />
  </div>`;
}

// `context` stands beside the label: what the value is to be held against.
function Fact({ label, context, title, children, kind }) {
  return html`<div class=${'fact ' + (kind || '')} title=${title}>
    <span class="label">${label}${context && html` <em>${context}</em>`}</span>
    <span class="fact-value">${children}</span>
  </div>`;
}

function Link({ card }) {
  const generation = card.reading('pcie_generation');
  const width = card.reading('pcie_width');
  if (generation.value === null || width.value === null) {
    return html`<${Value} of=${null} why=${generation.why || width.why} />`;
  }
  return `gen ${generation.value} ×${width.value}`;
}

function marginKind(margin) {
  if (margin === null) return '';
  return margin <= 2 ? 'bad' : margin <= 8 ? 'warn' : '';
}

function lowPower(card) {
  const busy = card.value('busy_ratio');
  const power = card.value('power_w');
  const limit = card.value('limit_w');
  if (busy === null || power === null || !limit) return null;
  return busy >= BUSY && power < LITTLE_POWER * limit ? power / limit : null;
}

function Card({ card, history, now, extraAge, names }) {
  const busy = card.reading('busy_ratio');
  const power = card.reading('power_w');
  const limit = card.reading('limit_w');
  const memory = card.reading('memory_used_bytes');
  const temperature = card.reading('temperature_c');
  const margin = card.reading('margin_c');
  const age = card.ageS + extraAge;
  const share = lowPower(card);
  const powerRatio = power.value !== null && limit.value ? power.value / limit.value : null;
  return html`<article class=${'card' + (age > STALE_S ? ' stale' : '')}>
    <header>
      <h3>GPU ${card.gpu}</h3>
      <span class="model" title=${card.uuid}>${card.name}</span>
      ${age > STALE_S &&
      html`<span class="tag warn" title="no newer reading">${fixed(age)} s old</span>`}
    </header>
    <div class="figures">
      <${Figure}
        label="busy"
        title="share of time in which a kernel ran: time, not effort"
        reading=${busy}
        show=${(v) => [percent(v), '%']}
        ratio=${busy.value}
        kind="busy"
      />
      <${Figure}
        label="watts"
        title="power of the board"
        reading=${power}
        show=${(v) => [fixed(v), 'W']}
        ratio=${powerRatio}
        kind="power"
        note=${limit.value !== null ? html`of ${fixed(limit.value)}` : ''}
      />
    </div>
    <${Spark} history=${history} now=${now} windowMs=${WINDOW_MS} limit=${limit.value} />
    <div class="facts">
      <${Fact}
        label="temp"
        context=${margin.value !== null && `${fixed(margin.value)}° left`}
        kind=${marginKind(margin.value)}
        title="temperature, and degrees left before the card slows itself"
      >
        <${Value} of=${temperature.value} why=${temperature.why} show=${(v) => [fixed(v), '°C']} />
      <//>
      <${Fact}
        label="memory"
        context=${card.memoryBytes && `of ${withUnit(...bytes(card.memoryBytes))}`}
        title="memory of the card in use"
      >
        <${Value} of=${memory.value} why=${memory.why} show=${bytes} />
      <//>
      <${Fact} label="link" title="PCIe link now"><${Link} card=${card} /><//>
    </div>
    <footer>
      ${card.throttle.map(
        (reason) => html`<span class="tag warn" key=${reason} title="a reason that costs speed is in force">
          ${THROTTLE_WORDS[reason] || reason.replaceAll('_', ' ')}
        </span>`,
      )}
      ${share !== null &&
      html`<span class="tag note" title="busy means that a kernel runs, not that the card works hard">
        busy at ${percent(share)} % of its limit
      </span>`}
      ${card.jobs.map(
        (id) => html`<a class="tag job" key=${id} href=${`#/jobs/${id}`}>${names.get(id) || `job ${id}`}</a>`,
      )}
      ${!card.jobs.length && html`<span class="idle">no job</span>`}
    </footer>
  </article>`;
}

export function Cards({ state, extraAge }) {
  const { now, history } = state;
  if (!now) return null;
  if (!now.cards.length) {
    return html`<p class="notice quiet">
      No GPU answers on this box. The host is shown alone; <code>stoker doctor</code> says why.
    </p>`;
  }
  const names = new Map(now.running.map((job) => [job.id, job.name]));
  return html`<div class="cards">
    ${now.cards.map(
      (card) => html`<${Card}
        key=${card.uuid}
        card=${card}
        history=${history.get(card.uuid) || NO_HISTORY}
        now=${now.atMs + extraAge * 1000}
        extraAge=${extraAge}
        names=${names}
      />`,
    )}
  </div>`;
}

function Cores({ cores }) {
  return html`<div class="cores" role="img" aria-label=${`${cores.length} cores`}>
    ${cores.map(
      (core, i) => html`<i
        key=${i}
        class=${core.value === null ? 'unknown' : ''}
        title=${`core ${i}: ${core.value === null ? '–' : percent(core.value) + ' %'}`}
        style=${{ height: `${core.value === null ? 100 : Math.max(4, core.value * 100)}%` }}
      ></i>`,
    )}
  </div>`;
}

function Gauge({ label, title, children, ratio, kind }) {
  return html`<div class="gauge" title=${title}>
    <span class="label">${label}</span>
    <span class="gauge-value">${children}</span>
    ${ratio !== undefined && html`<${Bar} ratio=${ratio} kind=${kind} label=${label} />`}
  </div>`;
}

function Pressure({ host }) {
  const one = (word, name) => {
    const reading = host.reading(name);
    return html`<span class="part" title=${`share of time some task waited for ${word}`}>
      <span class="sub">${word}</span>
      <${Value} of=${reading.value} why=${reading.why} show=${(v) => [percent(v), '%']} />
    </span>`;
  };
  return html`<${Gauge} label="waiting for" title="pressure: share of time in which some task waited">
    ${one('cpu', 'pressure_cpu_ratio')} ${one('io', 'pressure_io_ratio')}
    ${one('memory', 'pressure_memory_ratio')}
  <//>`;
}

function Flow({ label, title, words, readings }) {
  return html`<${Gauge} label=${label} title=${title}>
    ${words.map(
      (word, i) => html`<span class="part" key=${word}>
        <span class="sub">${word}</span>
        <${Value} of=${readings[i].value} why=${readings[i].why} show=${rate} />
      </span>`,
    )}
  <//>`;
}

export function Host({ now, flows }) {
  const { host, cores, memoryBytes } = now;
  const cpu = host.reading('cpu_busy_ratio');
  const load = host.reading('load_1m');
  const used = host.reading('host_memory_used_bytes');
  const self = host.reading('serve_cpu_ratio');
  return html`<${Panel}
    title="Host"
    kind="host"
    aside=${self.value !== null && html`Stoker itself: ${fixed(self.value * 100, 1)} % of a core`}
  >
    <div class="gauges">
      <${Gauge} label="cpu" title="share of time the cores worked" ratio=${cpu.value} kind="cpu">
        <${Value} of=${cpu.value} why=${cpu.why} show=${(v) => [percent(v), '%']} />
        <span class="sub" title="load average over one minute">
          load <${Value} of=${load.value} why=${load.why} show=${(v) => fixed(v, 1)} />
        </span>
      <//>
      <div class="gauge wide">
        <span class="label">${cores.length} core${cores.length === 1 ? '' : 's'}</span>
        <${Cores} cores=${cores} />
      </div>
      <${Gauge}
        label="memory"
        title="host memory that is not available to programs"
        ratio=${memoryBytes && used.value !== null ? used.value / memoryBytes : null}
        kind="memory"
      >
        <${Value} of=${used.value} why=${used.why} show=${bytes} />
        ${memoryBytes && html`<span class="sub">of ${withUnit(...bytes(memoryBytes))}</span>`}
      <//>
      <${Pressure} host=${host} />
      <${Flow} label="disk" title="bytes a second, all disks" words=${['read', 'write']} readings=${flows.disk} />
      <${Flow} label="network" title="bytes a second, all links" words=${['in', 'out']} readings=${flows.net} />
    </div>
  <//>`;
}
