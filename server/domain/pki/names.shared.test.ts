import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { judgeCommonName, judgeName, type NameRules, normalizeIp, normalizeName, normalizePattern } from './names.shared.ts';

const rules = (pattern: string | readonly string[], allow_subdomains: boolean, allow_wildcards: boolean): NameRules => ({
  allowed_domains: [pattern].flat().map((one) => normalizePattern(one) ?? assert.fail(`${one} is no pattern`)),
  ...{ allow_subdomains, allow_wildcards },
});

// The table of interface rule 43 §5, whole: pattern, allow_subdomains, allow_wildcards, name, whether it is allowed.
const table: readonly (readonly [string, boolean, boolean, string, boolean])[] = [
  ['*.example.com', true, false, 'foo.example.com', true],
  ['*.example.com', true, false, 'foo.bar.example.com', true],
  ['*.example.com', true, false, 'example.com', false],
  ['example.com', true, false, 'example.com', true],
  ['example.com', true, false, 'a.example.com', true],
  ['example.com', false, false, 'a.example.com', false],
  ['*.example.com', false, false, 'foo.example.com', false],
  ['*.example.com', true, true, '*.example.com', true],
  ['*.example.com', false, true, '*.example.com', true],
  ['*.example.com', true, false, '*.example.com', false],
  ['*.example.com', false, false, '*.example.com', false],
  ['example.com', true, true, '*.example.com', true],
  ['example.com', true, true, '*.a.example.com', true],
  ['example.com', false, true, '*.example.com', false],
  ['*', true, true, '*.com', false],
  ['iot-device-*', false, false, 'iot-device-7af2', true],
  ['iot-device-*', true, false, 'iot-device-7af2.evil.com', false],
  ['api.internal', true, false, 'API.Internal.', true],
  ['example.com', true, false, 'notexample.com', false],
  ['bücher.example', false, false, 'xn--bcher-kva.example', true],
  ['xn--bcher-kva.example', false, false, 'Bücher.example', true],
  // What the table leaves open and the rules decide.
  ['*', false, false, 'anything.at.all', true],
  ['*', false, true, '*.example.com', false],
  ['*', true, true, '*.example.com', true],
  ['example.com', true, true, '*.notexample.com', false],
  ['*.example.com', true, true, '*.a.b.example.com', true],
  ['*.example.com', true, true, '*.com.example', false],
  ['a.example.com', true, true, '*.example.com', false],
  ['a*.example.com', true, true, '*.example.com', false],
  ['a*.example.com', true, false, 'api.example.com', true],
  ['a*.example.com', true, false, 'a.b.example.com', false],
  ['a*.example.com', true, false, 'x.api.example.com', false],
  ['a*b*c.example.com', false, false, 'a1b2b3c.example.com', true],
  ['a*b*c.example.com', false, false, 'abbc.example.com', true],
  ['a*c.example.com', false, false, 'ab_c.example.com', false],
  ['_dmarc.example.com', false, false, '_dmarc.example.com', true],
  ['com', true, false, 'example.com', true],
];

test('a name is judged as the table of the interface says', () => {
  for (const [pattern, subdomains, wildcards, name, expected] of table)
    assert.equal(
      judgeName(rules(pattern, subdomains, wildcards), name).allowed,
      expected,
      JSON.stringify([pattern, subdomains, wildcards, name]),
    );
});

test('a refused name says why, an allowed one by which pattern', () => {
  const why = (pattern: string | string[], name: string, wildcards = false) => judgeName(rules(pattern, true, wildcards), name);
  assert.deepEqual(why([], 'a.example'), { allowed: false, name: 'a.example', why: 'no_domains' });
  assert.deepEqual(why('*', 'a b'), { allowed: false, name: null, why: 'malformed' });
  assert.deepEqual(why('*', '*.a.b'), { allowed: false, name: '*.a.b', why: 'wildcards_off' });
  assert.deepEqual(why('*', '*.b', true), { allowed: false, name: '*.b', why: 'broad_wildcard' });
  assert.deepEqual(why('b.example', 'a.example'), { allowed: false, name: 'a.example', why: 'no_match' });
  assert.deepEqual(why(['b.example', 'example'], 'A.Example'), { allowed: true, name: 'a.example', pattern: 'example' });
});

test('a common name that is no host name needs a role for every name', () => {
  const judged = (pattern: string | string[], name: string) => judgeCommonName(rules(pattern, true, false), name);
  assert.deepEqual(judged('example.com', 'API.example.com'), {
    allowed: true,
    name: 'api.example.com',
    pattern: 'example.com',
    host: true,
  });
  assert.equal(judged('example.com', 'evil.example').allowed, false);
  assert.deepEqual(judged('*', 'Jane Doe'), { allowed: true, name: 'Jane Doe', pattern: '*', host: false });
  for (const name of ['Jane Doe', 'api.example.com\0.evil.example', 'api.example.com/evil', '10.0.0.1', 'api.example.com evil.example'])
    assert.deepEqual(judged(['example.com', 'j*'], name), { allowed: false, name, why: 'no_match', host: false });
});

test('a name has one spelling, and what is none is refused', () => {
  const spelled: Record<string, string> = {
    'API.Internal.': 'api.internal',
    'Bücher.example': 'xn--bcher-kva.example',
    'Bu\u0308cher.example': 'xn--bcher-kva.example',
    'faß.de': 'xn--fa-hia.de',
    'XN--FA-HIA.de': 'xn--fa-hia.de',
    'ελληνικός.gr': 'xn--qxaegecap6byf.gr',
    'שלום.example': 'xn--9dbne9b.example',
    'l·l.cat': 'xn--ll-0ea.cat',
    '*.Example.com': '*.example.com',
    '_sip._tcp.example.com': '_sip._tcp.example.com',
    'r3---sn.example': 'r3---sn.example',
  };
  for (const [given, expected] of Object.entries(spelled)) assert.equal(normalizeName(given), expected, given);
  const none = [
    '',
    '.',
    '..',
    'a..b',
    '.a',
    'a.b..',
    '-a.b',
    'a-.b',
    'a b',
    'a\0b',
    'a/b',
    'a:1',
    'a@b',
    '%61',
    '[::1]',
    '10.0.0.1',
    '127.1',
    'a.0x7f',
  ];
  const unicode = [
    'I♥NY.example',
    'xn--i-7iq.example',
    '１.example',
    '℡.com',
    'a。b',
    'a．b',
    'ﬁ.example',
    'a·b',
    'xn--a',
    'xn--',
    'xn--abc-',
    'xn--9999999999999',
  ];
  const hidden = [
    'a\u200bb.example',
    'a\u200db.example',
    'a\u00adb.example',
    '\u0301a.example',
    'a.1שלום',
    '\u202eexample.com',
    'xn--exmple-cua\u200d.com',
  ];
  const stars = ['*', '*.', '**.a.b', 'a.*.b', '*.*.b', '*a.b', '*._a.b'];
  const long = [`${'a'.repeat(64)}.b`, `${'a.'.repeat(127)}b`, 'a'.repeat(100_000), `*.${'a.'.repeat(126)}b`, `${'ü'.repeat(60)}.b`];
  for (const given of [...none, ...unicode, ...hidden, ...stars, ...long])
    assert.equal(normalizeName(given), null, JSON.stringify(given.slice(0, 80)));
  assert.equal(normalizeName(`${'a.'.repeat(126)}b`)?.length, 253);
});

test('a pattern is an asterisk, a name, names below one, or a name with asterisks inside of labels', () => {
  for (const given of ['*', 'example.com', '*.example.com', 'iot-*', 'a*b*.c', 'foo.*.com', '**', '*-internal', '*_x.example'])
    assert.equal(normalizePattern(given.toUpperCase()), given);
  assert.equal(normalizePattern('*.Bücher.example.'), '*.xn--bcher-kva.example');
  for (const given of [
    '',
    '.',
    '*.',
    '.*',
    '*.*.com',
    '*.a*.com',
    '-*',
    '*-',
    'a b*',
    'bü*.de',
    'a*..b',
    `${'*'.repeat(64)}.b`,
    `${'a*.'.repeat(90)}b`,
    '10.0.0.1',
  ])
    assert.equal(normalizePattern(given), null, given);
});

test('an address has one spelling', () => {
  const spelled = { '10.0.0.1': '10.0.0.1', '2001:DB8:0:0::1': '2001:db8::1', '::ffff:192.0.2.1': '::ffff:c000:201', '::': '::' };
  for (const [given, expected] of Object.entries(spelled)) assert.equal(normalizeIp(given), expected);
  for (const given of [
    '',
    '010.0.0.1',
    '1',
    '0x7f.1',
    '10.0.0.0/8',
    'fe80::1%eth0',
    'a.example',
    '1.2.3.4.5',
    '::1::',
    `${'0:'.repeat(9)}1`,
  ])
    assert.equal(normalizeIp(given), null, given);
});

const letters = fc.stringMatching(/^[ab0_-]{1,6}$/);
const label = fc.stringMatching(/^[ab0]([ab0-]{0,4}[ab0])?$/);
const starred = fc.stringMatching(/^[ab0_*]([ab0_*-]{0,6}[ab0_*])?$/).filter((one) => one.includes('*'));

test('asterisks inside of labels match what the regular expression of them matches', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(starred, label), { minLength: 1, maxLength: 2 }),
      fc.array(letters, { minLength: 1, maxLength: 2 }),
      (pattern, names) => {
        const [p, name] = [normalizePattern(pattern.join('.')), normalizeName(names.join('.'))];
        fc.pre(p !== null && name !== null && p.includes('*') && p !== '*' && !p.startsWith('*.'));
        const expression = new RegExp(`^${p.replaceAll('.', '\\.').replaceAll('*', '[a-z0-9-]*')}$`);
        assert.equal(judgeName(rules(p, false, false), name).allowed, expression.test(name), `${p} and ${name}`);
      },
    ),
    { numRuns: 3_000 },
  );
});

const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
const anyRules = fc.record({
  allowed_domains: fc.array(
    fc.oneof(
      name,
      name.map((one) => `*.${one}`),
      starred,
      fc.constant('*'),
    ),
    { maxLength: 4 },
  ),
  allow_subdomains: fc.boolean(),
  allow_wildcards: fc.boolean(),
});

test('normalising twice changes nothing, and a spelling never changes a verdict', () => {
  fc.assert(
    fc.property(fc.oneof(name, fc.string({ unit: 'grapheme', maxLength: 30 })), (text) => {
      const once = normalizeName(text);
      if (once !== null) assert.equal(normalizeName(once), once);
      assert.ok(once === null || /^(?:\*\.)?[a-z0-9_.-]{1,253}$/.test(once), 'a name is ASCII');
    }),
    { numRuns: 3_000 },
  );
  fc.assert(
    fc.property(anyRules, name, (role, text) => {
      assert.equal(judgeName(role, `${text.toUpperCase()}.`).allowed, judgeName(role, text).allowed);
    }),
  );
});

test('turning a switch off, or taking a pattern away, never allows more', () => {
  fc.assert(
    fc.property(
      anyRules,
      fc.oneof(
        name,
        name.map((one) => `*.${one}`),
      ),
      (role, text) => {
        const { allowed } = judgeName(role, text);
        const lesser = [
          { ...role, allow_subdomains: false },
          { ...role, allow_wildcards: false },
          { ...role, allowed_domains: role.allowed_domains.slice(1) },
        ];
        for (const less of lesser) assert.ok(allowed || !judgeName(less, text).allowed);
        if (text.startsWith('*.') && allowed) assert.ok(role.allow_wildcards);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('patterns and names made to be slow are judged in linear time', async () => {
  const hostile = [
    `${'a*'.repeat(31)}b`,
    `${'*a'.repeat(31)}`,
    '*'.repeat(63),
    `${'*'.repeat(60)}.${'*'.repeat(60)}.${'*'.repeat(60)}`,
    `a*${'.a*'.repeat(80)}`,
  ];
  const role = {
    allowed_domains: Array.from({ length: 100 }, (_, n) => hostile[n % hostile.length] ?? ''),
    allow_subdomains: true,
    allow_wildcards: true,
  };
  const names: [string, number, (size: number) => string][] = [
    ['one label', 63, (size) => 'a'.repeat(size)],
    ['labels of one letter', 253, (size) => `${'a.'.repeat(size / 2)}a`],
    ['a label that never matches', 63, (size) => `${'a'.repeat(size)}c`],
    ['long labels', 240, (size) => `${`${'a'.repeat(size / 4)}.`.repeat(3)}c_`],
  ];
  for (const [what, longest, name] of names) await assertGrowsLinearly(what, longest, name, (text) => judgeName(role, text));
  const spellings: [string, number, (size: number) => string][] = [
    ['punycode of punycode', 240, (size) => 'xn--'.repeat(size / 4)],
    ['punycode of digits', 240, (size) => `xn--${'9'.repeat(size)}`],
    ['umlauts', 253, (size) => 'ü'.repeat(size)],
    ['accents', 253, (size) => '\u0301'.repeat(size)],
    ['ligatures', 253, (size) => 'ﷺ'.repeat(size)],
    ['megabytes', 10_000_000, (size) => 'a'.repeat(size)],
  ];
  for (const [what, longest, text] of spellings) await assertGrowsLinearly(what, longest, text, normalizeName);
});
