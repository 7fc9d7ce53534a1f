import { contentFingerprint } from '#server/crypto/canonical-json.ts';
import { countOf, limitOf } from '#server/domain/plans/service.ts';
import { withSecretNames } from '#server/domain/routes/transfer/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { PlanBuilder, Step } from './plan-builder.ts';
import { FAMILIES, type Family, type SandboxPlan } from './schema.ts';

/** Of each kind that grows and is limited, whether it fits. */
export async function limitsOf(tx: Tx, ctx: Ctx, builder: PlanBuilder): Promise<SandboxPlan['limits']> {
  const limits: SandboxPlan['limits'] = [];
  for (const type of FAMILIES) {
    const more = [...builder.steps.values()].filter((step) => step.type === type && step.action === 'create').length;
    const limit = more === 0 ? null : await limitOf(tx, ctx, `${type}s`);
    if (limit === null) continue;
    const used = await countOf(tx, ctx, `${type}s`);
    limits.push({ kind: `${type}s`, limit, used, more, fits: used + more <= limit });
  }
  return limits;
}

/** What a caller sees of a plan; the fingerprint is of everything it was judged by. */
export function planResponse(builder: PlanBuilder, limits: SandboxPlan['limits'], dryRun: boolean): SandboxPlan {
  // What came along and is there already is no news.
  const shown = [...builder.steps.values()].filter((step) => step.picked || step.action !== 'skip');
  const count = (action: Step['action']) => shown.filter((step) => step.action === action).length;
  return {
    id: null,
    from: spaceOf(builder.to === 'live'),
    to: builder.to,
    dry_run: dryRun,
    fingerprint: contentFingerprint(
      [...builder.steps.values()]
        .map(({ type, id, action, reason, exists, there: target, versions }) => [
          type,
          id,
          action,
          reason,
          exists ? target : null,
          versions,
        ])
        .sort((a, b) => String(a[1]).localeCompare(String(b[1]))),
    ),
    summary: { create: count('create'), update: count('update'), skip: count('skip'), conflict: count('conflict') },
    items: shown.sort((a, b) => ORDER[a.type] - ORDER[b.type]).map((step) => itemOf(step, builder)),
    missing_values: missingOf(builder),
    limits,
  };
}

const ORDER: Record<Family, number> = { route: 0, secret: 1, client: 2, collection: 3, environment: 4 };

const itemOf = (step: Step, builder: PlanBuilder): SandboxPlan['items'][number] => ({
  type: step.type,
  source_id: step.id,
  target_id: step.exists ? step.there : null,
  name: step.name,
  slug: step.slug,
  picked: step.picked,
  action: step.action,
  reason: step.reason,
  enabled: step.enabled,
  changes: step.changes.map((change) => ({ ...change, from: named(change.from, builder), to: named(change.to, builder) })),
  needs_values: step.needs_values,
  upstreams: step.upstreams,
  left_behind: step.left_behind,
});

type Value = SandboxPlan['items'][number]['changes'][number]['from'];
/** A secret has an id in each space, and one name that people know it by. */
const named = (value: unknown, { source, find, there }: PlanBuilder): Value =>
  withSecretNames(
    value,
    (id) => source.secrets.get(id)?.shortcode_name ?? find.theirs.secret.get(id)?.shortcode_name ?? there.get(id)?.name,
  ) as Value;

function missingOf({ steps, target }: PlanBuilder): SandboxPlan['missing_values'] {
  const wanting = [...steps.values()].filter((step) => step.action !== 'conflict');
  const pairs = wanting.flatMap((step) => step.needs_values.map((one) => ({ ...one, routes: one.routes ?? [step.name] })));
  return [...Map.groupBy(pairs, (one) => one.secret)].map(([secret, ones]) => ({
    secret,
    secret_id: target.secrets.find((one) => one.shortcode_name === secret)?.id ?? null,
    environments: [...new Set(ones.map((one) => one.environment))].sort(),
    routes: [...new Set(ones.flatMap((one) => one.routes))],
  }));
}
