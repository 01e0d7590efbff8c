// Numbers and times as people read them. Absent values never come here: see Value in parts.js.

const SPACE = '\u202f'; // narrow no-break space between a number and its unit

export function withUnit(number, unit) {
  return unit ? number + SPACE + unit : number;
}

export function fixed(value, digits = 0) {
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

// Three significant digits or so, for values of unknown size.
export function plain(value) {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return fixed(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2);
  return fixed(value, size >= 100 ? 1 : size >= 1 ? 3 : 4);
}

export const percent = (ratio) => fixed(ratio * 100);

function scaled(value, units, step = 1000) {
  let i = 0;
  while (Math.abs(value) >= step && i + 1 < units.length) {
    value /= step;
    i += 1;
  }
  const digits = i === 0 || Math.abs(value) >= 99.95 || Math.abs(value % 1) < 0.05 ? 0 : 1;
  return [fixed(value, digits), units[i]];
}

export const bytes = (value) => scaled(value, ['B', 'KB', 'MB', 'GB', 'TB', 'PB']);
export const rate = (value) => scaled(value, ['B/s', 'KB/s', 'MB/s', 'GB/s']);

export function energy(joules) {
  return joules < 3600 ? [fixed(joules), 'J'] : scaled(joules / 3600, ['Wh', 'kWh', 'MWh']);
}

export function duration(seconds) {
  const s = Math.round(seconds);
  if (s < 60) return s + SPACE + 's';
  const m = Math.floor(s / 60);
  if (m < 60) return `${m}${SPACE}min ${String(s % 60).padStart(2, '0')}${SPACE}s`;
  const hours = Math.floor(m / 60);
  if (hours < 48) return `${hours}${SPACE}h ${String(m % 60).padStart(2, '0')}${SPACE}min`;
  return `${Math.floor(hours / 24)}${SPACE}d ${hours % 24}${SPACE}h`;
}

const pad = (n) => String(n).padStart(2, '0');

export function clockTime(ms) {
  const t = new Date(ms);
  return `${pad(t.getHours())}:${pad(t.getMinutes())}:${pad(t.getSeconds())}`;
}

// "06:35:12" today, "Oct 18 06:35" on other days.
export function stamp(ms, now = Date.now()) {
  const t = new Date(ms);
  if (t.toDateString() === new Date(now).toDateString()) return clockTime(ms);
  const month = t.toLocaleString('en-US', { month: 'short' });
  return `${month} ${t.getDate()} ${pad(t.getHours())}:${pad(t.getMinutes())}`;
}

export function parseTime(text) {
  if (!text) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

const ABSENCE = {
  unsupported: 'this device does not give it',
  denied: 'permission is missing',
  timeout: 'the device took too long to answer',
  lost: 'the device is lost: it fell off the bus or needs a reset',
  error: 'the read failed this time',
  'not yet': 'not read yet',
};

export function absenceText(reason) {
  return ABSENCE[reason] || reason || 'not recorded';
}
