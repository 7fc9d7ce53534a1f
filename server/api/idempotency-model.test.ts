import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { lockName } from './idempotency-claims.ts';

await testDatabase();

/**
 * One idempotency key as the state table of the interface has it: absent, running under a lease, done with an answer. Every command is what a caller, a
 * crash or time can do; whatever their order, the answer is the one of the table, and one key has one effect until it is a day old.
 */
type Model =
  | { state: 'absent' }
  | { state: 'running'; body: string; over: boolean } // over: its process died, or its lease ran out
  | { state: 'done'; body: string; text: string; status: number };

const commands = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant('send' as const) },
    { weight: 2, arbitrary: fc.constant('send another body' as const) },
    { weight: 1, arbitrary: fc.constant('send what is refused' as const) },
    { weight: 1, arbitrary: fc.constant('die before the answer' as const) },
    { weight: 1, arbitrary: fc.constant('hang before the answer' as const) },
    { weight: 1, arbitrary: fc.constant('let the lease run out' as const) },
    { weight: 1, arbitrary: fc.constant('wait a day' as const) },
  ),
  { minLength: 1, maxLength: 9 },
);

test('whatever callers, crashes and time do to a key, every answer is that of the state table, and there is one effect a day', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  let run = 0;
  const hanging = await sql().connect();
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      const id = `model-${++run}`;
      let model = { state: 'absent' } as Model;
      let generation = 0;
      let effects = 0;
      const where = 'tenant_id = $1 and id = (select id from idempotency_keys where tenant_id = $1 order by created_at desc limit 1)';
      const alter = (set: string) =>
        sql().query(`update idempotency_keys set ${set} where ${where} returning id, lease_until`, [w.tenant.id]);
      for (const command of sequence) {
        if (command === 'die before the answer' || command === 'hang before the answer') {
          // What a killed process leaves: a claim, and nothing of what it did. One that hangs holds the claim as well.
          if (model.state !== 'done') continue;
          await db().environments.deleteMany({ where: { tenant_id: w.tenant.id, name: model.body } });
          const { rows } = await alter("state = 'in_progress', completed_at = null, lease_until = now() + interval '60 seconds'");
          if (model.status === 201) effects--;
          const hangs = command === 'hang before the answer';
          if (hangs) await hanging.query('select pg_advisory_lock(hashtextextended($1, 0))', [lockName(rows[0])]);
          model = { state: 'running', body: model.body, over: !hangs };
        } else if (command === 'let the lease run out') {
          if (model.state !== 'running') continue;
          await alter("lease_until = now() - interval '1 second'");
          model = { state: 'running', body: model.body, over: true };
        } else if (command === 'wait a day') {
          if (model.state !== 'done') continue;
          await alter("completed_at = now() - interval '24 hours 1 second'");
          model = { state: 'absent' };
          generation++;
        } else {
          const usual = `e${run}-${generation}`;
          const body = command === 'send' ? usual : command === 'send another body' ? `${usual}-x` : 'NOT A NAME';
          const answer = await call('POST', '/environments', { key, body: { name: body }, headers: { 'idempotency-key': id } });
          const runs = model.state === 'absent' || (model.state === 'running' && model.over && model.body === body);
          const what: string = `${sequence.join(', ')} | ${command} on ${JSON.stringify(model)}: ${answer.text}`;
          if (runs) {
            assert.equal(answer.status, body === 'NOT A NAME' ? 400 : 201, what);
            assert.equal(answer.headers.get('x-idempotent-replay'), null, what);
            if (answer.status === 201) effects++;
            model = { state: 'done', body, text: answer.text, status: answer.status };
          } else if (model.state !== 'absent' && model.body !== body) assert.equal(answer.body.error.type, 'idempotency_key_reuse', what);
          else if (model.state === 'running') assert.equal(answer.body.error.type, 'request_in_progress', what);
          else {
            assert.deepEqual([answer.status, answer.text], model.state === 'done' ? [model.status, model.text] : [], what);
            assert.equal(answer.headers.get('x-idempotent-replay'), 'true', what);
          }
        }
      }
      assert.equal(await db().environments.count({ where: { tenant_id: w.tenant.id, name: { startsWith: `e${run}-` } } }), effects);
    }),
    { numRuns: 60 },
  );
  hanging.release(true);
});
