// JSX without a build step: html`<${Component} a=${b} />`.
import htm from '/vendor/htm.js';
import { h } from '/vendor/preact.js';

export const html = htm.bind(h);
