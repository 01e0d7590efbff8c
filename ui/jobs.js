// The table of jobs: running first, then waiting, then what ended, newest first.
import { useState } from '/vendor/hooks.js';
import { duration, energy, plain, stamp } from '/format.js';
import { html } from '/html.js';
import { Bar, Panel, State, Value } from '/parts.js';

const ORDER = { running: 0, queued: 1 };
const FIRST_ROWS = 12;

export function sortJobs(jobs) {
  const rank = (job) => ORDER[job.state] ?? 2;
  return [...jobs].sort((a, b) => rank(a) - rank(b) || b.id - a.id);
}

export function endText(job) {
  if (job.reason) return job.reason;
  if (job.signal) return `ended by signal ${job.signal}`;
  if (job.exitCode !== null && job.exitCode !== undefined) return `exit code ${job.exitCode}`;
  return undefined;
}

export function Kept({ checkpoints }) {
  const { seen, safe } = checkpoints;
  if (!seen) return html`<span class="absent" title="no checkpoint was seen">–</span>`;
  const all = safe >= seen;
  return html`<span
    class=${'kept ' + (all ? 'all' : 'some')}
    title=${`${safe} of ${seen} checkpoints are verified off the job's folder`}
    >${safe}/${seen}</span
  >`;
}

export function Progress({ job }) {
  if (job.progress === null) {
    const why = job.state === 'queued' ? 'waits for cards' : 'the run does not say how long it will be';
    return html`<span class="absent" title=${why}>–</span>`;
  }
  const left = job.state === 'running' && job.etaS !== null ? `${duration(job.etaS)} left` : '';
  const epochs =
    job.lastEpoch !== null && job.epochsPlanned !== null
      ? `${plain(job.lastEpoch)}/${plain(job.epochsPlanned)}`
      : `${Math.round(job.progress * 100)} %`;
  return html`<span class="progress" title=${left && `about ${left}`}>
    <${Bar} ratio=${job.progress} kind=${job.state === 'running' ? 'run' : 'done'} label="progress" />
    <span class="sub">${epochs}${left && html` <span class="left">· ${left}</span>`}</span>
  </span>`;
}

function BestCell({ best }) {
  if (!best) return html`<span class="absent" title="the run told no metric">–</span>`;
  const at = best.epoch !== null && best.epoch !== undefined ? ` at epoch ${plain(best.epoch)}` : '';
  return html`<span title=${`${best.metric}${at}`}>
    ${plain(best.value)} <span class="sub">${best.metric}</span>
  </span>`;
}

function Row({ job }) {
  const started = job.startedMs ? `started ${stamp(job.startedMs)}` : 'not started';
  return html`<tr>
    <td class="c-state"><${State} of=${job.state} title=${endText(job)} /></td>
    <td class="c-name">
      <a href=${`#/jobs/${job.id}`} title=${job.command.join(' ')}>${job.name || job.command[0]}</a>
      <span class="sub" title=${started}>#${job.id}</span>
    </td>
    <td class="c-gpus" data-label="gpu">${job.gpus.length ? job.gpus.join(' ') : html`<span class="absent" title="no card asked for">–</span>`}</td>
    <td class="c-progress"><${Progress} job=${job} /></td>
    <td class="c-best" data-label="best"><${BestCell} best=${job.best} /></td>
    <td class="c-kept num" data-label="kept"><${Kept} checkpoints=${job.checkpoints} /></td>
    <td class="c-wall num" data-label="wall">
      ${job.startedMs ? duration(job.wallS) : html`<span class="absent" title="not started">–</span>`}
    </td>
    <td class="c-energy num" data-label="energy">
      <${Value} of=${job.energyJ} why="no power reading of its cards" show=${energy} />
    </td>
  </tr>`;
}

export function Jobs({ jobs }) {
  const [all, setAll] = useState(false);
  if (!jobs) return html`<${Panel} title="Jobs"><p class="empty">Reading…</p><//>`;
  const sorted = sortJobs(jobs);
  const shown = all ? sorted : sorted.slice(0, FIRST_ROWS);
  const running = jobs.filter((job) => job.state === 'running').length;
  const queued = jobs.filter((job) => job.state === 'queued').length;
  const aside = `${running} running${queued ? `, ${queued} waiting` : ''}`;
  if (!jobs.length) {
    return html`<${Panel} title="Jobs">
      <p class="empty">No job yet. <code>stoker run -- python train.py</code> starts one.</p>
    <//>`;
  }
  return html`<${Panel} title="Jobs" kind="jobs" aside=${aside}>
    <table>
      <thead>
        <tr>
          <th>state</th>
          <th>job</th>
          <th>gpu</th>
          <th>progress</th>
          <th>best</th>
          <th class="num" title="checkpoints verified off the job's folder / seen">kept</th>
          <th class="num">wall</th>
          <th class="num">energy</th>
        </tr>
      </thead>
      <tbody>
        ${shown.map((job) => html`<${Row} key=${job.id} job=${job} />`)}
      </tbody>
    </table>
    ${sorted.length > FIRST_ROWS &&
    html`<button class="more" onClick=${() => setAll(!all)}>
      ${all ? 'Show fewer' : `Show all ${sorted.length}`}
    </button>`}
  <//>`;
}
