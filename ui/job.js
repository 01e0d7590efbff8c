// One job: what it was, what it cost, what came of it, and what the findings say.
import { useEffect, useState } from '/vendor/hooks.js';
import { Curve } from '/charts.js';
import { get } from '/feed.js';
import { bytes, duration, energy, fixed, percent, plain, stamp } from '/format.js';
import { html } from '/html.js';
import { endText, Kept, Progress } from '/jobs.js';
import { toEvents, toExplanation, toJob } from '/model.js';
import { EventList, Panel, State, Trouble, Value } from '/parts.js';

const REFRESH_MS = 5000;
const MAX_EVENTS = 50;

// Job, explanation and events of one id; again while it runs, and when it has news.
function useJob(id) {
  const [data, setData] = useState({ job: null, explanation: null, events: null, error: null });
  useEffect(() => {
    let open = true;
    let timer = null;
    const load = async () => {
      try {
        const [job, explained] = await Promise.all([
          get(`/api/v1/jobs/${id}`),
          get(`/api/v1/explain/${id}`).catch((error) => ({ failed: error })),
        ]);
        if (!open) return;
        const next = toJob(job);
        setData({
          job: next,
          explanation: explained.failed ? explained : toExplanation(explained),
          events: toEvents(job.job).reverse().slice(0, MAX_EVENTS),
          error: null,
        });
        if (next.state === 'running' || next.state === 'queued') timer = setTimeout(load, REFRESH_MS);
      } catch (error) {
        if (open) setData((old) => ({ ...old, error }));
        if (open && error.code !== 'not found') timer = setTimeout(load, REFRESH_MS);
      }
    };
    setData({ job: null, explanation: null, events: null, error: null });
    load();
    return () => {
      open = false;
      clearTimeout(timer);
    };
  }, [id]);
  return data;
}

function Row({ label, children }) {
  return html`<div class="row"><dt>${label}</dt><dd>${children}</dd></div>`;
}

function When({ ms }) {
  return ms ? html`<time title=${new Date(ms).toISOString()}>${stamp(ms)}</time>` : '–';
}

function Facts({ job }) {
  const git = job.git && job.git.commit;
  return html`<${Panel} title="Facts" kind="job-facts">
    <dl>
      <${Row} label="command"><code class="wrap">${job.command.join(' ')}</code><//>
      ${job.cwd && html`<${Row} label="folder"><code class="wrap">${job.cwd}</code><//>`}
      <${Row} label="user">${job.user || '–'}<//>
      <${Row} label="cards">${job.gpus.length ? job.gpus.map((g) => `GPU ${g}`).join(', ') : '–'}<//>
      <${Row} label="started"><${When} ms=${job.startedMs} /><//>
      <${Row} label="ended"><${When} ms=${job.endedMs} /><//>
      ${endText(job) && html`<${Row} label="end">${endText(job)}<//>`}
      ${job.attempts.length > 1 && html`<${Row} label="attempts">${job.attempts.length}<//>`}
      ${git &&
      html`<${Row} label="git">
        <code title=${git}>${git.slice(0, 10)}</code> ${job.git.branch || ''}${job.git.dirty ? html` <span class="tag note">with changes</span>` : ''}
      <//>`}
    </dl>
  <//>`;
}

function Findings({ explanation }) {
  if (!explanation) return html`<${Panel} title="Findings"><p class="empty">Reading…</p><//>`;
  if (explanation.failed) {
    return html`<${Panel} title="Findings"><${Trouble} error=${explanation.failed} /><//>`;
  }
  return html`<${Panel} title="Findings" kind="findings">
    ${explanation.findings.length === 0 && html`<p class="empty">Nothing stands out so far.</p>`}
    ${explanation.findings.map(
      (f) => html`<article key=${f.id} class=${'finding sev-' + f.severity}>
        <p>${f.text}</p>
        ${f.cannotTell && html`<p class="cannot">Cannot tell: ${f.cannotTell}</p>`}
      </article>`,
    )}
  <//>`;
}

function Curves({ job }) {
  const [chosen, setChosen] = useState(null);
  if (!job.curves.length) {
    return html`<${Panel} title="Metrics"><p class="empty">The run told no metric.</p><//>`;
  }
  const wanted = chosen || (job.best && job.best.metric);
  const curve = job.curves.find((c) => c.name === wanted) || job.curves[0];
  const best =
    job.best && job.best.metric === curve.name && job.best.epoch !== null
      ? [job.best.epoch, job.best.value]
      : null;
  return html`<${Panel} title="Metrics" kind="metrics" aside=${`by ${curve.xLabel}`}>
    <div class="chips" role="tablist">
      ${job.curves.map(
        (c) => html`<button
          key=${c.name}
          role="tab"
          aria-selected=${c.name === curve.name}
          class=${c.name === curve.name ? 'on' : ''}
          onClick=${() => setChosen(c.name)}
        >
          ${c.name}
        </button>`,
      )}
    </div>
    <${Curve} points=${curve.points} best=${best} xLabel=${curve.xLabel} name=${curve.name} />
  <//>`;
}

function Use({ cards }) {
  if (!cards.length) return null;
  const cell = (value, show, why = 'not read during this job') =>
    html`<td class="num"><${Value} of=${value} why=${why} show=${show} /></td>`;
  return html`<${Panel} title="Cards in use" kind="use">
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>gpu</th>
            <th class="num">busy</th>
            <th class="num">mean</th>
            <th class="num">peak</th>
            <th class="num">energy</th>
            <th class="num">hottest</th>
            <th class="num" title="least degrees left before the card slows itself">margin</th>
            <th>slowed by</th>
          </tr>
        </thead>
        <tbody>
          ${cards.map(
            (c) => html`<tr key=${c.gpu}>
              <td>${c.gpu}</td>
              ${cell(c.busy, (v) => [percent(v), '%'])} ${cell(c.meanW, (v) => [fixed(v), 'W'])}
              ${cell(c.peakW, (v) => [fixed(v), 'W'])} ${cell(c.energyJ, energy)}
              ${cell(c.hottestC, (v) => [fixed(v), '°C'])} ${cell(c.marginC, (v) => `${fixed(v)}°`)}
              <td>
                ${c.throttle.length
                  ? c.throttle.map((t) => `${t.reason.replaceAll('_', ' ')} ${t.share}`).join(', ')
                  : html`<span class="sub">nothing</span>`}
              </td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
  <//>`;
}

function Checkpoints({ checkpoints }) {
  if (!checkpoints.length) {
    return html`<${Panel} title="Checkpoints"><p class="empty">None seen.</p><//>`;
  }
  return html`<${Panel} title="Checkpoints" kind="checkpoints">
    <div class="scroll">
      <table>
        <thead>
          <tr><th>state</th><th>file</th><th>role</th><th class="num">epoch</th><th class="num">size</th><th>copy verified</th></tr>
        </thead>
        <tbody>
          ${checkpoints.map(
            (c) => html`<tr key=${c.id}>
              <td><span class=${'ckpt ' + c.state} title=${c.reason || undefined}>${c.state}</span></td>
              <td class="file" title=${c.path}><bdi>${c.path.split('/').pop()}</bdi></td>
              <td>${c.role}</td>
              <td class="num"><${Value} of=${c.epoch} why="the run did not say" show=${plain} /></td>
              <td class="num"><${Value} of=${c.bytes} show=${bytes} /></td>
              <td>${c.verifiedMs ? html`<${When} ms=${c.verifiedMs} />` : html`<span class="absent" title="not verified yet">–</span>`}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
  <//>`;
}

function Headline({ job }) {
  const figure = (label, child) =>
    html`<div class="headline-figure"><span class="label">${label}</span>${child}</div>`;
  return html`<div class="headline">
    ${figure('wall', html`<b>${job.startedMs ? duration(job.wallS) : '–'}</b>`)}
    ${figure('energy', html`<b><${Value} of=${job.energyJ} why="no power reading of its cards" show=${energy} /></b>`)}
    ${figure(
      'best',
      job.best
        ? html`<b>${plain(job.best.value)}</b>
            <span class="sub">
              ${job.best.metric}${job.best.epoch !== null ? `, epoch ${plain(job.best.epoch)}` : ''}
            </span>`
        : html`<b><${Value} of=${null} why="the run told no metric" /></b>`,
    )}
    ${figure('checkpoints kept', html`<b><${Kept} checkpoints=${job.checkpoints} /></b>`)}
    ${figure('progress', html`<${Progress} job=${job} />`)}
  </div>`;
}

export function JobPage({ id }) {
  const { job, explanation, events, error } = useJob(id);
  useEffect(() => {
    document.title = job ? `${job.name || `job ${id}`} · Stoker` : 'Stoker';
    return () => {
      document.title = 'Stoker';
    };
  }, [job && job.name, id]);
  const back = html`<a class="back" href="#/">← all cards and jobs</a>`;
  if (!job) {
    return html`<main class="job">
      ${back} ${error ? html`<${Trouble} error=${error} />` : html`<p class="empty">Reading…</p>`}
    </main>`;
  }
  return html`<main class="job">
    ${back}
    <div class="job-title">
      <h2>${job.name || job.command[0]}</h2>
      <span class="sub">#${job.id}</span>
      <${State} of=${job.state} title=${endText(job)} />
      ${job.origin !== 'launched' && html`<span class="tag note">${job.origin}</span>`}
    </div>
    ${error && html`<${Trouble} error=${error} />`}
    <${Headline} job=${job} />
    <div class="columns">
      <div>
        <${Curves} job=${job} />
        <${Use} cards=${explanation && explanation.cards ? explanation.cards : []} />
        <${Checkpoints} checkpoints=${job.checkpointList} />
      </div>
      <div>
        <${Findings} explanation=${explanation} />
        <${Facts} job=${job} />
        <${Panel} title="Events"><${EventList} events=${events} withJobs=${false} /><//>
      </div>
    </div>
  </main>`;
}

