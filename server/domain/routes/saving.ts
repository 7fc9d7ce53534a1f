import { denyingPolicy, policyDenied } from '#server/domain/policies/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { KEY_TYPES, type KeyType } from '#server/kernel/key-types.ts';
import { confirmTargets } from './actions/guarding.ts';
import { changedFields, type Draft } from './config/draft.ts';
import { warnOfLiterals } from './config/literals.ts';
import { saveReferences } from './config/references.ts';
import { type Targets, targetsOf } from './config/targets.ts';
import type { ConfigField } from './effective.ts';
import { assertMayFill } from './fill-in.ts';
import { forgetIcon, iconOrigin } from './icon/service.ts';
import { confirmDraft } from './protections.ts';
import { assertMaySend, type Rewriting } from './secret-use.ts';
import { storeDraft } from './store.ts';

const WITH_TEMPLATES: readonly ConfigField[] = [
  'target_base_url',
  'inject_headers_json',
  'inject_query_json',
  'inject_body_json',
  'method_configs',
  'upstream_auth',
  'mtls_certificate_id',
  'upstream_ca_certificate_id',
];

/** `from`: the collection that a route leaves, where it changes it; every variable is looked up anew then. */
export type Placed = { id: string; collection_id: string | null; from?: string | null };

/**
 * Stores a draft and what its templates refer to.
 * @throws Refusal validation_error for a malformed template, an unknown secret or variable; forbidden, role_denied for a secret that the caller may not use
 */
export async function saveDraft(
  tx: Tx,
  ctx: Ctx,
  route: Placed,
  before: Draft | null,
  after: Draft,
  ids: Map<string, string>,
): Promise<void> {
  const moved = collectionLeft(route) !== route.collection_id;
  const written = new Map([...after.locals.keys()].map((name) => [name, before ? changedFields(before, after, name) : WITH_TEMPLATES]));
  const removed = before ? [...before.locals.keys()].some((name) => !after.locals.has(name)) : false;
  await assertMayStore(tx, ctx, [{ collection_id: route.collection_id, before, after, moved }]);
  await storeSettings(tx, ctx, route, before, after, ids);
  if (!moved && !removed && ![...written.values()].some((fields) => fields.some((f) => WITH_TEMPLATES.includes(f)))) return;
  const isWritten = (environment: string, field: ConfigField) => written.get(environment)?.includes(field) ?? false;
  await saveReferences(tx, ctx, route, after, (environment, field) => moved || isWritten(environment, field));
  await checkSigningKeys(tx, ctx, after, isWritten);
  warnOfLiterals(ctx, after, isWritten);
}

/**
 * What drafts let their routes do, whoever writes them must be able to do themselves: let callers name secrets, send secrets, sign for the upstream. Every door
 * that writes settings of a route asks this. @throws Refusal forbidden, role_denied
 */
export async function assertMayStore(tx: Tx, ctx: Ctx, rewritings: readonly Rewriting[]): Promise<void> {
  for (const { before, after, moved } of rewritings) {
    await assertMayFill(ctx, before, after, moved);
    await assertMaySign(tx, ctx, before, after);
  }
  await assertMaySend(
    tx,
    ctx,
    rewritings.filter(({ before, after, moved }) => !before || moved || rewritesTemplates(before, after)),
  );
}

/** What is not written is not read anew: it may have broken since. */
const rewritesTemplates = (before: Draft, after: Draft): boolean =>
  [...after.locals.keys()].some((name) => changedFields(before, after, name).some((field) => WITH_TEMPLATES.includes(field)));

async function assertMaySign(tx: Tx, ctx: Ctx, before: Draft | null, after: Draft): Promise<void> {
  for (const [environment, { upstream_auth: auth }] of after.locals) {
    if (auth?.type !== 'jwt_bearer' || auth.key_name === undefined) continue;
    if (before && !changedFields(before, after, environment).includes('upstream_auth')) continue;
    if (!ctx.actor.capabilities.has('transit:sign'))
      throw new Refusal(
        ctx.actor.type === 'member' ? 'role_denied' : 'forbidden',
        'Using a crypto key in upstream_auth requires the capability transit:sign.',
      );
    const key = await signingKey(tx, ctx, auth.key_name);
    const policy = key && (await denyingPolicy(ctx, 'transit:sign', key));
    if (policy) throw policyDenied(ctx, policy, 'transit:sign');
  }
}

const signingKey = (tx: Tx, ctx: Ctx, name: string) =>
  tx.crypto_keys.findFirst({ where: { ...own(ctx), name, deleted_at: null }, select: { id: true, name: true, key_type: true } });

/** A crypto key that signs for the upstream is there and fits the algorithm. */
async function checkSigningKeys(
  tx: Tx,
  ctx: Ctx,
  draft: Draft,
  isWritten: (environment: string, field: ConfigField) => boolean,
): Promise<void> {
  for (const [environment, { upstream_auth: auth }] of draft.locals) {
    if (auth?.type !== 'jwt_bearer' || auth.key_name === undefined || !isWritten(environment, 'upstream_auth')) continue;
    const key = await signingKey(tx, ctx, auth.key_name);
    if (!key) throw invalid('upstream_auth.key_name', 'no such key');
    const { jwt } = KEY_TYPES[key.key_type as KeyType];
    if (!(jwt as readonly string[]).includes(auth.algorithm))
      throw invalid(
        'upstream_auth.algorithm',
        jwt.length > 0
          ? `must be ${jwt.join(' or ')} for a key of type ${key.key_type}`
          : `doesn't fit: a key of type ${key.key_type} signs no JWT`,
      );
  }
}

/** The settings alone; another host has another icon. @throws Refusal step_up_required when they loosen what protects the route */
export async function storeSettings(tx: Tx, ctx: Ctx, route: Placed, before: Draft | null, after: Draft, ids: Map<string, string>) {
  if (before) {
    await confirmDraft(tx, ctx, route.id, before, after);
    const targets = await targetsOf(tx, ctx, [
      { draft: before, collection_id: collectionLeft(route) },
      { draft: after, collection_id: route.collection_id },
    ]);
    const [was, is] = targets() as [Targets, Targets]; // one for each of the two
    await confirmTargets(tx, ctx, route.id, was, is);
  }
  await storeDraft(tx, ctx, route, before, after, ids);
  if (before && hostOf(before) !== hostOf(after)) await forgetIcon(tx, ctx, route.id);
}

const collectionLeft = ({ collection_id, from = collection_id }: Placed): string | null => from;

const hostOf = ({ base, locals }: Draft) => iconOrigin(locals.get(base)?.target_base_url);
