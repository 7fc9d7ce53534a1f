import assert from 'node:assert/strict';
import test from 'node:test';
import { passingConversationKey } from '#server/crypto/pii-keys.ts';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { budgetFor } from '../patterns/budget.ts';
import { UnsupportedPattern } from '../patterns/compile.ts';
import { linearPattern } from '../patterns/linear-pattern.ts';
import { longestMatch } from '../patterns/longest-match.ts';
import { wordLists } from '../patterns/word-list.ts';
import { detect } from './detect.ts';
import { compilePolicy, recognizer } from './detectors.fixture.ts';
import { ENTITIES } from './entities/catalogue.ts';
import { buffersStreams, type PiiSession, piiSession } from './session.ts';
import { shownMatches } from './shown.ts';
import { createTokenizer } from './tokenizer.ts';
import { whitelistProblem } from './whitelist.ts';

const policy = compilePolicy(null, []);
const found = (text: string) => detect(text, policy).map(({ entity, start, end }) => [entity, text.slice(start, end)]);

test('every built-in detector finds its example', () => {
  for (const { entity, example } of ENTITIES)
    assert.ok(
      found(example).some(([name]) => name === entity),
      `${entity}: ${example}`,
    );
});

/** Each of the right shape, but with a wrong check digit, an unissued number or no context. */
const NEGATIVE: Readonly<Record<string, readonly string[]>> = {
  EMAIL_ADDRESS: ['jane@example', '@example.com', 'a@b.c', 'svc-d4w415k6et@pii.invalid'],
  PHONE_NUMBER: ['+1 23', '+999 205 551 2071', 'order 020 7946 0958'],
  DATE_OF_BIRTH: ['born 2023-02-30', 'released 1984-02-29'],
  CREDIT_CARD: ['4111 1111 1111 1112', '1111 1111 1111 1117', '41111111'],
  IBAN_CODE: ['GB82 WEST 1234 5698 7654 33', 'XX82 WEST 1234 5698 7654 32', 'GB82 WEST 1234 5698 7654'],
  US_BANK_ROUTING: ['routing 021000022', 'number 021000021'],
  CRYPTO_WALLET: ['1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5'],
  US_SSN: ['000-12-3456', '666-12-3456', '123-00-6789', '123-45-0000', 'number 123456789', '1123-45-6789'],
  US_ITIN: ['912-69-1234', '912-93-1234'],
  UK_NINO: ['BG 12 34 56 C', 'AB 12 34 56 E', 'DA123456A'],
  AU_TFN: ['TFN 123 456 783', '123 456 782'],
  CA_SIN: ['SIN 130 692 545', '130 692 544', 'single 130 692 544'],
  ES_NIF: ['DNI 12345678A', 'X1234567A'],
  IT_FISCAL_CODE: ['RSSMRA85T10A562T'],
  PL_PESEL: ['PESEL 44051401358', '44051401359'],
  DE_TAX_ID: ['Steuer-ID 86 095 742 718', '86095742719'],
  IN_AADHAAR: ['Aadhaar 2345 6789 0125', '2345 6789 0124'],
  SG_NRIC_FIN: ['NRIC S1234567E'],
  NZ_IRD: ['IRD 49-091-851', '49-091-850'],
  US_PASSPORT: ['number 340020013', 'passport 34002001'],
  UK_PASSPORT: ['passport 925076473'],
  DRIVER_LICENSE: ['D1234567', "driver's license pending"],
  UK_NHS: ['NHS 943 476 5918', '943 476 5919'],
  AU_MEDICARE: ['Medicare 2123 45671 1', '2123 45670 1'],
  US_NPI: ['NPI 1234567890', '1234567893'],
  US_MBI: ['MBI 1EG4-TE5-MKL3', '1EG4-TE5-MK73'],
  MEDICAL_RECORD_NUMBER: ['00483921', 'mrn 123'],
  IP_ADDRESS: ['10.0.0.1', '192.168.1.1', '203.0.113.9', '256.1.1.1', 'v1.2.3.4.5', '12:34:56', '::1', '2001:db8::1'],
  MAC_ADDRESS: ['3c:22:fb:7a:10', '3c:22:fb:7a:10:9e:11'],
  CREDENTIAL: ['password: changeme', 'token: aaaaaaaaaaaaaaaaaaaa', 'the key to success', 'eyJub3QiOiJhIHRva2VuIn0.e30.x'],
};

test('no built-in detector finds what only looks like its entity', () => {
  for (const { entity } of ENTITIES) assert.ok(NEGATIVE[entity], `${entity} has negative samples`);
  for (const [entity, texts] of Object.entries(NEGATIVE))
    for (const text of texts) assert.ok(!found(text).some(([name]) => name === entity), `${entity}: ${text}`);
});

test('credentials are redacted whatever the policy says', () => {
  const lenient = compilePolicy({ id: '', recognizer_ids: [], default_action: 'whitelist' }, [
    recognizer({ action: 'whitelist', pattern: 'AKIA.*' }),
  ]);
  assert.equal(shownMatches('key AKIAIOSFODNN7EXAMPLQ, mail jane@example.com', lenient).result, 'key <CREDENTIAL>, mail jane@example.com');
});

test('the longest of overlapping matches wins, and a whitelist removes what lies inside of it', () => {
  const rules = [
    recognizer({ name: 'order', pattern: 'order [0-9 ]+', action: 'redact' }),
    recognizer({ id: '2', name: 'ours', pattern: '[a-z]+@acme\\.example', action: 'whitelist' }),
  ];
  const { result } = shownMatches(
    'order 4111 1111 1111 1111 by bob@acme.example',
    compilePolicy({ id: '', recognizer_ids: [], default_action: 'redact' }, rules),
  );
  assert.equal(result, '<ORDER>by bob@acme.example');
});

test('values come back from the provider, also in other letter case and without the plus', () => {
  const session = sessionOf();
  const sent = session.request(
    'jane@example.com, card 4111111111111111, SSN 123-45-6789, +44 20 7946 0958, IBAN GB82WEST12345698765432, 8.8.4.4',
  );
  for (const value of ['jane@', '4111111111111111', '123-45-6789', '7946 0958', 'GB82WEST12345698765432', '8.8.4.4'])
    assert.ok(!sent.includes(value), value);
  assert.match(
    sent,
    /^svc-[0-9a-z]{10}@pii\.invalid, card 9\d{15}, SSN 9\d\d-[0-4]\d-\d{4}, \+999 \d\d \d{4} \d{4}, IBAN \w{2}\d\d\w{4}\d{14}, SVC_IP_ADDRESS_[0-9A-Z]{10}$/,
  );
  assert.equal(
    session.answer(sent.toUpperCase().replace('+', '')),
    'jane@example.com, CARD 4111111111111111, SSN 123-45-6789, +44 20 7946 0958, IBAN GB82WEST12345698765432, 8.8.4.4',
  );
  assert.equal(session.request('again jane@example.com'), `again ${sent.split(',')[0]}`);
});

test('an unknown look-alike of a token is left, and a mode without tokens restores nothing', () => {
  assert.equal(sessionOf().answer('svc-0000000000@pii.invalid'), 'svc-0000000000@pii.invalid');
  const session = sessionOf({ responseMode: 'redact' });
  const sent = session.request('jane@example.com');
  assert.equal(session.answer(`${sent} and bob@example.com`), `${sent} and <EMAIL_ADDRESS>`);
  const off = sessionOf({ requestMode: 'off' });
  assert.equal(off.request('jane@example.com'), 'jane@example.com');
});

test('a recognizer that needs more than is held back switches to the buffer', () => {
  const long = compilePolicy(null, [recognizer({ pattern: 'A[0-9]{200}' })]);
  assert.equal(sessionOf({ policy: long }).buffersStreams, true);
  assert.equal(sessionOf({ policy: long, holdbackChars: 300 }).buffersStreams, false);
  assert.equal(sessionOf({ policy: compilePolicy(null, [recognizer({})]) }).buffersStreams, false);
  const stream = sessionOf({ policy: long }).stream('text');
  assert.equal(stream.push('plain words that would leave at once '), '');
  assert.equal(stream.flush(), 'plain words that would leave at once ');
});

test('streams under recognizers, and monitored ones, are the same however they are cut', () => {
  const own = compilePolicy(null, [
    recognizer({ pattern: 'MEM-[0-9]{6}', context_words: ['member'] }),
    recognizer({ id: '2', name: 'code', kind: 'aho_corasick', pattern: 'Project X\nBlue Moon' }),
  ]);
  const text = `${'Some words. '.repeat(12)}The member MEM-123456 works on project x, not on MEM-654321.${' More words follow.'.repeat(8)} blue moon`;
  const whole = streamed(sessionOf({ policy: own }), [text]);
  assert.ok(whole.includes('<MEMBER_ID>') && whole.endsWith('<CODE>'));
  for (let at = 0; at <= text.length; at += 3)
    assert.equal(streamed(sessionOf({ policy: own }), [text.slice(0, at), text.slice(at)]), whole);
  const monitored = sessionOf({ streamingMode: 'monitor' });
  const sent = monitored.request('jane@example.com');
  assert.equal(streamed(monitored, [`${sent} has 123-45-`, '6789 ', 'now']), 'jane@example.com has 123-45-6789 now');
  assert.equal(monitored.answerCounts.get('US_SSN'), 1);
});

test('hostile patterns are refused or take linear time', async () => {
  for (const pattern of ['(?=a)', 'a(?!b)', '(?<=a)b', '(a)\\1', '(?P<n>a)\\k<n>', '(', '[z-a]', 'a{2000}', '((a{0,60}){0,60}){0,60}'])
    assert.throws(() => linearPattern(pattern), UnsupportedPattern, pattern);
  for (const [pattern, piece, behind] of [
    ['(a+)+$', 'a', 'b'],
    ['(x+x+)+y', 'x', ''],
    ['(.*){3}=', 'a', ''],
  ] as const) {
    const { find } = linearPattern(pattern);
    await assertGrowsLinearly(
      pattern,
      20_000,
      (size) => piece.repeat(size) + behind,
      (text) => {
        try {
          find(text, 0, budgetFor(text.length));
        } catch (error) {
          assert.equal((error as Error).constructor.name, 'BudgetExceeded', pattern);
        }
      },
    );
  }
});

test('the bound of a match is never below the longest one', () => {
  for (const [pattern, longest] of [
    ['MEM-[0-9]{6}', 10],
    ['a|bcd', 3],
    ['(?:ab){2,3}c?', 7],
    ['\\bx\\b', 1],
    ['\\Qa.b\\E', 3],
  ] as const)
    assert.ok(longestMatch(pattern) >= longest && longestMatch(pattern) < 40, `${pattern}: ${longestMatch(pattern)}`);
  for (const pattern of ['a+', '.*', '(?:ab)*', 'a{2,}']) assert.equal(longestMatch(pattern), Number.POSITIVE_INFINITY, pattern);
});

test('a list of words finds whole words, in any case and overlapping', () => {
  const { find } = wordLists(['he\nshe\nhers\nnew york']);
  const text = 'She said HERS, he was in New York, not in the shed.';
  assert.deepEqual(
    find(text, 0, budgetFor(100)).map(({ start, end }) => text.slice(start, end)),
    ['She', 'HERS', 'he', 'New York'],
  );
});

test('a whitelist that would switch detectors off is refused', () => {
  for (const pattern of ['.+', '[a-z]+', '[0-9]+', '.*@.*', '\\S+', '[0-9]{3}-[0-9]{2}-[0-9]{4}'])
    assert.ok(whitelistProblem(recognizer({ pattern, action: 'whitelist' })), pattern);
  for (const pattern of ['support@acme\\.example', 'ACME-[0-9]{4}'])
    assert.equal(whitelistProblem(recognizer({ pattern, action: 'whitelist' })), undefined, pattern);
});

function sessionOf(changes: Partial<Parameters<typeof piiSession>[0]> = {}) {
  const settings = {
    policy,
    tokenizer: createTokenizer(passingConversationKey()),
    requestMode: 'tokenize' as const,
    responseMode: 'detokenize' as const,
    ...changes,
  };
  const session = piiSession(settings);
  const one = (step: PiiSession['request']) => (text: string) => step([text])[0] as string;
  return {
    ...session,
    request: one(session.request),
    answer: one(session.answer),
    buffersStreams: buffersStreams(settings, settings.policy.reach),
  };
}

function streamed(session: Pick<PiiSession, 'stream'>, parts: readonly string[]): string {
  const stream = session.stream('text');
  return parts.map((part) => stream.push(part)).join('') + stream.flush();
}
