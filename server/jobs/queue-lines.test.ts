import assert from 'node:assert/strict';
import test from 'node:test';
import { asOurs } from '#server/kernel/outage.ts';
import { queueLine } from './queue-lines.ts';

const error = asOurs(Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' }));

test('messages of the queue in an outage differ in nothing, so that the log counts them', () => {
  const of = (message: string) => queueLine('error', message, { error }).message;
  for (const attempt of [1, 2])
    assert.equal(
      of(`Cron hit an error; restarting in ${attempt * 371}ms (attempt ${attempt}): ${error}`),
      'the job queue: Cron hit an error',
    );
  for (const delay of [136, 7421])
    assert.equal(
      of(`Error with notify listener (trying again in ${delay}ms): ${error.message}`),
      'the job queue: Error with notify listener',
    );
  const failed = queueLine('error', "Failed task 17 (mail, 3.00ms, attempt 1 of 25) with error 'connect'", {
    error,
    job: { task_identifier: 'mail' },
  });
  assert.deepEqual([failed.message, failed.details], ['the job queue: Failed task', { err: error, job: 'mail' }]);
});

test('everything else is logged as the queue says it', () => {
  const err = new TypeError('x is not a function');
  const message = "Failed task 17 (mail, 3.00ms, attempt 1 of 25) with error 'x is not a function'";
  assert.deepEqual(queueLine('error', message, { error: err }), { level: 'error', details: { err }, message });
  assert.deepEqual(queueLine('info', 'Worker connected'), { level: 'debug', details: {}, message: 'Worker connected' });
});
