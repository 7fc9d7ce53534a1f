import assert from 'node:assert/strict';
import test from 'node:test';
import { anyOutageOf, asOurs, outageOf, outageOfState, sqlStateOf } from './outage.ts';

const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });
/** As Prisma reports what its adapter met. */
const adapted = (originalCode: string) => Object.assign(coded('P2039'), { meta: { driverAdapterError: { cause: { originalCode } } } });

test('each SQLSTATE of an outage says what it is, in the words of the driver and of Prisma', () => {
  const states: Record<string, readonly string[]> = {
    refused: ['57P03', '53300', '08001', '08004'],
    lost: ['57P01', '57P02', '57P04', '57P05', '25P03', '08000', '08003', '08006', '08P01'],
    read_only: ['25006'],
    overloaded: ['57014', '25P04', '55P03', '53100', '53200', '53400', '58030'],
  };
  for (const [outage, codes] of Object.entries(states))
    for (const code of codes)
      assert.deepEqual(
        [outageOfState(code), outageOf(asOurs(coded(code))), outageOf(asOurs(adapted(code)))],
        [outage, outage, outage],
        code,
      );
});

test('what a statement itself does wrong is no outage', () => {
  for (const code of ['23505', '40001', '42P01', '22P02', '25001', '28P01']) assert.equal(outageOf(asOurs(adapted(code))), undefined, code);
  for (const error of [null, undefined, 'text', new Error('x'), coded('P2002')]) assert.equal(anyOutageOf(error), undefined);
});

test('the same words of a host that is not ours say nothing of our database', () => {
  for (const code of ['ECONNREFUSED', 'ETIMEDOUT', 'ECONNRESET', 'ENOTFOUND', '57P01', '57014'])
    assert.deepEqual([outageOf(coded(code)), anyOutageOf(coded(code)) !== undefined], [undefined, true], code);
});

test('a state is read from the error that has it, and nothing else is taken for one', () => {
  assert.deepEqual([coded('23505'), adapted('40001'), coded('P2025'), coded('EPIPE'), null].map(sqlStateOf), [
    '23505',
    '40001',
    'P2025',
    'EPIPE',
    '',
  ]);
});
