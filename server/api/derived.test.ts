import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { startGateway } from '#server/gateway/gateway.fixture.ts';
import { KEY_ROLES, keyCapabilities, MEMBER_ROLES, memberCapabilities, scopeOf } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { areMet, capabilitiesOf } from '#server/kernel/needs.ts';
import { type AnyOperation, isChange, successesOf, takesIdempotencyKey } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { type Answer, call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { samples } from '#server/testing/samples.ts';
import { keyActor, memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { openApiDocument } from './openapi/document.ts';
import { errorTypesOf } from './openapi/refusals.ts';
import { operations, v1Operations } from './operations.ts';
import { perform } from './perform.ts';

/**
 * Suites written once for every operation, present and future: they read the operation table, so a family is covered the day it is added.
 */
await testDatabase();
// biome-ignore lint/suspicious/noExplicitAny: the module's default export is typed as a namespace under bundler resolution
const addFormats = addFormatsModule as any;
const hasBody = (op: AnyOperation) => !op.http.startsWith('GET ');
const withSample = operations.filter((op) => op.needs !== 'anonymous');
const sample = (op: AnyOperation, ctx: Ctx) => samples[op.id]!(ctx);
const infrastructure = KEY_ROLES.at(-1)!;
/** Verbs that ask for a person, beyond a capability. */
const PEOPLE_ONLY: ReadonlySet<string> = new Set(['secrets.restore', 'views.list', 'views.create', 'views.update', 'views.delete']);
/** A few acts belong to Owners alone: no seeded key role carries them. */
const keyMay = (op: AnyOperation) => !PEOPLE_ONLY.has(op.id) && areMet(op.needs, infrastructure.capabilities);
const ableCtx = (op: AnyOperation, w: Workspace, space: 'live' | 'test' = 'live') =>
  w.ctx(space, keyMay(op) ? keyActor(infrastructure.name) : memberActor('owner'));
const byKey = v1Operations.filter((op) => op.needs !== 'anonymous' && keyMay(op));
const auditCount = (w: Workspace) => db().audit_logs.count({ where: { tenant_id: w.tenant.id } });

/** The request a stranger would send for an operation and its input. */
async function send(op: AnyOperation, input: Record<string, unknown>, key: string, headers: Record<string, string> = {}): Promise<Answer> {
  const [method, template] = op.http.split(' ') as [string, string];
  const rest = { ...input };
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  if (method !== 'GET') return call(method, path, { key, headers, ...(Object.keys(rest).length > 0 ? { body: rest } : {}) });
  const query = new URLSearchParams(Object.entries(rest).map(([k, v]) => [k, String(v)])).toString();
  return call(method, query ? `${path}?${query}` : path, { key, headers });
}

test('every operation has a sample, so that no suite below skips it', () => {
  assert.deepEqual(
    withSample.map((op) => op.id).filter((id) => !samples[id]),
    [],
  );
});

describe('no operation reads or changes a row of another workspace or of the other space', async () => {
  // Nothing is ever written in it, so that one serves them all.
  const mine = await workspace();
  for (const op of withSample.filter((o) => o.http.includes('{')))
    test(op.id, async () => {
      const theirs = await workspace();
      const input = await sample(op, ableCtx(op, theirs));
      const before = await auditCount(theirs);
      for (const ctx of [ableCtx(op, mine), ableCtx(op, mine, 'test'), ableCtx(op, theirs, 'test')]) {
        await assert.rejects(perform(op, ctx, input), (error: unknown) => {
          assert.ok(error instanceof Refusal, String(error));
          assert.equal(error.type, 'not_found', `${op.id} answered ${error.type}: ${error.message}`);
          return true;
        });
      }
      assert.equal(await auditCount(theirs), before, 'nothing of theirs changed');
      assert.equal(await auditCount(mine), 0, 'nothing of mine was written');
    });
});

describe('the scope matrix: each role may do exactly what the register says', () => {
  for (const op of withSample)
    test(op.id, async () => {
      const w = await workspace();
      const actors = [
        ...KEY_ROLES.map((r) => ({ name: r.name, held: keyCapabilities([r.id]), ctx: w.ctx('live', keyActor(r.name)) })),
        ...MEMBER_ROLES.map((role) => ({
          name: role,
          held: memberCapabilities(role, { reveal_secrets: false }),
          ctx: w.ctx('live', memberActor(role)),
        })),
      ];
      for (const { name, held, ctx } of actors) {
        const allowed = areMet(op.needs, held);
        const refused = await perform(op, ctx, { id: 'x', page: 'nonsense' }).then(
          () => false,
          (e: Refusal) => /lacks the capability|does not include/.test(e.message),
        );
        assert.equal(refused, !allowed, `${name} on ${op.id}`);
      }
    });
});

test('every capability an operation needs is covered by a scope, unless it is dashboard-only', () => {
  for (const op of v1Operations) for (const c of capabilitiesOf(op.needs)) assert.ok(scopeOf(c), `${op.id}: no scope covers ${c}`);
});

describe('a key of the other space is refused before anything else is looked at', async () => {
  const { text: key } = await (await workspace()).key('test');
  for (const op of v1Operations.filter((o) => o.needs !== 'anonymous'))
    test(op.id, async () => {
      const [method, path] = op.http.split(' ') as [string, string];
      const answer = await call(method, path.replace(/\{\w+\}/g, crypto.randomUUID()), {
        key,
        space: 'live',
        ...(hasBody(op) ? { body: {} } : {}),
      });
      assert.equal(answer.body.error.type, 'wrong_key_type');
    });
});

describe('a repeated idempotency key replays byte for byte and does nothing again', () => {
  for (const op of byKey.filter(takesIdempotencyKey))
    test(op.id, async () => {
      const w = await workspace();
      const { text: key } = await w.key('live');
      const input = await sample(op, w.live);
      const first = await send(op, input, key, { 'idempotency-key': 'once' });
      assert.ok(successesOf(op).includes(first.status as 200), first.text);
      const audits = await auditCount(w);
      const second = await send(op, input, key, { 'idempotency-key': 'once' });
      assert.deepEqual([second.status, second.text, second.headers.get('x-idempotent-replay')], [first.status, first.text, 'true']);
      assert.equal(await auditCount(w), audits);
    });
});

describe('answers agree with the OpenAPI document, and every refusal is a declared one', () => {
  type Response = { $ref?: string; content: { 'application/json': { schema: object } } };
  const document = openApiDocument([]) as {
    paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
    components: { responses: Record<string, Response> };
  };
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  for (const op of byKey)
    test(op.id, async () => {
      const w = await workspace();
      const { text: key } = await w.key('live');
      const [method, path] = op.http.split(' ') as [string, string];
      const described = document.paths[path]?.[method.toLowerCase()];
      assert.ok(described, 'not in the document');
      const check = (answer: Answer): void => {
        const given = described.responses[answer.status];
        const response = given?.$ref ? document.components.responses[given.$ref.split('/').at(-1) as string] : given;
        assert.ok(response, `status ${answer.status} is not documented: ${answer.text}`);
        const validate = ajv.compile({ ...response.content['application/json'].schema, components: document.components });
        assert.ok(validate(answer.body), `${answer.status}: ${ajv.errorsText(validate.errors)}\n${answer.text}`);
        const type = (JSON.parse(answer.text) as { error?: { type: string } }).error?.type;
        if (type) assert.ok((errorTypesOf(op) as string[]).includes(type), `${type} is not declared`);
      };
      check(await send(op, await sample(op, w.live), key));
      const wrong = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map((m) => [m[1], crypto.randomUUID()]));
      check(await send(op, { ...(await sample(op, w.live)), ...wrong }, key));
      check(await send(op, wrong, key));
      check(
        await call(method, path.replace(/\{\w+\}/g, 'nonsense%20%F0%9F%92%A9'), {
          key,
          ...(hasBody(op) ? { body: { name: 17, id: [], value: {}, page: 'x' } } : {}),
        }),
      );
    });
});

describe('unknown members of a body change nothing, and the caller is told that they did not', () => {
  for (const op of byKey.filter((o) => o.http.startsWith('POST ')))
    test(op.id, async () => {
      const w = await workspace();
      const { text: key } = await w.key('live');
      const answer = await send(
        op,
        {
          ...(await sample(op, w.live)),
          tenant_id: crypto.randomUUID(),
          sandbox: true,
          created_at: '1999-01-01T00:00:00Z',
          unknown_member: { a: 1 },
        },
        key,
      );
      assert.ok(successesOf(op).includes(answer.status as 200), answer.text);
      assert.ok(!answer.text.includes('1999-01-01') && !JSON.stringify(answer.body.data).includes('unknown_member'));
      assert.match(JSON.stringify(answer.body.meta), /Ignored unknown fields?: [a-z_, ]*unknown_member/);
      if (answer.body.data?.tenant_id) assert.equal(answer.body.data.tenant_id, w.tenant.id);
      if (answer.body.data?.sandbox !== undefined) assert.equal(answer.body.data.sandbox, false);
    });
});

describe('every change leaves one audit entry with actor and request id, and a read leaves none; an export counts as a disclosure', () => {
  // Routes are tried by the gateway of the node, which reads every workspace after each of its changes: it starts for the last test of all.
  const byGateway = (op: AnyOperation) => op.id === 'routes.test';
  for (const op of [...withSample.filter((o) => !byGateway(o)), ...withSample.filter(byGateway)])
    test(op.id, async () => {
      if (byGateway(op)) await (await startGateway()).controlSocket.listen(controlSocketPath());
      const w = await workspace();
      const ctx = ableCtx(op, w);
      const input = await sample(op, ctx);
      const before = await auditCount(w);
      await perform(op, ctx, input);
      const written = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' }, skip: before });
      if (!isChange(op) && !(op.stream && op.needs !== 'any')) return assert.equal(written.length, 0, 'a read wrote an audit entry');
      const critical = await db().audit_log_critical.findMany({ where: { tenant_id: w.tenant.id } });
      assert.ok(written.length + critical.length >= 1, 'no audit entry');
      for (const entry of critical) assert.deepEqual([entry.actor_id, entry.request_id], [ctx.actor.id, ctx.request_id]);
      for (const entry of written) {
        const details = entry.details as { sandbox: boolean; actor: { type: string; id: string }; request_id: string };
        // Those of the two spaces write in both, each entry where its row is.
        assert.deepEqual(
          [details.sandbox, details.actor.type, details.actor.id, details.request_id],
          [op.id.startsWith('sandbox.') ? entry.sandbox : false, keyMay(op) ? 'api_key' : 'user', ctx.actor.id, ctx.request_id],
        );
        assert.equal(entry.request_id, ctx.request_id);
      }
    });
});
