import { settingsOf } from '#server/domain/tenants/schema.ts';
import type { Capability } from '#server/kernel/capabilities.ts';
import { confirmGrant, confirmLoosening } from '#server/kernel/confirmations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Grant } from '#server/kernel/guarded-capabilities.ts';
import { env } from '#server/platform/env.ts';

/** A client that one environment of a route admits. */
export type Admission = { client_id: string; route_id: string; environment_id: string };

/** What callers of a route see through its field actions. A test of routes compares this with what each action does. */
export const REVEALED_BY = { decrypt: 'transit:decrypt', detokenize: 'vault:detokenize' } as const satisfies Record<string, Capability>;

/**
 * Asks a person to confirm that these clients get in, or get in by more than before, wherever clients are required: there the address or credential of a
 * client is enough, without a key. Where the route decrypts or detokenizes, it grants that too. Call it in the transaction of the change, from a verb
 * whose row lists `protection.loosen` and `capability.grant`. @throws Refusal mfa_required, step_up_required
 */
export async function confirmAdmissions(tx: Tx, ctx: Ctx, admissions: readonly Admission[]): Promise<void> {
  if (admissions.length === 0) return;
  const required = await tx.$queryRaw<Admission[]>`
    select one.client_id::text, one.route_id::text, one.environment_id::text
    from unnest(${admissions.map((one) => one.client_id)}::uuid[], ${admissions.map((one) => one.route_id)}::uuid[],
      ${admissions.map((one) => one.environment_id)}::uuid[]) as one (client_id, route_id, environment_id)
    join route_environment_configs c on c.route_id = one.route_id and c.environment_id = one.environment_id
    join route_environment_configs base on base.route_id = c.route_id and base.is_base
    where c.tenant_id = ${ctx.tenant_id}::uuid and c.sandbox = ${ctx.sandbox} and coalesce(c.requires_clients, base.requires_clients)`;
  await confirmRequired(tx, ctx, required);
}

/** The same for environments that begin to require clients: an address replaces the key that was needed, unless the workspace always asks for one. */
export async function confirmRequiringClients(tx: Tx, ctx: Ctx, route_id: string, environments: readonly string[]): Promise<void> {
  if (environments.length === 0) return;
  const { settings } = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { settings: true } });
  if (settingsOf(settings).proxy_require_credential) return;
  const assigned = await tx.$queryRaw<Admission[]>`
    select a.client_id::text, a.route_id::text, a.environment_id::text from route_client_assignments a join environments e on e.id = a.environment_id
    where a.tenant_id = ${ctx.tenant_id}::uuid and a.sandbox = ${ctx.sandbox} and a.route_id = ${route_id}::uuid and e.name = any(${[...environments]})`;
  await confirmRequired(tx, ctx, assigned);
}

async function confirmRequired(tx: Tx, ctx: Ctx, admissions: readonly Admission[]): Promise<void> {
  if (admissions.length === 0) return;
  const actions = await tx.$queryRaw<{ route_id: string; action: keyof typeof REVEALED_BY }[]>`
    select distinct route_id::text, action from route_field_actions
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and enabled and action = any(${Object.keys(REVEALED_BY)})
      and route_id = any(${admissions.map((one) => one.route_id)}::uuid[])`;
  const after = actions.flatMap(({ route_id, action }) =>
    admissions
      .filter((one) => one.route_id === route_id)
      .map((one): Grant => `${REVEALED_BY[action]} on ${one.route_id} ${one.environment_id} client ${one.client_id}`),
  );
  await confirmGrant(tx, ctx, env.PUBLIC_ADMIN_URL, { before: [], after });
  await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, ['requires_clients']);
}
