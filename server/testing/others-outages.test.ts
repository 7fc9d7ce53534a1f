import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import net from 'node:net';
import test from 'node:test';
import pg from 'pg';
import { z } from 'zod';
import { freePort } from '#scripts/ports.ts';
import { handle, MANAGEMENT_API } from '#server/api/handle.ts';
import { matcher } from '#server/api/match.ts';
import { definePlane } from '#server/gateway/core/plane.ts';
import { refusalAnswer } from '#server/gateway/core/response-block.ts';
import { ask, served, startGateway } from '#server/gateway/gateway.fixture.ts';
import { type AnyOperation, operation } from '#server/kernel/operation.ts';
import { asOAuthProblem } from '#server/oauth/problem.ts';
import { openPool } from '#server/platform/healing-pool.ts';
import { asProblem } from '#server/scim/problem.ts';
import { dashboardResponse } from '#server/trpc/dashboard.ts';
import { router } from '#server/trpc/from-operation.ts';
import { trpcResponse } from '#server/trpc/handle.ts';
import { routerOf } from '#server/trpc/router-of.ts';
import { dashboardPerson } from './dashboard.ts';
import { testDatabase } from './database.ts';
import { workspace } from './workspace.ts';

// An upstream, a webhook receiver, an identity provider or a database of the caller fails in the words in which ours does. Only ours is an outage of the service.

await testDatabase();
const nobody = { host: '127.0.0.1', port: await freePort(), user: 'x', database: 'x' };
const failure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => assert.fail('it worked'),
    (error: Error) => error,
  );
const connecting = (port: number) =>
  new Promise<void>((resolve, reject) => net.connect(port, nobody.host).on('connect', resolve).on('error', reject));
const coded = (code: string) => Object.assign(new Error(`read ${code}`), { code });

/** As sockets and a driver say it that nobody caught. */
const others: Record<string, Error> = {
  'a host that refuses': await failure(connecting(nobody.port)),
  'a request that fails': await failure(fetch(`http://${nobody.host}:${nobody.port}/`)),
  'a database of the caller': await failure(new pg.Client(nobody).connect()),
  ...Object.fromEntries(['ETIMEDOUT', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', '57P01', '57014'].map((code) => [code, coded(code)])),
};
const pool = openPool(nobody);
const ours = { 'our database': await failure(pool.query('select 1')) };
await pool.end();

let thrown: Error = new Error('none yet');
const failing = operation({
  id: 'test.fail',
  summary: 'Fail',
  http: 'POST /admin/things',
  kind: 'change',
  needs: 'any',
  refuses: [],
  input: z.object({}),
  output: z.object({ id: z.string() }),
  run: (): Promise<never> => Promise.reject(thrown),
});
const match = matcher([failing] as AnyOperation[]);
const plane = definePlane({
  name: 'failing',
  matches: (found) => found.plane === 'tenant' && found.target.startsWith('/fail'),
  newState: () => ({}),
  phases: { fail: () => Promise.reject(thrown) },
  refusalAnswer,
  logSubject: ({ target: path }) => ({ mode: 'route', route: null, environment: '', path, query: null }),
});

const running = await startGateway([plane]);
const w = await workspace();
const member = await dashboardPerson();
await member.join(w.tenant.id, 'owner');
await served(running, w);
const at = { workspace: w.tenant.slug };
const edge = { space: 'live', ip: '127.0.0.1', user_agent: null } as const;

const planes: Record<string, () => Promise<{ status: number | undefined; text?: string }>> = {
  'the Management API': async () => {
    const request = new Request('http://api.test/v1/things', { method: 'POST' });
    const open = { op: { ...failing, needs: 'anonymous' } as unknown as AnyOperation, params: {} };
    const response = await handle(request, { ...edge, request_id: randomUUID() }, { ...MANAGEMENT_API, match: () => open });
    return { status: response.status, text: await response.text() };
  },
  tRPC: () =>
    member.call(
      'POST /admin/trpc/test.fail',
      {},
      { ...at, handle: (req) => trpcResponse(req, router({ test: routerOf({ fail: failing }) })) },
    ),
  'the dashboard’s other calls': () => member.call('POST /admin/things', {}, { ...at, handle: (req) => dashboardResponse(req, match) }),
  OAuth: async () => ({ status: asOAuthProblem(thrown).status, text: asOAuthProblem(thrown).message }),
  SCIM: async () => ({ status: asProblem(thrown).status, text: asProblem(thrown).message }),
  'the proxy': async () => {
    const { status, body } = await ask(running.port, w.tenant.slug, '/fail');
    return { status, text: body };
  },
};

for (const [name, ask] of Object.entries(planes))
  test(`${name} says that our database is away when it is, and not when a host of the caller is`, async () => {
    for (const [errors, status] of [
      [others, 500],
      [ours, 503],
    ] as const)
      for (const [what, error] of Object.entries(errors)) {
        thrown = error;
        const answer = await ask();
        assert.equal(answer.status, status, what);
        if (status === 500) assert.doesNotMatch(answer.text ?? '', /database/, what);
      }
  });
