import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { indented, SPELLINGS } from './encodings.fixture.ts';
import { patientFinder, patientRedactor, redactor, textRedactor } from './redaction.ts';

const one = (value: string) => new Map([['TOKEN', value]]);
const MARK = '[redacted:secret:TOKEN]';
const redacted = (text: string, value: string, shortest?: number) => textRedactor(one(value), shortest)(text);

const AWS = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY+a=';
const ODD = `p&s<w>o"r'd\\ é☃😀 ${'~!*()'}`;
const LINES = 'line one of it\nline two of it\nline three';
const VALUES = [AWS, ODD, LINES, 'hunter2'];

test('a value is masked in every spelling of a writer, at any place in a text', () => {
  for (const value of VALUES)
    for (const [name, spell] of Object.entries(SPELLINGS)) {
      const isBytes = name === 'UTF-16';
      const written = spell(value, Buffer.from(value));
      // What stands around it ends no number and no base64, as in `0` + hex or `user` + base64, where the writer put nothing between.
      for (const [before, after] of [
        ['', ''],
        ['seen: ', ' .'],
        ['{"seen":[', ']}'],
      ] as const) {
        const text = Buffer.from(`${before}${written}${after}`, isBytes ? 'latin1' : 'utf8');
        const clean = redactor(one(value))(text).toString('latin1');
        assert.ok(clean.includes(MARK), `${name}: ${clean}`);
        const left = clean.replaceAll(MARK, '').replace(before, '').replace(after, '');
        // What the writer put around it stays, such as `{"type":"Buffer","data":[]}`.
        assert.ok(left.length <= 40, `${name} leaves ${left} of ${written}`);
      }
    }
});

test('base64 of a text that holds a value shows nothing of the value', () => {
  const value = 'correct-horse-battery-staple/42+é';
  for (const before of ['', 'u', 'us', 'user:', 'user-1:'])
    for (const after of ['', '\n', '\n-', ' and more'])
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = Buffer.from(before + value + after).toString(encoding);
        for (const written of [text, text.replaceAll('/', '\\/'), encodeURIComponent(text)]) {
          const clean = redacted(`Basic ${written}`, value);
          assert.ok(clean.includes(MARK), clean);
          const found = Buffer.from(decodeURIComponent(clean.replace('Basic ', '').replace(MARK, '')), 'base64').toString('latin1');
          assert.ok(!/orrec|horse|batter|stap/.test(found), `${before}|${after}: ${clean}`);
        }
      }
});

test('a long fragment of a value is masked as well, a short one is not', () => {
  const value = 'k3y-0f-40-charact3rs-that-nobody-guesses';
  assert.equal(redacted(`${value.slice(0, 16)} ${value.slice(20, 39)}`, value), `${MARK} ${MARK}`);
  assert.equal(redacted(value.slice(0, 15), value), value.slice(0, 15));
});

test('credentials for Basic are masked when they come back decoded', () => {
  const value = Buffer.from('billing:s3cr3t-pass').toString('base64');
  assert.equal(redacted('{"user":"billing","password":"s3cr3t-pass"}', value), `{"user":"billing","password":"${MARK}"}`);
});

test('a value with blanks around it is masked where a header goes without them', () => {
  assert.equal(redacted('hunter2-secret', ' hunter2-secret\t', 1), MARK);
});

test('a value that went out in Latin-1 is masked when the same bytes come back', () => {
  const clean = redactor(one('pässwörd-123'))(Buffer.from('x pässwörd-123 y', 'latin1'));
  assert.equal(clean.toString('latin1'), `x ${MARK} y`);
});

test('of two values in the same place the longer one gives the name', () => {
  const both = new Map([
    ['SHORT', 'battery-staple'],
    ['LONG', 'correct-horse-battery-staple'],
  ]);
  assert.equal(textRedactor(both)('correct-horse-battery-staple battery-staple'), '[redacted:secret:LONG] [redacted:secret:SHORT]');
});

test('what is no secret stays as it is, also bytes that are no text', () => {
  const bytes = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 31) % 256));
  assert.equal(redactor(one('correct-horse'))(bytes), bytes);
  assert.equal(redacted('a $& $1 \\ [x] (y)', '(y)+$&-not-there'), 'a $& $1 \\ [x] (y)');
  assert.equal(redacted('the cat', 'a', 1), `the c${MARK}t`);
  assert.equal(redacted('anything', ''), 'anything');
});

test('the longest value in the longest text is masked in every form', () => {
  const lines = Array.from({ length: 1_500 }, (_, i) => `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCB+/${i}\n`);
  const value = `-----BEGIN PRIVATE KEY-----\n${lines.join('')}-----END PRIVATE KEY-----`;
  assert.ok(value.length > 55_000);
  const redact = textRedactor(one(value));
  assert.equal(redact(`<${value}>`), `<${MARK}>`);
  assert.equal(redact(JSON.stringify(value)), `"${MARK}"`);
  assert.equal(redact(indented(value, 64)), MARK);
  assert.ok(!/MII|QIBAD/.test(redact(Buffer.from(`u:${value}`).toString('base64')).replaceAll(MARK, '')));
});

test('the time is linear in the text and does not depend on how many secrets there are', async () => {
  const values = Array.from({ length: 64 }, (_, i) => [`S${i}`, `${'ab'.repeat(20_000)}${i}`] as const);
  const few = textRedactor(one(`${'a'.repeat(30_000)}b${'a'.repeat(30_000)}`));
  const many = textRedactor(new Map(values));
  const nested = (text: string) => Buffer.from(Buffer.from(text).toString('base64')).toString('base64');
  const worst = ['a', '%25', '\\u005c', '&#38;', '115,', '0x', '=3D', '\\', '{"', 'a ', 'ab'];
  const texts = worst.map((piece) => (size: number) => piece.repeat(size / piece.length));
  for (const text of [...texts, (size: number) => nested('a%41'.repeat(size / 8))])
    for (const redact of [few, many]) await assertGrowsLinearly(text(20), 20_000, text, redact);
  await assertGrowsLinearly(
    'secrets and text',
    values.length,
    (size) => ({ redact: textRedactor(new Map(values.slice(0, size))), text: 'ab'.repeat(500 * size) }),
    ({ redact, text }) => redact(text),
  );
});

// Found by a search for the slowest text: each part can be read in many ways, and what comes out in many again.
const SLOWEST = `=3D${'bytes'.repeat(4)}${'V'.repeat(34)}   ${'41'.repeat(16)}565656${'V'.repeat(24)}3737+\\${'VlZW'.repeat(3)}aa%25${':'.repeat(17)}${'56'.repeat(14)}VV%`;

test('a patient search answers as the other does, lets others go first and gives up on texts made to be slow', async () => {
  const secrets = one('correct-horse-battery-staple');
  const patient = patientRedactor(secrets);
  const text = Buffer.from(JSON.stringify({ a: 'correct-horse-battery-staple', b: 'x+y%20z'.repeat(20_000) }));
  assert.deepEqual(await patient(text), redactor(secrets)(text));
  const same = Buffer.from('nothing here');
  assert.equal(await patient(same), same);

  let turns = 0;
  let watching = true;
  const watch = () => {
    turns++;
    if (watching) setImmediate(watch);
  };
  setImmediate(watch);
  const worst = Buffer.from(SLOWEST.repeat(2_000).slice(0, 264 * 1024));
  assert.deepEqual(await Promise.all([patient(worst), patientRedactor(secrets)(worst)]), [null, null]);
  watching = false;
  assert.ok(turns > 20, `others had ${turns} turns`);
});

test('as many values as one call can reveal are looked for without keeping anybody waiting, and more than that not at all', async () => {
  const valuesOf = (count: number) => new Map(Array.from({ length: count }, (_, i) => [`field /${i}`, randomBytes(2_048).toString('hex')]));
  const [most, over] = [valuesOf(255), valuesOf(2_000)];
  const [, known = ''] = [...most][7] ?? [];
  const found = await neverBlocks(() => patientFinder(most)(Buffer.from(`before ${known} behind`)));
  assert.deepEqual(
    found?.map(({ name }) => name),
    ['field /7'],
  );
  assert.equal(await neverBlocks(() => patientFinder(over)(Buffer.from('anything that is long enough'))), null);
  // The same value again is no further work.
  const same = new Map(Array.from({ length: 2_000 }, (_, i) => [`field /${i}`, known]));
  assert.equal((await neverBlocks(() => patientFinder(same)(Buffer.from(known))))?.length, 1);
});
