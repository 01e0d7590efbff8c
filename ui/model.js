// The API's JSON as the views use it: the one place that knows its field names.
import { parseTime } from '/format.js';

// A set of readings by metric name, each a value or the reason why there is none.
class Readings {
  constructor(values, absent) {
    this.values = values || {};
    this.absent = absent || {};
  }
  reading(name) {
    const value = this.values[name];
    if (typeof value === 'number') return { value, why: null };
    return { value: null, why: this.absent[name] || 'unsupported' };
  }
  value(name) {
    return this.reading(name).value;
  }
}

const number = (x) => (typeof x === 'number' ? x : null);

function toCard(card) {
  const readings = new Readings(card.readings, card.absent);
  return {
    gpu: card.gpu,
    uuid: card.uuid,
    name: card.name,
    ageS: card.age_s,
    memoryBytes: number(card.memory_bytes),
    throttle: card.throttle || [],
    jobs: card.jobs || [],
    reading: (name) => readings.reading(name),
    value: (name) => readings.value(name),
  };
}

export function toNow(body) {
  const host = new Readings(body.host.readings, body.host.absent);
  const cards = body.cards.map(toCard);
  const facts = (body.box && body.box.facts) || {};
  const ages = cards.map((card) => card.ageS).concat(body.host.age_s);
  return {
    atMs: parseTime(body.at),
    hostname: body.box ? body.box.hostname : null,
    simulated: body.simulated,
    powerW: number(body.gpu_power_w),
    answering: body.cards_answering,
    cards,
    host,
    cores: (body.cores || []).map((value) => ({ value: number(value) })),
    memoryBytes: number(facts.memory_bytes),
    running: (body.running || []).map(toJobRow),
    ageS: Math.min(...ages.filter((age) => typeof age === 'number')),
  };
}

function toJobRow(job) {
  return {
    id: job.id,
    name: job.name,
    state: job.state,
    origin: job.origin,
    command: job.command || [],
    cwd: job.cwd,
    user: job.user,
    gpus: job.gpus || [],
    startedMs: parseTime(job.started_at),
    endedMs: parseTime(job.ended_at),
    exitCode: job.exit_code,
    signal: job.signal,
    reason: job.reason,
    wallS: job.wall_s,
    energyJ: number(job.gpu_energy_j),
    progress: number(job.progress_ratio),
    etaS: number(job.eta_s),
    lastEpoch: number(job.last_epoch),
    epochsPlanned: number(job.epochs_planned),
    best: job.best ? { ...job.best, epoch: number(job.best.epoch) } : null,
    checkpoints: job.checkpoints && !Array.isArray(job.checkpoints) ? job.checkpoints : { seen: 0, safe: 0 },
  };
}

export const toJobs = (body) => body.jobs.map(toJobRow);

function toCheckpoint(c) {
  const verified = (c.copies || []).map((copy) => parseTime(copy.verified_at)).filter(Boolean);
  return {
    id: c.id,
    path: c.path,
    role: c.role,
    epoch: number(c.epoch),
    bytes: number(c.bytes),
    state: c.state,
    reason: c.reason,
    verifiedMs: verified.length ? Math.min(...verified) : null,
  };
}

function toCurve(metric) {
  const byEpoch = metric.points.some((p) => typeof p.epoch === 'number');
  const byStep = !byEpoch && metric.points.some((p) => typeof p.step === 'number');
  const x = (p, i) => (byEpoch ? number(p.epoch) : byStep ? number(p.step) : i + 1);
  return {
    name: metric.name,
    xLabel: byEpoch ? 'epoch' : byStep ? 'step' : 'point',
    points: metric.points.map((p, i) => [x(p, i), number(p.value)]).filter(([px]) => px !== null),
  };
}

export function toJob(body) {
  const job = body.job;
  const list = Array.isArray(job.checkpoints) ? job.checkpoints : [];
  const safe = list.filter((c) => c.state === 'safe').length;
  return {
    ...toJobRow(job),
    ...(list.length && { checkpoints: { seen: list.length, safe } }),
    attempts: job.attempts || [],
    git: job.git || null,
    curves: (job.metrics || []).map(toCurve).filter((c) => c.points.length),
    checkpointList: list.map(toCheckpoint).reverse(),
  };
}

export function toEvents(body) {
  return body.events.map((e) => ({ ...e, atMs: parseTime(e.at) }));
}

export function toExplanation(body) {
  return {
    findings: (body.findings || []).map((f) => ({ ...f, cannotTell: f.cannot_tell })),
    cards: (body.cards || []).map((c) => ({
      gpu: c.gpu,
      busy: number(c.busy_mean_ratio),
      meanW: number(c.power_mean_w),
      peakW: number(c.power_peak_w),
      energyJ: number(c.energy_j),
      hottestC: number(c.temperature_max_c),
      marginC: number(c.margin_min_c),
      throttle: (c.throttle || []).map((t) => ({
        reason: t.reason,
        share: c.samples ? `${Math.round((t.samples / c.samples) * 100)} %` : '',
      })),
    })),
  };
}

// The lines of a metric by card number: [[t, mean]] in time order.
export function toLines(body) {
  const out = new Map();
  for (const series of body.series) {
    const card = /^GPU (\d+)$/.exec(series.label);
    if (!card) continue;
    const line = series.buckets.map((b) => [parseTime(b.from), b.count > 0 ? number(b.mean) : null]);
    out.set(Number(card[1]), line);
  }
  return out;
}

// The newest sum over all series: bytes a second of all disks, of all links.
export function toSum(body) {
  let sum = null;
  for (const series of body.series) {
    const bucket = series.buckets[series.buckets.length - 1];
    const value = bucket && number(bucket.last ?? bucket.mean);
    if (value !== null && value !== undefined) sum = (sum || 0) + value;
  }
  return sum;
}
