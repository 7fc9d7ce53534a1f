import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { DerProblem, element, elements, inside, integer, integerHex, octets, oid, oidText, only, sequence, TAG, time } from './der.ts';
import { derOf, pemOf } from './pem.ts';
import { subjectName, subjectOf, subjectText } from './subject.ts';

test('numbers, identifiers and lengths have the forms of X.690', () => {
  const hex = (der: Buffer) => der.toString('hex');
  assert.equal(hex(integer(0)), '020100');
  assert.equal(hex(integer(127)), '02017f');
  assert.equal(hex(integer(128)), '02020080');
  assert.equal(hex(integer(256)), '02020100');
  assert.equal(hex(integer(2n ** 64n)), '0209010000000000000000');
  assert.equal(hex(integer(Buffer.from('0000ff', 'hex'))), '020200ff');
  assert.equal(hex(oid('1.2.840.113549')), '06062a864886f70d');
  assert.equal(hex(oid('2.999.3')), '0603883703');
  for (const [size, head] of [
    [127, '047f'],
    [128, '048180'],
    [255, '0481ff'],
    [256, '04820100'],
    [65_536, '0483010000'],
  ] as const)
    assert.ok(hex(octets(Buffer.alloc(size))).startsWith(head), String(size));
  assert.equal(time(new Date('2049-12-31T23:59:59.999Z')).toString('latin1', 2), '491231235959Z');
  assert.equal(time(new Date('2050-01-01T00:00:00Z')).toString('latin1', 2), '20500101000000Z');
  assert.equal(time(new Date('1949-12-31T23:59:59Z'))[0], TAG.generalizedTime);
  assert.throws(() => time(new Date('+010000-01-01T00:00:00Z')), TypeError);
});

test('what is written is read, whatever it holds', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), (parts) => {
      const found = inside(only(sequence(...parts.map(octets))), TAG.sequence);
      assert.deepEqual(
        found.map(({ content }) => [...content]),
        parts.map((one) => [...one]),
      );
    }),
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 160n }), (value) => assert.equal(BigInt(`0x${integerHex(only(integer(value)))}`), value)),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 }),
      fc.integer({ min: 0, max: 39 }),
      fc.array(fc.nat(), { maxLength: 8 }),
      (first, second, rest) => {
        const dotted = [first, second, ...rest].join('.');
        assert.equal(oidText(only(oid(dotted))), dotted);
      },
    ),
  );
});

test('only DER is read: no second spelling of anything, and no bytes behind', () => {
  const broken = [
    '',
    '30',
    '3080',
    '30800000',
    '308100',
    '30817f',
    '30820001ff',
    '3084ffffffff',
    '3085010000000000',
    '1f8101',
    '04020000ff',
    '0500ff',
  ];
  for (const hex of broken) assert.throws(() => only(Buffer.from(hex, 'hex')), DerProblem, hex);
  for (const hex of ['0200', '0201ff', '02020001', '0202007f'])
    assert.throws(() => integerHex(only(Buffer.from(hex, 'hex'))), DerProblem, hex);
  for (const hex of ['0600', '06018a', `0642${'2a'.repeat(66)}`, '060b2affffffffffffffffff7f'])
    assert.throws(() => oidText(only(Buffer.from(hex, 'hex'))), DerProblem, hex);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        const read = elements(Buffer.from(bytes));
        assert.deepEqual(Buffer.concat(read.map(({ tag, content }) => element(tag, content))), Buffer.from(bytes));
      } catch (error) {
        assert.ok(error instanceof DerProblem);
      }
    }),
    { numRuns: 5_000 },
  );
});

test('names stand in order of DER and come out as RFC 4514 writes them', () => {
  const subject = {
    common_name: 'Acme, "A" <b>; c+d=e\\f',
    organization: '#1 ',
    organizational_unit: ' x',
    country: 'US',
    province: 'Jämtland',
    locality: 'Åre',
  };
  assert.equal(subjectText(subject), 'CN=Acme\\, \\"A\\" \\<b\\>\\; c\\+d=e\\\\f,OU=\\ x,O=\\#1\\ ,L=Åre,ST=Jämtland,C=US');
  assert.deepEqual(subjectOf(subjectName(subject)), subject);
  const types = inside(only(subjectName(subject)), TAG.sequence).map((part) => oidText(inside(inside(part, TAG.set)[0], TAG.sequence)[0]));
  assert.deepEqual(types, ['2.5.4.6', '2.5.4.8', '2.5.4.7', '2.5.4.10', '2.5.4.11', '2.5.4.3']);
  assert.equal(subjectText({}), '');
  assert.equal(subjectName({ common_name: null }).length, 2);
  for (const country of ['U', 'USA', 'Ü1', 'us,']) assert.throws(() => subjectName({ country }), TypeError);
});

test('PEM is read strictly', () => {
  const der = Buffer.alloc(100, 7);
  const text = pemOf('CERTIFICATE', der);
  assert.deepEqual(derOf('CERTIFICATE', `notes\r\n${text.replaceAll('\n', '\r\n')}`), der);
  assert.equal(text.split('\n')[1]?.length, 64);
  for (const bad of [
    text + text,
    text.replace('END', 'FIN'),
    text.replace('Bw', 'B!'),
    text.replace('Bwc', 'Bwc='),
    '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----',
  ])
    assert.equal(derOf('CERTIFICATE', bad), null);
});
