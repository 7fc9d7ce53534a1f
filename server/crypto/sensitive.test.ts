import assert from 'node:assert/strict';
import test from 'node:test';
import { format, inspect } from 'node:util';
import { Sensitive } from './sensitive.ts';

const plaintext = 'sk_live_51H8example';

test('no textual form of a sensitive value shows the plaintext', () => {
  for (const wrapped of [new Sensitive(plaintext), new Sensitive(Buffer.from(plaintext))]) {
    const forms = [
      `${wrapped}`,
      String(wrapped),
      `${wrapped}`,
      JSON.stringify({ deep: [wrapped] }),
      inspect(wrapped, { showHidden: true, depth: 9 }),
      inspect({ wrapped }, { showHidden: true }),
      format('%s %o %j', wrapped, wrapped, wrapped),
      JSON.stringify(Object.entries(wrapped)),
      new Error(`failed with ${wrapped}`).message,
    ];
    const bytes = Buffer.from(plaintext);
    for (const form of forms) {
      assert.ok(!form.includes(plaintext), form);
      assert.ok(!form.includes(bytes.toString('hex')), form);
      assert.ok(!form.includes('73 6b 5f'), form);
    }
    assert.equal(JSON.stringify({ wrapped }), '{"wrapped":"[sensitive]"}');
    assert.equal(structuredCloneText(wrapped).includes(plaintext), false);
  }
});

test('reveal gives the value, and wipe overwrites bytes and ends it', () => {
  const bytes = Buffer.from(plaintext);
  const wrapped = new Sensitive(bytes);
  assert.equal(wrapped.reveal().toString(), plaintext);
  wrapped.wipe();
  assert.ok(bytes.every((byte) => byte === 0));
  assert.throws(() => wrapped.reveal(), /wiped/);
  const text = new Sensitive(plaintext);
  assert.equal(text.reveal(), plaintext);
  text.wipe();
  assert.throws(() => text.reveal(), /wiped/);
});

/** What would reach another thread or a crash dump that clones the object. */
function structuredCloneText(value: object): string {
  return inspect(structuredClone(value), { showHidden: true });
}
