import { denyingPolicy, policyDenied } from '#server/domain/policies/service.ts';
import { PERSON_FORBIDDEN, ROLE_MATRIX } from '#server/kernel/capabilities.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { FIELD_ACTIONS, type FieldActionName, keyTypesOf } from './rules.shared.ts';
import type { FieldActionSettings } from './schema.ts';

/** The key or vault that an action names. */
export type Material = { id: string; name: string };

/**
 * What an action works with, by name or ID: it exists in this space and can do what is asked of it. Null for actions that need nothing.
 * @throws Refusal validation_error
 */
export async function materialOf(
  tx: Tx,
  ctx: Ctx,
  { action, key_name }: Pick<FieldActionSettings, 'action' | 'key_name'>,
): Promise<Material | null> {
  const { takes } = FIELD_ACTIONS[action];
  if (takes === null || key_name === null) return null;
  if (takes === 'vault') {
    const vault = await vaultNamed(tx, ctx, key_name);
    if (!vault) throw invalid('key_name', 'no such vault in this space');
    return vault;
  }
  const key = await keyNamed(tx, ctx, key_name);
  if (!key) throw invalid('key_name', 'no such crypto key in this space');
  const problem = keyProblem(action, key);
  if (problem) throw invalid('key_name', problem);
  return key;
}

/** Why a key can't serve an action, or undefined. */
export function keyProblem(action: FieldActionName, key: { name: string; key_type: string; managed_by: string }): string | undefined {
  if (key.managed_by === 'vault') return 'belongs to a vault; use tokenize or detokenize with the vault';
  const types = keyTypesOf(action);
  return types.includes(key.key_type)
    ? undefined
    : `the key ${key.name} has the type ${key.key_type}, which can't ${action} fields; use ${types.length > 1 ? 'one of ' : ''}${types.join(', ')}`;
}

/** An ID is tried first, as everywhere (interface rule 40); names are never like IDs. */
async function keyNamed(tx: Tx, ctx: Ctx, ref: string) {
  const select = { id: true, name: true, key_type: true, managed_by: true };
  return tx.crypto_keys.findFirst({ where: { ...own(ctx), deleted_at: null, ...(isUuid(ref) ? { id: ref } : { name: ref }) }, select });
}

async function vaultNamed(tx: Tx, ctx: Ctx, ref: string): Promise<Material | undefined> {
  const [row] = await tx.$queryRaw<Material[]>`select id::text, name from vaults
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and deleted_at is null
      and (id::text = ${ref.toLowerCase()} or name = ${ref}) order by (id::text = ${ref.toLowerCase()}) desc limit 1`;
  return row;
}

/**
 * Whoever has a route use a key or vault must be allowed to use it themselves (interface rule 10 §8). A person decrypts and detokenizes by reveals only,
 * so for them the roles that may reveal count.
 * @throws Refusal role_denied for people, forbidden for machines
 */
export async function assertMayUse(ctx: Ctx, action: FieldActionName, material: Material | null): Promise<void> {
  const problem = await mayNotUse(ctx, action, material);
  if (problem) throw problem;
}

/** The refusal of a caller who may not have routes use this key or vault; undefined for one who may. */
export async function mayNotUse(ctx: Ctx, action: FieldActionName, material: Material | null): Promise<Refusal | undefined> {
  const { capability } = FIELD_ACTIONS[action];
  if (capability === null) return undefined;
  const { actor } = ctx;
  const ofPerson = actor.type === 'oauth_token' && actor.user_id !== null && PERSON_FORBIDDEN.has(capability);
  const byReveal = actor.type === 'member' && ROLE_MATRIX.get(capability)?.[actor.role] === 'B';
  if (!byReveal && (ofPerson || !actor.capabilities.has(capability)))
    return actor.type === 'member'
      ? new Refusal('role_denied', `Your role (${actor.role}) lacks the capability ${capability}, which a ${action} action needs.`)
      : new Refusal('forbidden', `This credential lacks the capability ${capability}, which a ${action} action needs.`);
  const policy = await denyingPolicy(ctx, capability, material ?? undefined);
  return policy ? policyDenied(ctx, policy, capability) : undefined;
}
