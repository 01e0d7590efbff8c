// A headless Chromium, driven over a pipe by its own protocol: no package needed.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FLAGS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--remote-debugging-pipe',
];
const LIMIT_MS = 60_000;

export class Browser {
  static async open(program) {
    const browser = new Browser();
    browser.folder = mkdtempSync(join(tmpdir(), 'stoker-page-'));
    browser.process = spawn(program, [...FLAGS, `--user-data-dir=${browser.folder}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      detached: true,
    });
    browser.answers = new Map();
    browser.listeners = new Set();
    browser.lastId = 0;
    browser.gone = new Promise((resolve) => browser.process.once('exit', resolve));
    browser.gone.then(() => browser.#fail('the browser ended'));
    browser.#listen();
    return browser;
  }

  #listen() {
    let text = '';
    this.process.stdio[4].setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      for (let end = text.indexOf('\0'); end >= 0; end = text.indexOf('\0')) {
        const message = JSON.parse(text.slice(0, end));
        text = text.slice(end + 1);
        if (message.id) this.answers.get(message.id)?.(message);
        else for (const listener of this.listeners) listener(message);
      }
    });
  }

  #kill() {
    try {
      process.kill(-this.process.pid, 'SIGKILL');
    } catch {
      // The group is gone already.
    }
  }

  #fail(why) {
    for (const [id, answer] of this.answers) answer({ id, error: { message: why } });
  }

  send(method, params = {}, sessionId = undefined) {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} took too long`)), LIMIT_MS);
      this.answers.set(id, (message) => {
        clearTimeout(timer);
        this.answers.delete(id);
        if (message.error) reject(new Error(`${method}: ${message.error.message}`));
        else resolve(message.result);
      });
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        this.#fail('the browser has ended');
        return;
      }
      this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    });
  }

  // A page of its own; what it complains about is collected in `complaints`.
  async page({ width, height, scheme = 'dark', mobile = false }) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.listeners.add((message) => {
      if (message.sessionId === sessionId) page.hear(message);
    });
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.send(`${domain}.enable`);
    const metrics = { width, height, deviceScaleFactor: mobile ? 2 : 1, mobile };
    await page.send('Emulation.setDeviceMetricsOverride', metrics);
    await page.send('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    });
    return page;
  }

  async close() {
    // Politely first, so that its helper processes write no more; then the whole group.
    const patience = setTimeout(() => this.#kill(), 10_000);
    this.send('Browser.close').catch(() => {});
    await this.gone;
    clearTimeout(patience);
    this.#kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

class Page {
  constructor(browser, sessionId, targetId) {
    Object.assign(this, { browser, sessionId, targetId, complaints: [] });
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  hear({ method, params }) {
    if (method === 'Runtime.exceptionThrown') {
      this.complaints.push(params.exceptionDetails.exception?.description || 'an exception');
    }
    if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level)) {
      this.complaints.push(params.entry.text);
    }
  }

  open(url) {
    return this.send('Page.navigate', { url });
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || expression);
    return result.value;
  }

  // Waits in the page, by its own frames, until the expression is true; then returns the text.
  async until(expression, limitMs = 30_000) {
    return this.evaluate(`new Promise((resolve, reject) => {
      const end = performance.now() + ${limitMs};
      const look = () => {
        let good = false;
        try { good = Boolean(${expression}); } catch { good = false; }
        if (good) resolve(document.body.innerText);
        else if (performance.now() > end) reject(new Error(${JSON.stringify(expression)} +
          ' never became true; the page says: ' + document.body.innerText.slice(0, 2000)));
        else setTimeout(look, 50);
      };
      look();
    })`);
  }

  async picture() {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(data, 'base64');
  }

  close() {
    return this.browser.send('Target.closeTarget', { targetId: this.targetId });
  }
}
