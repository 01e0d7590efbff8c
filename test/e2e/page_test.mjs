// node --test page_test.mjs, with PAGE_SERVER and CHROMIUM naming programs; PICTURES names a folder
// for pictures of what was seen. Skips where one of the programs is absent.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Browser } from './browser.mjs';

const { PAGE_SERVER = '', CHROMIUM = '', PICTURES = '' } = process.env;
const missing = [PAGE_SERVER, CHROMIUM].some((program) => !program || !existsSync(program));
const options = { skip: missing && 'no page_server or no Chromium here', timeout: 120_000 };

let server;
let url;
let browser;

before(async () => {
  if (missing) return;
  server = spawn(PAGE_SERVER, [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: server.stdout });
  url = await new Promise((resolve, reject) => {
    lines.once('line', resolve);
    server.once('exit', (code) => reject(new Error(`page_server ended with ${code}`)));
  });
  browser = await Browser.open(CHROMIUM);
});

after(async () => {
  server?.stdin.end();
  await browser?.close();
});

async function keep(page, name) {
  if (PICTURES) writeFileSync(join(PICTURES, `${name}.png`), await page.picture());
}

const has = (selector) => `document.querySelector(${JSON.stringify(selector)})`;
const says = (selector, text) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].some((e) => e.innerText.includes(${JSON.stringify(text)}))`;

// No request left this machine, nothing was blocked by the policy, nothing threw.
function assertQuiet(page) {
  assert.deepEqual(page.complaints, []);
}

test('the box at a glance', options, async () => {
  const page = await browser.page({ width: 1280, height: 900 });
  await page.open(url);
  const text = await page.until(`document.querySelectorAll('.card').length === 8
    && ${says('.live', 'live')} && document.querySelectorAll('.jobs tbody tr').length === 6
    && document.querySelectorAll('.events li').length >= 6`);
  assert.match(text, /stokehold-01/);
  assert.match(text, /SIMULATED/);
  assert.match(text, /busy at 3\d % of its limit/, 'a card that is busy without working is marked');
  assert.match(text, /gen 5 ×16/);
  assert.match(text, /7 of 8 cards answer/);
  assert.match(text, /3\/4/, 'checkpoints kept');
  const rows = await page.evaluate(
    `[...document.querySelectorAll('.jobs .c-state')].map((e) => e.innerText.trim()).join()`,
  );
  assert.equal(rows, 'running,running,queued,stopped,failed,done');
  await keep(page, 'box-dark');
  assertQuiet(page);
  await page.close();
});

test('an absent value is a dash with its reason, never 0', options, async () => {
  const page = await browser.page({ width: 1280, height: 900 });
  await page.open(url);
  await page.until(`document.querySelectorAll('.card').length === 8`);
  const watts = `document.querySelectorAll('.card')[6].querySelector('.figure.power .absent')`;
  assert.equal(await page.evaluate(`${watts}.innerText`), '–');
  assert.match(await page.evaluate(`${watts}.title`), /too long to answer/);
  await page.close();
});

test('sparklines begin with the minutes before the page was opened, and go on', options, async () => {
  const page = await browser.page({ width: 1280, height: 900 });
  await page.open(url);
  const path = `${has('.card .line.busy')}.getAttribute('d')`;
  await page.until(`${path}.length > 1000`);
  const before = await page.evaluate(path);
  await page.until(`${path} !== ${JSON.stringify(before)}`);
  await page.close();
});

test('a job: facts, findings, curve with the best marked, checkpoints', options, async () => {
  const page = await browser.page({ width: 1280, height: 1000, scheme: 'light' });
  await page.open(url);
  await page.until(has('.c-name a[href="#/jobs/4"]'));
  await page.evaluate(`${has('.c-name a[href="#/jobs/4"]')}.click()`);
  const text = await page.until(`${has('.curve .best text')} && ${has('.finding')}`);
  assert.match(text, /target-1b-dishes-with-a-long-name/);
  assert.match(text, /best 0\.837/);
  assert.match(text, /python train\.py --data/);
  assert.match(text, /last\.safetensors/);
  assert.match(text, /shipping/);
  await page.evaluate(`[...document.querySelectorAll('.chips button')].find(
    (b) => b.innerText === 'train/loss').click()`);
  await page.until(says('.chips .on', 'train/loss'));
  assert.equal(await page.evaluate(`${has('.curve .best')} === null`), true);
  await keep(page, 'job-light');
  await page.evaluate(`${has('.back')}.click()`);
  await page.until(`document.querySelectorAll('.card').length === 8`);
  assertQuiet(page);
  await page.close();
});

test('a job that is not there is said in words', options, async () => {
  const page = await browser.page({ width: 1280, height: 900 });
  await page.open(`${url}#/jobs/4711`);
  assert.match(await page.until(has('.notice')), /4711/);
  await page.close();
});

test('on a phone everything fits the width', options, async () => {
  const page = await browser.page({ width: 390, height: 844, mobile: true });
  const views = [
    ['', `document.querySelectorAll('.jobs tbody tr').length === 6`],
    ['#/jobs/4', `${says('.job-title', 'target-1b')} && ${has('.finding')}`],
    ['#/jobs/5', `${says('.job-title', 'drafter')} && ${has('.finding')}`],
  ];
  for (const [hash, ready] of views) {
    await page.open(`${url}${hash}`);
    await page.until(ready);
    const [wide, seen] = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
    assert.ok(wide <= seen && seen === 390, `${hash || '/'} is ${wide} wide on ${seen}`);
    await keep(page, `phone${hash.replaceAll(/[#/]+/g, '-')}`);
  }
  assertQuiet(page);
  await page.close();
});

test('a new event appears by itself', options, async () => {
  const page = await browser.page({ width: 1280, height: 900, scheme: 'light' });
  await page.open(url);
  await page.until(`document.querySelectorAll('.events li').length >= 6`);
  server.stdin.write('event someone <b>opened</b> the door\n');
  const text = await page.until(says('.events li', 'opened'));
  assert.match(text, /someone <b>opened<\/b> the door/, 'text stays text');
  await keep(page, 'box-light');
  assertQuiet(page);
  await page.close();
});

test('readings that stop coming are seen to be old', options, async () => {
  const page = await browser.page({ width: 1280, height: 900 });
  await page.open(url);
  await page.until(has('.live.ok'));
  server.stdin.write('freeze\n');
  const text = await page.until(`${has('.live.late')} && document.querySelectorAll('.card.stale').length === 8`);
  assert.match(text, /\d s old/);
  await keep(page, 'box-stale');
  await page.close();
});
