// Line charts as SVG. A gap in the data is a gap in the line.
import { plain } from '/format.js';
import { html } from '/html.js';
import { useWidth } from '/parts.js';

// "M…L…" through points [x, y]; a null y, or a jump in x of more than `gap`, lifts the pen.
export function linePath(points, toX, toY, gap = Infinity) {
  let path = '';
  let down = false;
  let last = null;
  for (const [x, y] of points) {
    if (y === null || !Number.isFinite(y)) {
      down = false;
      continue;
    }
    if (down && x - last > gap) down = false;
    path += `${down ? 'L' : 'M'}${toX(x).toFixed(1)} ${toY(y).toFixed(1)}`;
    // A lone point is drawn as a dot by its round cap.
    if (!down) path += 'h.01';
    down = true;
    last = x;
  }
  return path;
}

// Busy and watts of one card over the last minutes, on one scale: 0 to 1, and 0 to the limit.
export function Spark({ history, now, windowMs, limit }) {
  const width = 300;
  const height = 44;
  const toX = (t) => ((t - (now - windowMs)) / windowMs) * width;
  const toY = (ratio) => 1.5 + (1 - Math.max(0, Math.min(1.02, ratio))) * (height - 3);
  const seen = (line) => line.filter((p) => p[0] >= now - windowMs);
  const busy = seen(history.busy);
  const watts = seen(history.power);
  const scale = limit || Math.max(1, ...watts.map((p) => p[1] || 0));
  const power = watts.map(([t, value]) => [t, value === null ? null : value / scale]);
  const gap = 15000;
  return html`<svg
    class="spark"
    viewBox=${`0 0 ${width} ${height}`}
    preserveAspectRatio="none"
    role="img"
    aria-label="busy and watts over the last 5 minutes"
  >
    <line class="base" x1="0" x2=${width} y1=${height - 0.5} y2=${height - 0.5} />
    <path class="line busy" d=${linePath(busy, toX, toY, gap)} />
    <path class="line power" d=${linePath(power, toX, toY, gap)} />
  </svg>`;
}

// About `count` round numbers that span [low, high].
export function ticks(low, high, count) {
  const span = high - low || Math.abs(high) || 1;
  const raw = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || raw;
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) {
    out.push(Number((k * step).toPrecision(12)));
  }
  return out;
}

function extent(values, pad) {
  let low = Infinity;
  let high = -Infinity;
  for (const v of values) {
    if (!Number.isFinite(v)) continue;
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  if (low > high) return null;
  const margin = (high - low || Math.abs(high) || 1) * pad;
  return [low - margin, high + margin];
}

const tickText = (v) => (Math.abs(v) < 1e-3 && v !== 0 ? v.toExponential() : v.toLocaleString('en-US'));

// One metric of a run; `best` is [x, y] or null.
export function Curve({ points, best, xLabel, name }) {
  const [ref, width] = useWidth();
  const height = width && width < 480 ? 200 : 240;
  const x = extent(points.map((p) => p[0]), 0);
  const y = extent(points.map((p) => p[1]), 0.08);
  return html`<div class="curve" ref=${ref}>
    ${width > 0 && x && y
      ? html`<${CurveSvg} ...${{ points, best, xLabel, name, width, height, x, y }} />`
      : html`<p class="empty">No finite values.</p>`}
  </div>`;
}

function CurveSvg({ points, best, xLabel, name, width, height, x, y }) {
  const left = 56;
  const right = 14;
  const top = 12;
  const bottom = 26;
  const xSpan = x[1] - x[0] || 1;
  const toX = (v) => left + ((v - x[0]) / xSpan) * (width - left - right);
  const toY = (v) => top + (1 - (v - y[0]) / (y[1] - y[0])) * (height - top - bottom);
  const flip = best && toX(best[0]) > width - 130;
  return html`<svg width=${width} height=${height} role="img" aria-label=${`${name} by ${xLabel}`}>
    ${ticks(y[0], y[1], height / 42).map(
      (v) => html`<g key=${'y' + v}>
        <line class="grid" x1=${left} x2=${width - right} y1=${toY(v)} y2=${toY(v)} />
        <text class="tick" x=${left - 8} y=${toY(v) + 3.5} text-anchor="end">${tickText(v)}</text>
      </g>`,
    )}
    ${ticks(x[0], x[1], Math.min(width / 80, xSpan)).map(
      (v) => html`<text class="tick" key=${'x' + v} x=${toX(v)} y=${height - 8} text-anchor="middle">
        ${tickText(v)}
      </text>`,
    )}
    <path class="line metric" d=${linePath(points, toX, toY)} />
    ${best &&
    html`<g class="best">
      <line x1=${toX(best[0])} x2=${toX(best[0])} y1=${toY(best[1])} y2=${height - bottom} />
      <circle cx=${toX(best[0])} cy=${toY(best[1])} r="4" />
      <text
        x=${toX(best[0]) + (flip ? -9 : 9)}
        y=${Math.max(toY(best[1]) - 8, 11)}
        text-anchor=${flip ? 'end' : 'start'}
      >
        best ${plain(best[1])}
      </text>
    </g>`}
  </svg>`;
}
