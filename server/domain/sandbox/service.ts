import type { z } from 'zod';
import { inTurn } from '#server/domain/environments/service.ts';
import { withinPlan } from '#server/domain/plans/service.ts';
import { denyingPolicy, policyDenied } from '#server/domain/policies/service.ts';
import { unusableActions } from '#server/domain/routes/transfer/service.ts';
import { acrossSpaces, type Within } from '#server/kernel/across-spaces.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, unchanged } from '#server/kernel/mutate.ts';
import { deferBreakingChanges } from './breaking-changes.ts';
import { counterparts, hold } from './counterparts.ts';
import { applyClients, planClients } from './families/clients.ts';
import { applyCollections, fillCollections, planCollections } from './families/collections.ts';
import { applyEnvironments, planEnvironments } from './families/environments.ts';
import { planRoutes, type RouteDrafts } from './families/routes.ts';
import { applySecrets, confirmPromotedPins, planSecrets } from './families/secrets.ts';
import { applyRoutes } from './families/write-routes.ts';
import { lockSandbox } from './lock.ts';
import { dropUnneeded, finderOf, type PlanBuilder, type Step, spreadConflicts } from './plan-builder.ts';
import { limitsOf, planResponse } from './plan-response.ts';
import { FAMILIES, type Family, type Promotion, type SandboxPlan } from './schema.ts';
import { loadSource } from './source.ts';

export { resetTest } from './reset.ts';

type Input = z.output<typeof Promotion>;
type Plan = { builder: PlanBuilder; drafts: RouteDrafts; answer: SandboxPlan };

/** Configuration of Test into Live; no value of a secret goes with it (interface rule 64 §5). @throws Refusal as `move` */
export const promote = (ctx: Ctx, input: Input): Promise<SandboxPlan> => move(ctx, 'live', input);
/** The same the other way round. */
export const clone = (ctx: Ctx, input: Input): Promise<SandboxPlan> => move(ctx, 'test', input);

/**
 * The plan, and what it says in one transaction unless it is a dry run.
 * @throws Refusal validation_error for an id of elsewhere, conflict with the plan as it is now when the given fingerprint is no longer that of it, plan_limit
 */
function move(ctx: Ctx, to: Space, input: Input): Promise<SandboxPlan> {
  return acrossSpaces(ctx, async (within, tx) => {
    if (!input.dry_run) await lockSandbox(tx, ctx);
    const first = await planned(within, to, input);
    if (input.dry_run) {
      ctx.changed = []; // nothing that a gateway would have to read again
      return first.answer;
    }
    await held(within, first.builder);
    const plan = await planned(within, to, input);
    if (input.fingerprint !== undefined && input.fingerprint !== plan.answer.fingerprint)
      throw new Refusal('conflict', `The plan has changed. Review the new plan, then try again.`, {
        extra: { current: { ...plan.answer, dry_run: true } },
      });
    return carriedOut(within, plan, to);
  });
}

async function planned(within: Within, to: Space, input: Input): Promise<Plan> {
  const source = await within(to === 'live', async (tx, here) => unchanged(await loadSource(tx, here, input.items)));
  return within(to === 'test', async (tx, here) => {
    const target = await counterparts(tx, here, source);
    const builder: PlanBuilder = {
      source,
      target,
      to,
      keepTargets: input.keep_target_urls,
      steps: new Map(),
      there: new Map(),
      find: finderOf(source, target),
    };
    planEnvironments(builder);
    planCollections(builder);
    planSecrets(builder);
    planClients(builder);
    // Before anything is judged by what they become.
    spreadConflicts(builder);
    await deferBreakingChanges(tx, here, builder);
    const actions = [...builder.source.routes.values()].flatMap((row) => row.field_actions);
    const drafts = await planRoutes(builder, here.now, await unusableActions(tx, here, actions));
    spreadConflicts(builder);
    dropUnneeded(builder);
    const limits = await limitsOf(tx, here, builder);
    return unchanged({ builder, drafts, answer: planResponse(builder, limits, input.dry_run) });
  });
}

/** Nothing that the plan was judged by changes before it is done. */
async function held(within: Within, { source, target, to, steps }: PlanBuilder): Promise<void> {
  const there = (type: Family) => [...steps.values()].flatMap((step) => (step.type === type && step.exists ? [step.there] : [])).sort();
  await within(to === 'live', async (tx, here) =>
    unchanged(
      await hold(tx, here, {
        environments: [...source.environments.values()].map((row) => row.id),
        collections: [...source.collections.keys()],
        secrets: [...source.secrets.keys()],
        clients: [...source.clients.keys()],
        routes: [...source.routes.keys()],
      }),
    ),
  );
  await within(to === 'test', async (tx, here) => {
    await inTurn(tx, here);
    return unchanged(
      await hold(tx, here, {
        environments: [...target.environments.values()].map((row) => row.id),
        collections: there('collection'),
        secrets: there('secret'),
        clients: there('client'),
        routes: there('route'),
      }),
    );
  });
}

async function carriedOut(within: Within, { builder, drafts, answer }: Plan, to: Space): Promise<SandboxPlan> {
  const todo = [...builder.steps.values()].filter((step) => step.action === 'create' || step.action === 'update');
  if (todo.length === 0) return answer;
  const of = (type: Family) => todo.filter((step) => step.type === type);
  const run = newId();
  const entry = promotionEntry(run, builder, answer);
  await within(to === 'test', async (tx, here) => {
    await refuseDenied(here, todo);
    for (const type of FAMILIES) {
      const more = of(type).filter((step) => !step.exists).length;
      if (more > 0) await withinPlan(tx, here, `${type}s`, more);
    }
    const entries = await applyEnvironments(tx, here, builder, of('environment'), run);
    await applyCollections(tx, here, builder, of('collection'));
    entries.push(...(await applySecrets(tx, here, builder, of('secret'), run)));
    entries.push(...(await applyClients(tx, here, builder, of('client'), run)));
    entries.push(...(await fillCollections(tx, here, builder, of('collection'), run)));
    entries.push(...(await applyRoutes(tx, here, builder, drafts, of('route'), run)));
    // Last: it holds the person's reveals until the transaction ends.
    const move = await confirmPromotedPins(tx, here, builder, of('secret'));
    return audited(undefined, { ...entry, details: { ...entry.details, ...move } }, entries);
  });
  await within(to === 'live', async () => audited(undefined, entry));
  const made = new Set(todo.map((step) => step.id));
  const items = answer.items.map((item) =>
    made.has(item.source_id) ? { ...item, target_id: builder.steps.get(item.source_id)?.there ?? null } : item,
  );
  const idOf = (name: string) => [...builder.steps.values()].find((step) => step.type === 'secret' && step.name === name)?.there ?? null;
  return {
    ...answer,
    id: run,
    items,
    missing_values: answer.missing_values.map((one) => ({ ...one, secret_id: one.secret_id ?? idOf(one.secret) })),
  };
}

/** A tenant policy that keeps somebody from a change there keeps them from promoting one (interface rule 24 §6). @throws Refusal role_denied */
async function refuseDenied(there: Ctx, todo: readonly Step[]): Promise<void> {
  const whole = await denyingPolicy(there, 'sandbox:promote');
  if (whole) throw policyDenied(there, whole, 'sandbox:promote');
  for (const { type, exists, there: id, name } of todo) {
    const capability = `${type}:${exists ? 'update' : 'create'}` as const;
    const policy = await denyingPolicy(there, capability, exists ? { id, name } : { name });
    if (policy) throw policyDenied(there, policy, capability);
  }
}

/** One in each space, so that the history of either tells of it (interface rule 64 §5). */
const promotionEntry = (run: string, builder: PlanBuilder, answer: SandboxPlan): AuditEntry => ({
  action: 'promote',
  resource_type: 'sandbox',
  resource_id: run,
  name: builder.to === 'live' ? 'from Test to Live' : 'from Live to Test',
  details: {
    promotion: run,
    direction: builder.to === 'live' ? 'test_to_live' : 'live_to_test',
    ...answer.summary,
    routes: answer.items
      .flatMap((i) => (i.type === 'route' && (i.action === 'create' || i.action === 'update') ? [i.name] : []))
      .slice(0, 50),
  },
});
