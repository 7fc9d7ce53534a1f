import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { changedFields, type Draft } from './config/draft.ts';
import { warnOfLiterals } from './config/literals.ts';
import { saveReferences } from './config/references.ts';
import type { ConfigField } from './effective.ts';
import { forgetIcon, iconOrigin } from './icon/service.ts';
import { storeDraft } from './store.ts';

const WITH_TEMPLATES: readonly ConfigField[] = [
  'target_base_url',
  'inject_headers_json',
  'inject_query_json',
  'inject_body_json',
  'method_configs',
  'upstream_auth',
];

/**
 * Stores a draft and what its templates refer to. `moved`: the route changes its collection, so every variable is looked up anew.
 * @throws Refusal validation_error for a malformed template, an unknown secret or variable
 */
export async function saveDraft(
  tx: Tx,
  ctx: Ctx,
  route: { id: string; collection_id: string | null },
  before: Draft | null,
  after: Draft,
  ids: Map<string, string>,
  moved = false,
): Promise<void> {
  const written = new Map([...after.locals.keys()].map((name) => [name, before ? changedFields(before, after, name) : WITH_TEMPLATES]));
  const removed = before ? [...before.locals.keys()].some((name) => !after.locals.has(name)) : false;
  await storeSettings(tx, ctx, route, before, after, ids);
  if (!moved && !removed && ![...written.values()].some((fields) => fields.some((f) => WITH_TEMPLATES.includes(f)))) return;
  const isWritten = (environment: string, field: ConfigField) => written.get(environment)?.includes(field) ?? false;
  await saveReferences(tx, ctx, route, after, (environment, field) => moved || isWritten(environment, field));
  warnOfLiterals(ctx, after, isWritten);
}

/** The settings alone; another host has another icon. */
export async function storeSettings(tx: Tx, ctx: Ctx, route: { id: string }, before: Draft | null, after: Draft, ids: Map<string, string>) {
  await storeDraft(tx, ctx, route, before, after, ids);
  if (before && hostOf(before) !== hostOf(after)) await forgetIcon(tx, ctx, route.id);
}

const hostOf = ({ base, locals }: Draft) => iconOrigin(locals.get(base)?.target_base_url);
