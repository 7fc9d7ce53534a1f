import { assertUsesSecrets } from '#server/domain/policies/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { confirmTargets } from '../actions/guarding.ts';
import { draftOf, settingsOf } from '../config/draft.ts';
import { type NewValues, targetsOf } from '../config/targets.ts';
import { assertFills } from '../fill-in.ts';
import { secretsSent } from '../secret-use.ts';

/**
 * Variables are about to get other values, and these routes have them in their targets: what they send goes there from then on. Asks what a change of the
 * targets themselves asks. Call it before the values are written. @throws Refusal forbidden, role_denied, mfa_required, step_up_required
 */
export async function confirmVariables(tx: Tx, ctx: Ctx, routeIds: readonly string[], changed: NewValues): Promise<void> {
  if (routeIds.length === 0) return;
  const rows = await tx.routes.findMany({
    where: { ...own(ctx), id: { in: [...routeIds] } },
    include: { configs: true },
    omit: { favicon_data: true },
  });
  const routes = rows.map(({ id, collection_id, configs }) => ({ id, collection_id, draft: draftOf(configs) }));
  const targets = await targetsOf(tx, ctx, routes);
  const [was, is] = [targets(), targets(changed)];
  const moved: { route: number; environment: string }[] = [];
  for (const [i, { id }] of routes.entries()) {
    const [before, after] = [was[i] ?? new Map(), is[i] ?? new Map()];
    const environments = [...after.keys()].filter((name) => before.get(name) !== after.get(name));
    moved.push(...environments.map((environment) => ({ route: i, environment })));
    await confirmTargets(tx, ctx, id, before, after);
  }
  const sent = await secretsSent(tx, ctx, routes);
  await assertUsesSecrets(
    ctx,
    moved.flatMap(({ route, environment }) => [...(sent[route]?.get(environment) ?? [])]),
    'a route',
  );
  const fills = ({ route, environment }: (typeof moved)[number]) =>
    routes[route] !== undefined && settingsOf(routes[route].draft, environment).body_placeholders !== 'off';
  if (moved.some(fills)) await assertFills(ctx);
}
