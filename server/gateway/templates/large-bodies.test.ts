import assert from 'node:assert/strict';
import test from 'node:test';
import { compileSelectors } from '#server/custody/fields/selectors.ts';
import { atOnce, paced, type Steps } from '#server/kernel/slices.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { isRefused, scan } from '../ephemeral/templates/scan.ts';
import { pickForm } from '../route/fields/form-picks.ts';
import { pickJson } from '../route/fields/json-picks.ts';
import { Unwalkable } from '../route/fields/picks.ts';
import { injectBody } from './body-inject.ts';
import { scanBody, scannable } from './body-scan.ts';
import { HOSTILE_BODIES } from './hostile-bodies.fixture.ts';

const MIB = 1024 * 1024;
const LARGEST = 10 * MIB;

type Reader = (body: Buffer, type: string) => Steps<unknown> | undefined;
const pickers = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ root: compileSelectors([`$..none${i}`, `$..a.b.c${i}`]).root, whole: false }));

/** All that reads a caller's body, by what it is for. */
const READERS: Record<string, Reader> = {
  'what a route adds': (body, type) => injectBody(body, type, { b: { c: 1 }, zz: 'x' }),
  'placeholders of a route': (body, type) => {
    const kind = scannable(type);
    return kind && scanBody(body, kind, type);
  },
  'expressions of the proxy': (body, contentType) => scan({ query: null, body, contentType, encoded: false, headers: [] }),
  'field actions': (body, type) =>
    type === 'application/json' ? pickJson(body, pickers(1)) : type.includes('form-url') ? pickForm(body, pickers(1)) : undefined,
  'fifteen field actions': (body, type) => (type === 'application/json' ? pickJson(body, pickers(15)) : undefined),
};

for (const [name, { type, text }] of Object.entries(HOSTILE_BODIES))
  test(`the largest body keeps nobody waiting, whatever reads it: ${name}`, async () => {
    const body = Buffer.from(text(LARGEST));
    for (const read of Object.values(READERS)) {
      const steps = read(body, type);
      if (!steps) continue;
      await neverBlocks(async () => {
        try {
          await paced(steps, body.length);
        } catch (error) {
          if (!(error instanceof Unwalkable)) throw error;
        }
      });
    }
  });

test('many large bodies at once keep others waiting no longer than one', async () => {
  const body = Buffer.from(HOSTILE_BODIES.numbers?.text(MIB) ?? '');
  const read = () => paced(injectBody(body, 'application/json', { b: 1 }), body.length);
  const made = await neverBlocks(() => Promise.all(Array.from({ length: 40 }, read)));
  for (const one of made) assert.ok('body' in one && one.body.length > body.length);
});

test('a long body is read like a short one: what stands across the places where work stops is found', () => {
  const at = (length: number, piece: string) => `${'x'.repeat(length)}${piece}`;
  for (let before = 65_500; before < 65_560; before++) {
    const braces = Buffer.from(JSON.stringify({ a: at(before, '{{ token: tok_1 }}'), b: '\\"{{' }));
    const scanned = atOnce(scan({ query: null, body: braces, contentType: 'application/json', encoded: false, headers: [] }));
    assert.ok(scanned && !isRefused(scanned) && scanned.expressions.length === 1, String(before));
    const escaped = Buffer.from(`a=${at(before, '%C3%A9%F0%9F%98%80+%7B%7Bvar:a%7D%7D')}`);
    const found = atOnce(scanBody(escaped, 'form', 'application/x-www-form-urlencoded'));
    assert.ok(found && !('code' in found));
    assert.deepEqual(found.pieces.slice(1, 2), [at(before, '%C3%A9%F0%9F%98%80+')]);
    assert.equal(found.references.length, 1);
  }
});
