import type { z } from 'zod';
import { lockedSecret } from '#server/domain/secrets/service.ts';
import { parseTemplate, printTemplate } from '#server/domain/templates/grammar.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { configEntry, routeEntry } from './audit.ts';
import { changedFields, type Draft, draftOf } from './config/draft.ts';
import { saveReferences } from './config/references.ts';
import { withTexts } from './config/texts.ts';
import type { RouteRef } from './schema.ts';
import { lockRoute, routeByRef, storeDraft } from './store.ts';

/**
 * Lets every route that names a secret by its name name it by its id instead, so that it may be renamed (interface rule 30 §5). All routes in one
 * transaction; what they do stays the same, and a placeholder that was broken before stays as it is. @throws Refusal not_found
 */
export function nameSecretById(ctx: Ctx, input: z.output<typeof RouteRef>) {
  return mutate(ctx, async (tx) => {
    const secret = await lockedSecret(tx, ctx, input.id, { for: 'change' });
    const naming = await tx.secret_references.findMany({
      where: { ...own(ctx), secret_id: secret.id, kind: 'route_environment', by: 'name' },
      select: { referrer_id: true },
    });
    const routes: { id: string; name: string }[] = [];
    const entries: AuditEntry[] = [];
    // In order of id, as every change of several routes takes them.
    for (const id of [...new Set(naming.map((one) => one.referrer_id))].sort()) {
      const written = await rewrite(tx, ctx, id, secret);
      if (written.length === 0) continue;
      entries.push(...written);
      routes.push({ id, name: written[0]?.name ?? '' });
    }
    const [first, ...rest] = entries;
    return first ? audited({ routes }, first, rest) : unchanged({ routes });
  });
}

/** One route; its entries are those of the environments whose own settings changed. */
async function rewrite(tx: Tx, ctx: Ctx, routeId: string, secret: { id: string; shortcode_name: string }): Promise<AuditEntry[]> {
  const route = await heldRoute(tx, ctx, routeId);
  const before = draftOf(route.configs);
  const byId = (text: string) => withId(text, secret);
  const after: Draft = { base: before.base, locals: new Map([...before.locals].map(([name, local]) => [name, withTexts(local, byId)])) };
  const changed = [...after.locals.keys()].filter((name) => changedFields(before, after, name).length > 0);
  if (changed.length === 0) return [];
  await storeDraft(tx, ctx, route, before, after, new Map());
  await saveReferences(tx, ctx, route, after, () => false);
  await tx.routes.update({
    where: { id: route.id, ...own(ctx) },
    data: { config_version: { increment: 1 }, updated_at: ctx.now },
    select: { id: true },
  });
  const now = await routeByRef(tx, ctx, route.id);
  const details = { change: 'secret_by_id', secret_id: secret.id };
  return changed.map((name) => {
    const entry = name === after.base ? routeEntry('update', now, route) : configEntry('update', now, name, route);
    return { ...entry, details: { ...entry.details, ...details } };
  });
}

/** Its environments keep their names too until the end: a configuration is written under the name it was read with. */
async function heldRoute(tx: Tx, ctx: Ctx, routeId: string) {
  const { id } = await lockRoute(tx, ctx, routeId);
  await tx.$queryRaw`select 1 from environments where id in (select environment_id from route_environment_configs where route_id = ${id}::uuid)
    order by id for share`;
  return routeByRef(tx, ctx, id);
}

/** `{{secret:NAME}}` of this name only; every other placeholder and all text around it stay. */
function withId(text: string, secret: { id: string; shortcode_name: string }): string {
  const parsed = parseTemplate(text);
  if (!parsed.ok || !parsed.template.some((part) => part.kind === 'secret' && part.name === secret.shortcode_name)) return text;
  return printTemplate(
    parsed.template.map((part) =>
      part.kind === 'secret' && part.name === secret.shortcode_name ? { kind: 'secret_id' as const, id: secret.id } : part,
    ),
  );
}
