import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import test from 'node:test';
import { agentPiiKey, conversationKey } from '#server/crypto/pii-keys.ts';
import { compilePolicy } from './detectors.fixture.ts';
import { type PiiSettings, piiSession } from './session.ts';
import { createTokenizer } from './tokenizer.ts';
import { tokenFor } from './tokens.ts';

const AGENT_KEY = createSecretKey(Buffer.alloc(32, 7));
const ANCHOR = 'Email jane@example.com about the refund';
const conversation = () => conversationKey(AGENT_KEY, 'tok-uuid', ANCHOR);

const session = (settings: Partial<PiiSettings> = {}) =>
  piiSession({
    policy: compilePolicy(null, []),
    tokenizer: createTokenizer(conversation()),
    requestMode: 'tokenize',
    responseMode: 'detokenize',
    ...settings,
  });

test('tokens of a conversation are those of the specification', () => {
  assert.equal(tokenFor(conversation(), 'EMAIL_ADDRESS', 'email', 'jane@example.com'), 'svc-d4w415k6et@pii.invalid');
  assert.equal(tokenFor(conversation(), 'CREDIT_CARD', 'pan', '4111111111111111'), '9575584895738796');
  const tenant = createSecretKey(Buffer.from(Array.from({ length: 32 }, (_, i) => 0x20 + i)));
  assert.equal(
    agentPiiKey(tenant, 'c4a1d7e9-52b3-4f6a-8e0d-91f2b3c4d5e6').export().toString('hex'),
    '024e00ffd6522967ff887c25e877cd9a5cdc516dbd6389faa561fc068ea9857e',
  );
});

const VALUES = ['123-45-6789', 'svc-d4w415k6et@pii.invalid'];
for (const [name, before, after] of [
  ['plain text', 'Zażółć 👩‍👩‍👧 the number is ', ', which 日本 you asked about. '.repeat(8)],
  ['the end of the text', 'It is ', ''],
  ['a long text', 'word '.repeat(60), ` and ${'more words follow here. '.repeat(20)}`],
] as const)
  test(`an answer is the same however it is cut: ${name}`, () => {
    for (const value of VALUES) {
      const text = `${before}${value}${after}`;
      const expected = `${before}${value.startsWith('svc') ? 'jane@example.com' : '<US_SSN>'}${after}`;
      for (let at = 0; at <= text.length; at++) assert.equal(streamed([text.slice(0, at), text.slice(at)]), expected);
      assert.equal(streamed([...text]), expected);
      assert.equal(streamed(Array.from({ length: text.length }, (_, i) => text[i] as string)), expected);
    }
  });

test('arguments of a tool call are the same however they are cut, also inside of an escape', () => {
  const text = String.raw`{"to":"svc-d4w415k6et\u0040pii.invalid","ssn":"\ud83d\ude00 123-45-6789\n\"ok\"","n":4111111111111111,"svc-d4w415k6et@pii.invalid":[true,null,"SVC-D4W415K6ET@PII.INVALID"]}`;
  const expected = {
    to: 'jane@example.com',
    ssn: '😀 <US_SSN>\n"ok"',
    n: '<CREDIT_CARD>',
    'jane@example.com': [true, null, 'jane@example.com'],
  };
  const whole = streamed([text], 'json');
  assert.deepEqual(JSON.parse(whole), expected);
  for (let at = 0; at <= text.length; at++) assert.equal(streamed([text.slice(0, at), text.slice(at)], 'json'), whole);
  assert.equal(streamed([...text], 'json'), whole);
});

function streamed(parts: readonly string[], channel: 'text' | 'json' = 'text'): string {
  const one = session();
  one.request([ANCHOR]);
  const stream = one.stream(channel);
  return parts.map((part) => stream.push(part)).join('') + stream.flush();
}
