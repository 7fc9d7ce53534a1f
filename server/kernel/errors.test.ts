import assert from 'node:assert/strict';
import test from 'node:test';
import { asRefusal, Refusal } from './errors.ts';

test('a lost database is dependency_unavailable with Retry-After, however deep and in whose words it is reported', () => {
  const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });
  const lost = [
    coded('ECONNREFUSED'),
    coded('57P01', 'terminating connection due to administrator command'),
    coded('57P03', 'the database system is not yet accepting connections'),
    coded('P2010', 'Invalid `prisma.$queryRaw()` invocation:\n\n\nwrite EPIPE'),
    coded('P2028', 'Transaction API error: Unable to start a transaction in the given time.'),
    new Error('Client has encountered a connection error and is not queryable'),
    new Error('Connection terminated unexpectedly'),
    new Error('the database system is in recovery mode'),
    new Error('outer', { cause: new Error('middle', { cause: coded('ECONNRESET') }) }),
  ];
  for (const error of lost) {
    const refusal = asRefusal(error);
    assert.deepEqual([refusal.type, refusal.status, refusal.retryAfter], ['dependency_unavailable', 503, 5], error.message);
    assert.equal(refusal.cause, error);
  }
});

test('any other fault is internal_error and says nothing of its cause', () => {
  for (const error of [
    new Error('secret detail'),
    new TypeError('x is not a function'),
    Object.assign(new Error('dup'), { code: '23505' }),
    'text',
    null,
  ]) {
    const refusal = asRefusal(error);
    assert.deepEqual([refusal.type, refusal.status], ['internal_error', 500]);
    assert.doesNotMatch(refusal.message, /secret|function|dup|text/);
  }
  const own = new Refusal('conflict', 'taken');
  assert.equal(asRefusal(own), own);
});
