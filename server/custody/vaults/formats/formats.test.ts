import assert from 'node:assert/strict';
import test from 'node:test';
import { randomDigits, randomInteger, randomOf } from '#server/crypto/random.ts';
import { THOROUGH } from '#server/testing/thorough.ts';
import { countryCodeLength } from './country-codes.ts';
import { type Format, FormatMismatch } from './format.ts';
import { checkDigits, mod97 } from './iban.ts';
import { passesLuhn, solveLuhn } from './luhn.ts';
import { pan } from './pan.ts';
import { phone } from './phone.ts';
import { FORMATS } from './table.ts';

const RUNS = THOROUGH ? 20_000 : 300;
const card = (length: number) => solveLuhn(`${randomDigits(length - 1)}0`, length - 1);
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const account = () => `WEST${randomDigits(6)}${randomOf(LETTERS, 2)}${randomDigits(6)}`;

/** A random value of each format, and what a token must have in common with it. */
const CASES: Record<keyof typeof FORMATS, { value: () => string; token: RegExp; keeps: (value: string, token: string) => boolean }> = {
  generic: { value: () => randomOf('añ €\n', 12), token: /^tok_[0-7][0-9A-HJKMNP-TV-Z]{25}$/, keeps: () => true },
  uuid: { value: () => 'anything', token: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, keeps: () => true },
  pan: {
    value: () => card(13 + randomInteger(7)),
    token: /^[0-9]{13,19}$/,
    keeps: (v, t) =>
      t.length === v.length &&
      passesLuhn(t) &&
      t.slice(-4) === v.slice(-4) &&
      (v.length >= 15 ? t.slice(0, 6) === v.slice(0, 6) : t[0] === v[0]),
  },
  ssn: {
    value: () => randomDigits(9),
    token: /^9[0-9]{2}-(?:00|1[1-6]|2[0-7]|3[0-6]|4[0-9]|6[6-9]|89)-[0-9]{4}$/,
    keeps: (v, t) => t.slice(-4) === v.slice(-4),
  },
  email: {
    value: () => `${randomOf('abcXYZ.', 8).replaceAll('.', 'd')}@Example.com`,
    token: /^[a-z2-7]{16}@example\.com$/,
    keeps: () => true,
  },
  phone: {
    value: () => `+1415555${randomDigits(4)}`,
    token: /^\+10[0-9]{9}$/,
    keeps: (v, t) => t.length === v.length && t.slice(-4) === v.slice(-4),
  },
  iban: {
    value: () => {
      const text = account();
      return `GB${checkDigits('GB', text)}${text}`;
    },
    token: /^GB[0-9]{2}[A-Z]{4}[0-9]{6}[A-Z]{2}[0-9]{6}$/,
    keeps: (v, t) => mod97(t.slice(4) + t.slice(0, 4)) === 1 && t.slice(-4) === v.slice(-4),
  },
  numeric: { value: () => randomDigits(9), token: /^[0-9]{9}$/, keeps: () => true },
  alphanumeric: { value: () => `Ab-${randomDigits(4)}/x y.z_`, token: /^[A-Z][a-z]-[0-9]{4}\/[a-z] [a-z]\.[a-z]_$/, keeps: () => true },
};

for (const [name, { value, token, keeps }] of Object.entries(CASES))
  test(`tokens of ${name} have its shape and keep what they should`, () => {
    const format: Format = FORMATS[name as keyof typeof FORMATS];
    for (let i = 0; i < RUNS; i++) {
      const normalised = format.normalise(value());
      const made = format.token(normalised);
      assert.match(made, token, name);
      assert.ok(keeps(normalised, made), `${normalised} ${made}`);
      assert.equal(format.normalise(normalised), normalised, 'normalising twice is normalising once');
    }
  });

test('every token that can be listed has the shape, and all of them are different', () => {
  for (const [name, value] of [
    ['ssn', '123456789'],
    ['pan', card(15)],
    ['numeric', '123'],
    ['alphanumeric', 'a-1'],
    ['phone', '+35799123'],
  ] as const) {
    const { space }: Format = FORMATS[name];
    const size = space?.size(value) ?? 0;
    const all = new Set(Array.from({ length: size }, (_, n) => space?.nth(value, n) as string));
    assert.equal(all.size, size, name);
    if (name === 'ssn') assert.equal(size, 3_700);
    if (name === 'pan') assert.ok([...all].every(passesLuhn));
  }
});

test('the examples of the specification', () => {
  assert.equal(pan.space?.nth('4242424242424242', 81_739), '4242428173954242');
  assert.equal(pan.space?.nth('378282246310005', 6_204), '378282620450005');
  assert.equal(phone.space?.nth(phone.normalise('+14155559311'), 48_273), '+10482739311');
  assert.equal(checkDigits('GB', 'QKVN40718352205432'), '75');
});

test('exactly one digit at any place passes the Luhn check', () => {
  for (let place = 0; place < 16; place++) {
    const passing = Array.from(
      { length: 10 },
      (_, d) => `424242424242424${2}`.slice(0, place) + d + '4242424242424242'.slice(place + 1),
    ).filter(passesLuhn);
    assert.equal(passing.length, 1);
  }
});

test('what a format refuses is refused by its rule, and the message never shows the value', () => {
  const refused: [keyof typeof FORMATS, string[]][] = [
    ['pan', ['4242424242424241', '424242424242', '42424242424242424242', '4242_4242_4242_4242', 'x', '٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢']],
    ['ssn', ['12345678', '123-456789', '1234567890', '12-345-6789']],
    [
      'email',
      [
        'bob',
        'a@b@c.de',
        '@example.com',
        'bob@',
        'ja ne@example.com',
        'jane@exa mple.com',
        `${'a'.repeat(250)}@b.de`,
        'jane@-b.de',
        'j\n@b.de',
      ],
    ],
    ['phone', ['4155559311', '+0415555931', '+1415', '+12345678901234567', '+210555931100', '+1 415 555 93x1']],
    ['iban', ['GB82WEST12345698765433', 'GB82', 'gb', '82GBWEST12345698765432', 'GB82WEST1234569876543!']],
    ['numeric', ['', '12a', ' 12', '1'.repeat(65)]],
    ['alphanumeric', ['', 'ä', '---', 'a\n', 'a'.repeat(129)]],
    ['generic', ['', 'x'.repeat(65_537)]],
  ];
  for (const [name, values] of refused)
    for (const value of values)
      assert.throws(
        () => FORMATS[name].normalise(value),
        (error) => error instanceof FormatMismatch && (value.length < 3 || !error.message.includes(value)),
        `${name} ${value}`,
      );
});

test('spellings of one value are one value', () => {
  assert.equal(FORMATS.pan.normalise('4111 1111-1111 1111'), '4111111111111111');
  assert.equal(FORMATS.ssn.normalise('123-45-6789'), '123456789');
  assert.equal(FORMATS.phone.normalise('+1 (415) 555-93.11'), '+14155559311');
  assert.equal(FORMATS.iban.normalise('gb82 west 1234 5698 7654 32'), 'GB82WEST12345698765432');
  assert.equal(FORMATS.email.normalise('Jane.Doe@EXAMPLE.com'), 'Jane.Doe@example.com');
});

test('country codes are found by the longest match', () => {
  assert.deepEqual(
    ['14155559311', '74951234567', '493012345', '35799123456', '2125551234', '9991234567', '0123'].map(countryCodeLength),
    [1, 1, 2, 3, 3, 0, 0],
  );
});

test('masked values show as little as they say', () => {
  assert.deepEqual(
    (['pan', 'ssn', 'email', 'phone', 'numeric'] as const).map((name) =>
      FORMATS[name].masked(
        { pan: '4242424242424242', ssn: '123456789', email: 'jane.doe@example.com', phone: '+14155559311', numeric: '1234' }[name],
      ),
    ),
    ['************4242', '***-**-6789', 'j***@example.com', '+1******9311', '****'],
  );
});
