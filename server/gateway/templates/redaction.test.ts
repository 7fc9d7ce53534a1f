import assert from 'node:assert/strict';
import test from 'node:test';
import { redactBytes, redactText } from './redaction.ts';

const one = (value: string) => new Map([['TOKEN', value]]);
/** Twenty letters of a value in a row, in any form, would be enough to use or to guess it. */
const hides = (text: string, value: string) => {
  const clean = redactText(text, one(value));
  assert.ok(clean.includes('[redacted:secret:TOKEN]'), `${text} became ${clean}`);
  return clean;
};

const AWS = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY+a=';
const ODD = `p&s<w>o"r'd\\ é☃😀 ${'~!*()'}`;

test('a value is masked however an upstream writes it back', () => {
  for (const value of [AWS, ODD, 'line one\nline two\nline three']) {
    const bytes = Buffer.from(value);
    const units = Array.from({ length: value.length }, (_, i) => `\\u${value.charCodeAt(i).toString(16).padStart(4, '0')}`);
    const forms: Record<string, string> = {
      plain: value,
      json: JSON.stringify({ v: value }),
      'json of PHP': JSON.stringify({ v: value }).replaceAll('/', '\\/'),
      'json in ASCII': JSON.stringify(value).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
      'json of Go': JSON.stringify(value).replace(/[<>&]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`),
      'marks as units': Array.from({ length: value.length }, (_, i) => (/[A-Za-z0-9]/.test(value[i] ?? '') ? value[i] : units[i])).join(''),
      query: new URLSearchParams({ v: value }).toString(),
      percent: encodeURIComponent(value),
      'percent, small': encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()),
      'percent of RFC 3986': encodeURIComponent(value).replace(/[!'()*~]/g, (c) => `%${c.charCodeAt(0).toString(16)}`),
      html: value.replace(/[&<>"']/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c] ?? c),
      'html, hex': value.replace(/[&<>"'/+=]/g, (c) => `&#x${c.charCodeAt(0).toString(16).toUpperCase()};`),
      hex: bytes.toString('hex'),
      'hex, large': bytes.toString('hex').toUpperCase(),
    };
    for (const [form, text] of Object.entries(forms)) {
      const clean = hides(`{"seen":"${text}"}`, value);
      assert.equal(/EXAMPLEKEY|p&s|w>o|line two|☃|4558414d/i.test(clean), false, `${form}: ${clean}`);
    }
  }
});

test('base64 of a text that holds a value shows at most what it shares with its neighbours', () => {
  const value = 'correct-horse-battery-staple/42+é';
  for (const before of ['', 'u', 'us', 'user:', 'user-1:'])
    for (const after of ['', '\n', '\n-', ' and more'])
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = Buffer.from(before + value + after).toString(encoding);
        for (const written of [text, text.replaceAll('/', '\\/'), encodeURIComponent(text)]) {
          const clean = hides(`Basic ${written}`, value);
          const left = clean.replace('Basic ', '').replace('[redacted:secret:TOKEN]', '');
          const found = Buffer.from(decodeURIComponent(left), 'base64').toString('latin1');
          assert.ok(!/orrec|horse|batter|stap/.test(found), `${before}|${after}: ${clean}`);
        }
      }
});

test('a value with blanks around it is masked where a header goes without them', () => {
  assert.equal(redactText('hunter2-secret', one(' hunter2-secret\t'), 1), '[redacted:secret:TOKEN]');
});

test('a value that went out in Latin-1 is masked when the same bytes come back', () => {
  const clean = redactBytes(Buffer.from('x pässwörd-123 y', 'latin1'), one('pässwörd-123'));
  assert.equal(clean.toString('latin1'), 'x [redacted:secret:TOKEN] y');
});

test('what is no secret stays as it is, also bytes that are no text', () => {
  const bytes = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 31) % 256));
  assert.deepEqual(redactBytes(bytes, one('correct-horse')), bytes);
  assert.equal(redactText('a $& $1 \\ [x] (y)', one('(y)+$&-not-there')), 'a $& $1 \\ [x] (y)');
  assert.equal(redactText('the cat', one('a'), 1), 'the c[redacted:secret:TOKEN]t');
});

test('the longest value in the largest body is masked in every form, and takes no time to speak of', () => {
  const lines = Array.from({ length: 1_500 }, (_, i) => `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCB+/${i}\n`);
  const value = `-----BEGIN PRIVATE KEY-----\n${lines.join('')}-----END PRIVATE KEY-----`;
  assert.ok(value.length > 55_000);
  const began = performance.now();
  assert.equal(redactText(`<${value}>`, one(value)), '<[redacted:secret:TOKEN]>');
  assert.equal(redactText(JSON.stringify(value), one(value)), '"[redacted:secret:TOKEN]"');
  assert.ok(
    !/MII|QIBAD/.test(redactText(Buffer.from(`u:${value}`).toString('base64'), one(value)).replaceAll('[redacted:secret:TOKEN]', '')),
  );
  const other = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCB+/x\n'.repeat(25_000);
  assert.equal(redactText(other, one(value)), other);
  const took = performance.now() - began;
  assert.ok(took < 4_000, `${took} ms`);
});
