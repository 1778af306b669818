"""What a page owes to people who do not see it, cannot use a mouse, or read in poor light: checked in the browser.

Contrast is computed from what Chromium painted (WCAG 2.2 AA: 4.5, or 3 for large text); names, headings and labels from
the tree.
"""

from __future__ import annotations

TROUBLES = r"""
const found = [];
const visible = (e) => { const s = getComputedStyle(e); return s.visibility !== 'hidden' && s.display !== 'none' && e.getClientRects().length > 0; };
const name = (e) => (e.getAttribute('aria-label') || (e.labels && [...e.labels].map(l => l.textContent).join(' ')) || e.textContent || e.value || e.title || '').trim();
const say = (e, what) => found.push(what + ': ' + e.tagName.toLowerCase() + ' ' + (e.id || e.name || e.className || (e.textContent || '').trim().slice(0, 40)));

if (!document.documentElement.lang) found.push('no language');
if (!document.title.trim()) found.push('no title');
if (document.querySelectorAll('main').length !== 1) found.push('not one main');
const levels = [...document.querySelectorAll('h1,h2,h3,h4')].filter(visible).map(h => Number(h.tagName[1]));
if (levels.filter(l => l === 1).length !== 1) found.push('not one h1: ' + levels);
levels.forEach((l, i) => { if (i && l > levels[i - 1] + 1) found.push('a heading is skipped: ' + levels); });
for (const e of document.querySelectorAll('input:not([type=hidden]),select,textarea')) if (visible(e) && !name(e)) say(e, 'no label');
for (const e of document.querySelectorAll('button,a[href]')) if (visible(e) && !name(e)) say(e, 'no name');
for (const e of document.querySelectorAll('svg[role=img],img')) if (visible(e) && !(e.getAttribute('aria-label') || e.alt)) say(e, 'no words for a picture');
for (const e of document.querySelectorAll('th')) if (!e.scope) say(e, 'a heading cell without scope');
const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
ids.filter((id, i) => ids.indexOf(id) !== i).forEach(id => found.push('an id stands twice: ' + id));
for (const e of document.querySelectorAll('[tabindex]')) if (Number(e.getAttribute('tabindex')) > 0) say(e, 'a tab order of its own');

const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length > 3 ? m : [...m, 1]; };
const light = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }; return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
const behind = (e) => { for (let x = e; x; x = x.parentElement) { const c = parse(getComputedStyle(x).backgroundColor); if (c[3] > .99) return c; } return [255, 255, 255, 1]; };
for (const e of document.querySelectorAll('body *')) {
  if (!visible(e) || e.closest('svg') || ![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
  if (e.classList.contains('skip')) continue;
  const s = getComputedStyle(e), a = light(parse(s.color)), b = light(behind(e));
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  const large = parseFloat(s.fontSize) >= 24 || (parseFloat(s.fontSize) >= 18.66 && Number(s.fontWeight) >= 700);
  if (ratio < (large ? 3 : 4.5)) say(e, 'contrast ' + ratio.toFixed(2));
}
for (const e of document.querySelectorAll('button,input:not([type=hidden]),select')) {
  const r = e.getBoundingClientRect();
  if (visible(e) && e.type !== 'checkbox' && (r.width < 24 || r.height < 16)) say(e, 'too small to hit');
}
return [...new Set(found)];
"""

BROKEN_WORDS = r"""
const broken = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const node = walk.currentNode, element = node.parentElement;
  if (!element || element.closest('pre,code,textarea,svg,script,style,.code')) continue;
  const re = /[\p{L}\p{N}.,]+/gu;
  for (let m; (m = re.exec(node.textContent)); ) {
    if (m[0].length < 2 || m[0].length > 30) continue;
    const range = document.createRange();
    range.setStart(node, m.index); range.setEnd(node, m.index + m[0].length);
    const tops = new Set([...range.getClientRects()].filter(r => r.width > 0).map(r => Math.round(r.top)));
    if (tops.size > 1) broken.push(m[0]);
  }
}
return broken;
"""


def troubles(driver) -> list[str]:
    return driver.execute_script(TROUBLES)


def broken_words(driver) -> list[str]:
    """Words and numbers that stand on two lines."""
    return driver.execute_script(BROKEN_WORDS)
