import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { QueryClient } from '@tanstack/react-query';
import { TRPCClientError } from '@trpc/client';
import { type ApiDocument, operationsOf } from '#components/explorer/document.ts';
import { listedOperations } from '#server/trpc/listed-operations.ts';
import { commandsOf } from './commands.ts';
import { carryOut } from './execute.ts';
import { outputOfFailure } from './failure.ts';
import { nameSources } from './name-sources.ts';
import { readLine } from './parse-line.ts';
import { withIds } from './resource-names.ts';

const commands = commandsOf(operationsOf(JSON.parse(fs.readFileSync('public/openapi.json', 'utf8')) as ApiDocument));
const id = '01a200c5-ce3b-7001-9fcd-a5a57ee3709a';
const refused = (code: string, status: number) =>
  Object.assign(new TRPCClientError('refused'), { data: { code, status, message: 'What happened.', request_id: 'r1' } });
type Answer = Error | Record<string, unknown>[];

/** Carries a line out whose lists answer so, one answer after the other. Tells the path that was sent, and what is shown of a call that was not. */
function shell(...answers: Answer[]) {
  const cache = new QueryClient({ defaultOptions: { queries: { retry: (failures) => failures < 1, retryDelay: 0 } } });
  const asked: string[] = [];
  const query = async (procedure: string) => {
    const answer = answers[Math.min(asked.push(procedure), answers.length) - 1];
    if (answer instanceof Error) throw answer;
    return { data: answer };
  };
  return {
    asked,
    run: async (line: string, listed = async () => listedOperations()) => {
      const call = readLine(line, commands);
      assert.ok(call.kind === 'call', line);
      const sources = nameSources({ commands, cache, query, listed });
      const out: { sent?: string } = {};
      const steps = {
        withIds: (command: typeof call.command, typed: typeof call.call) => withIds(command, typed, sources),
        secret: async () => 'typed unseen',
        confirm: async () => true,
        send: async ({ path }: { path: string }) => {
          out.sent = path;
          return { status: 200, headers: [], body: '{}', duration_ms: 1, request_id: 'r' };
        },
      };
      const shown = await carryOut(call, 'live', steps as never, new AbortController().signal).then(
        () => undefined,
        (error: unknown) => outputOfFailure(error, call.command),
      );
      return { sent: out.sent, shown };
    },
  };
}

test('a call whose name could not be looked up is not sent, and says why and what to do', async () => {
  for (const [failure, next, requestId] of [
    [refused('internal_error', 500), /contact support/, 'r1'],
    [refused('dependency_unavailable', 503), /Try again/, 'r1'],
    [refused('rate_limited', 429), /Wait a moment/, 'r1'],
    [refused('not_authenticated', 401), /Sign in again/, 'r1'],
    [new TypeError('Failed to fetch'), /Try again/, undefined],
  ] as const)
    for (const line of ['secrets get STRIPE_KEY', 'secrets delete STRIPE_KEY', 'routes list --collection-id Payments']) {
      const { sent, shown } = await shell(failure).run(line);
      assert.equal(sent, undefined, line);
      assert.ok(shown?.kind === 'problem', line);
      assert.deepEqual([shown.what, shown.requestId], ['Not sent', requestId]);
      assert.match(shown.message, /^Names couldn’t be looked up\. \S/);
      assert.match(shown.next ?? '', next);
    }
});

test('a lookup that failed once is tried again as the reads of pages are', async () => {
  const { run, asked } = shell(refused('internal_error', 500), [{ id, name: 'STRIPE_KEY' }]);
  assert.deepEqual(await run('secrets get STRIPE_KEY'), { sent: `/secrets/${id}`, shown: undefined });
  assert.deepEqual(asked, ['secrets.list', 'secrets.list']);
});

test('a list that has nothing for this person leaves the name to the service, which refuses with its own words', async () => {
  for (const refusal of [
    refused('role_denied', 403),
    refused('not_found', 404),
    refused('validation_error', 400),
    refused('plan_feature', 402),
  ])
    assert.deepEqual(await shell(refusal).run('secrets get STRIPE_KEY'), { sent: '/secrets/STRIPE_KEY', shown: undefined });
});

test('no name goes unresolved because what can be listed here is not known yet, or could not be asked', async () => {
  const listed = Promise.withResolvers<ReturnType<typeof listedOperations>>();
  const { run } = shell([{ id, name: 'STRIPE_KEY' }]);
  const done = run('secrets get STRIPE_KEY', () => listed.promise);
  listed.resolve(listedOperations());
  assert.equal((await done).sent, `/secrets/${id}`);
  const { sent, shown } = await run('secrets get STRIPE_KEY', async () => {
    throw new Error('the list of operations answered 503');
  });
  assert.deepEqual([sent, shown?.kind === 'problem' && shown.what], [undefined, 'Not sent']);
});

test('what was made since the last line is found: no answer about names is kept', async () => {
  const { run } = shell([], [{ id, name: 'STRIPE_KEY' }]);
  assert.equal((await run('secrets get STRIPE_KEY')).sent, '/secrets/STRIPE_KEY');
  assert.equal((await run('secrets get STRIPE_KEY')).sent, `/secrets/${id}`);
});
