import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { fetchExact } from './exact-answers.ts';

const answered = async (text: string): Promise<unknown> => (await fetchExact(`data:application/json,${encodeURIComponent(text)}`)).json();

test('an answer keeps every number as it was written, wherever it stands', async () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 20 });
  const whole = digits.map((text) => text.replace(/^0+(?=\d)/, ''));
  const fraction = fc.option(digits, { nil: '' }).map((text) => text && `.${text}`);
  const power = fc.constantFrom('', '', '', 'e2', 'E400', 'e-7');
  const number = fc.tuple(fc.constantFrom('', '-'), whole, fraction, power).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(number, async (one) => {
      for (const text of [`{"a":${one}}`, `[${one},1]`, `[1,${one}]`, `{"a":${one},"b":"x"}`])
        assert.equal(JSON.stringify(await answered(text)), text);
    }),
    { numRuns: 2_000 },
  );
});

test('an answer keeps names where they stood', async () => {
  for (const text of ['{"b":1,"2":2,"1":3}', '[{"a":{"10":true,"9":[]}}]', '{"1":1,"2":2}'])
    assert.equal(JSON.stringify(await answered(text)), text);
});
