// Small parts that every view uses.
import { useEffect, useRef, useState } from '/vendor/hooks.js';
import { absenceText, stamp, withUnit } from '/format.js';
import { html } from '/html.js';

// A number with its unit, or a dash that says why there is none. Never 0 for an absence.
export function Value({ of, why, unit, show, big }) {
  if (of === null || of === undefined || Number.isNaN(of)) {
    return html`<span class="absent" title=${absenceText(why)}>–</span>`;
  }
  const shown = show ? show(of) : String(of);
  const [number, suffix] = Array.isArray(shown) ? shown : [shown, unit];
  if (big) {
    return html`<span class="big">${number}<span class="unit">${suffix}</span></span>`;
  }
  return html`<span>${withUnit(number, suffix)}</span>`;
}

// A thin bar from 0 to 1; nothing but the track where the value is absent.
export function Bar({ ratio, kind, label }) {
  const known = Number.isFinite(ratio);
  const width = known ? Math.max(0, Math.min(1, ratio)) * 100 : 0;
  return html`<span
    class="bar"
    role="meter"
    aria-label=${label}
    aria-valuemin="0"
    aria-valuemax="100"
    aria-valuenow=${known ? Math.round(width) : undefined}
    ><i class=${'fill ' + (kind || '')} style=${{ width: `${width}%` }}></i
  ></span>`;
}

export function Panel({ title, aside, children, kind }) {
  return html`<section class=${'panel ' + (kind || '')}>
    <header class="panel-head">
      <h2>${title}</h2>
      ${aside && html`<span class="aside">${aside}</span>`}
    </header>
    ${children}
  </section>`;
}

const STATE_WORDS = {
  queued: 'queued',
  running: 'running',
  succeeded: 'done',
  failed: 'failed',
  stopped: 'stopped',
  lost: 'lost',
};

export function State({ of, title }) {
  return html`<span class=${'state ' + of} title=${title}><i></i>${STATE_WORDS[of] || of}</span>`;
}

export function EventList({ events, withJobs = true, empty = 'Nothing recorded yet.' }) {
  if (!events) return html`<p class="empty">Reading…</p>`;
  if (!events.length) return html`<p class="empty">${empty}</p>`;
  return html`<ol class="events">
    ${events.map(
      (e) => html`<li key=${e.id} class=${'sev-' + e.severity}>
        <time title=${e.at}>${stamp(e.atMs)}</time>
        <span class="what" title=${e.kind}>${e.text}</span>
        ${withJobs && e.job && html`<a class="job-ref" href=${`#/jobs/${e.job}`}>#${e.job}</a>`}
      </li>`,
    )}
  </ol>`;
}

export function Trouble({ error }) {
  return html`<p class="notice" role="alert">
    <b>${error.what}</b>${error.where && html` <code>${error.where}</code>`}
    ${error.advice && html`<span class="advice">${error.advice}</span>`}
  </p>`;
}

// The width of the element in CSS pixels, so that charts draw text at its real size.
export function useWidth() {
  const ref = useRef(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const watcher = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    watcher.observe(element);
    setWidth(Math.floor(element.clientWidth));
    return () => watcher.disconnect();
  }, []);
  return [ref, width];
}
