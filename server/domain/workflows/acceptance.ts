import { outputSchema } from '#server/ai/schema/output-schema.ts';
import { InvalidSchema } from '#server/ai/schema/shape.ts';
import { limitOf } from '#server/domain/plans/service.ts';
import { assertUsesSecrets, secretsScopeMissing } from '#server/domain/policies/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import {
  configOf,
  type Definition,
  graphOf,
  hardProblem,
  isRecord,
  type Problem,
  TRIGGER_NODE,
  triggerOf,
  triggerTypeOf,
} from './definition.shared.ts';
import { hookProblem } from './hook-settings.shared.ts';
import { ensureHook } from './hooks.ts';
import { canSendSms } from './nodes/sms.ts';
import { firstError, isPublishable, type NamedSecret, problemsOf, secretsNamed } from './publishable.shared.ts';
import { membersOnly, strangersAmong } from './recipients.ts';
import { mayCallRoutes, routeIdOf } from './routes-called.ts';
import { syncSchedule, syncSubscription } from './schedules.ts';
import type { WorkflowRow } from './store.ts';

/** What is wrong with a definition in this space: the pure rules, and whether what it names exists here. */
export async function problemsHere(tx: Tx, ctx: Ctx, definition: Definition): Promise<Problem[]> {
  const environments = await tx.environments.findMany({ where: own(ctx), select: { name: true } });
  const problems = problemsOf(definition, {
    sandbox: ctx.sandbox,
    routes: await routesNamed(ctx, definition),
    environments: new Set(environments.map(({ name }) => name)),
    // Texts of Test are logged, not sent.
    sms: ctx.sandbox || canSendSms(),
  });
  const wrong = isPublishable(problems) ? await triggerProblem(definition) : undefined;
  if (wrong !== undefined) problems.unshift({ node_id: TRIGGER_NODE, severity: 'error', message: wrong });
  const missing = (await secretsFound(tx, ctx, secretsNamed(definition))).filter(({ id }) => id === null);
  return [
    ...problems.filter(({ severity }) => severity === 'error'),
    ...missing.map(({ node_id, secret }) => ({
      ...{ node_id, severity: 'error' as const },
      message: `names a secret that doesn't exist in this space: ${secret}`,
    })),
    ...(await recipientProblems(tx, ctx, definition)),
    ...problems.filter(({ severity }) => severity === 'warning'),
  ];
}

/** What of a trigger takes more than the rules that pages know, too. */
async function triggerProblem(definition: Definition): Promise<string | undefined> {
  const trigger = triggerOf(definition);
  const type = triggerTypeOf(definition);
  if (!trigger) return undefined;
  if (type === 'webhook') return hookProblem(configOf(trigger)) ?? undefined;
  const { inputSchema } = configOf(trigger);
  if (type !== 'manual' || !isRecord(inputSchema)) return undefined;
  try {
    await outputSchema(inputSchema);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidSchema) return `inputSchema must be a JSON Schema (2020-12) that can be run: ${error.message}`;
    throw error;
  }
}

/** Addresses that the Free plan sends no mail to, as far as the definition names them itself. */
async function recipientProblems(tx: Tx, { tenant_id, sandbox }: Ctx, definition: Definition): Promise<Problem[]> {
  const mails = graphOf(definition).nodes.flatMap((node) => {
    const { to } = configOf(node);
    const named = (Array.isArray(to) ? to : String(to ?? '').split(',')).map((one) => String(one).trim());
    return node.type === 'email' ? [{ node_id: node.id, to: named.filter((one) => one !== '' && !one.includes('{{')) }] : [];
  });
  if (sandbox || mails.length === 0) return [];
  const { subscription_plan } = await tx.tenants.findUniqueOrThrow({ where: { id: tenant_id }, select: { subscription_plan: true } });
  if (subscription_plan !== 'free') return [];
  const strangers = new Set(
    await strangersAmong(
      tx,
      tenant_id,
      mails.flatMap(({ to }) => to),
    ),
  );
  return mails.flatMap(({ node_id, to }) => {
    const found = to.filter((one) => strangers.has(one));
    return found.length === 0 ? [] : [{ node_id, severity: 'error' as const, message: `to: ${membersOnly(found)}` }];
  });
}

/** @throws Refusal invalid_definition, whose message names the first node (interface rule 62 §2 rule 1) */
export function requirePublishable(problems: readonly Problem[]): void {
  if (!isPublishable(problems)) throw new Refusal('invalid_definition', firstError(problems) ?? 'The definition is not publishable.');
}

/** What the definition calls routes by, as far as such a route exists. */
async function routesNamed(ctx: Ctx, definition: Definition): Promise<Set<string>> {
  const texts = new Set(
    graphOf(definition)
      .nodes.map((node) => configOf(node).route)
      .filter((route) => typeof route === 'string'),
  );
  const found = await Promise.all([...texts].map(async (route) => ((await routeIdOf(ctx, route)) === null ? [] : [route])));
  return new Set(found.flat());
}

type Found = NamedSecret & { id: string | null };

async function secretsFound(tx: Tx, ctx: Ctx, named: readonly NamedSecret[]): Promise<Found[]> {
  if (named.length === 0) return [];
  const of = (by: 'id' | 'name') => [...new Set(named.filter((one) => one.by === by).map(({ secret }) => secret))];
  const rows = await tx.secrets.findMany({
    where: {
      ...own(ctx),
      secret_type: 'string',
      OR: [{ id: { in: of('id').filter(isUuid) } }, { shortcode_name: { in: of('name') } }],
    },
    select: { id: true, shortcode_name: true },
  });
  const ids = new Set(rows.map(({ id }) => id));
  const byName = new Map(rows.map(({ id, shortcode_name }) => [shortcode_name, id]));
  return named.map((one) => {
    const id = one.secret.toLowerCase();
    return { ...one, id: one.by === 'name' ? (byName.get(one.secret) ?? null) : ids.has(id) ? id : null };
  });
}

/** Places of a definition that name a secret: each is a row. */
const MOST_NAMED = 1_000;

/**
 * Whoever writes a definition or makes it live must be able to do what it does, and what was merged or renamed into it is within its bounds, too.
 * @throws Refusal forbidden, role_denied, validation_error
 */
export async function mayWrite(tx: Tx, ctx: Ctx, definition: Definition): Promise<void> {
  const problem = hardProblem(definition);
  if (problem) throw invalid('definition', `${problem.path === '' ? '' : `${problem.path} `}${problem.message}`);
  const { length } = secretsNamed(definition);
  if (length > MOST_NAMED)
    throw invalid('definition', `names secrets in ${length} places and may in ${MOST_NAMED}: use fewer placeholders`);
  await mayNameSecrets(tx, ctx, definition);
  await mayCallRoutes(ctx, definition);
}

/**
 * Whoever writes a definition that names a secret must be able to read secrets, whether or not the secret exists yet: else a key that can't could have
 * one sent to a host of its own. @throws Refusal forbidden, role_denied
 */
async function mayNameSecrets(tx: Tx, ctx: Ctx, definition: Definition): Promise<void> {
  const named = secretsNamed(definition);
  if (named.length === 0) return;
  if (!ctx.actor.capabilities.has('secret:read')) throw secretsScopeMissing(ctx, 'a workflow');
  const ids = (await secretsFound(tx, ctx, named)).flatMap(({ id }) => id ?? []);
  await assertUsesSecrets(ctx, ids, 'a workflow');
}

/** Keeps everything that follows from a workflow in step with its row: schedule, subscription to events, URL, and who uses which secret. */
export async function followWorkflow(tx: Tx, ctx: Ctx, row: WorkflowRow): Promise<void> {
  await syncSchedule(tx, ctx, row, (await limitOf(tx, ctx, 'workflow_schedule_min_minutes')) ?? 1);
  await syncSubscription(tx, ctx, row);
  if (row.trigger_type === 'webhook') await ensureHook(tx, ctx, row.id);
  await listUses(tx, ctx, row);
}

/** Says which secrets a workflow uses, its draft included: that can be run and tested as well. Call it whenever either changes. */
export async function listUses(tx: Tx, ctx: Ctx, row: Pick<WorkflowRow, 'id' | 'definition' | 'draft'>): Promise<void> {
  await forgetReferences(tx, ctx, row.id);
  const named = [row.definition, row.draft].flatMap((stored) => secretsNamed(graphOf(stored)));
  const once = new Map(named.map((one) => [`${one.node_id} ${one.field} ${one.by} ${one.secret}`, one]));
  const uses = (await secretsFound(tx, ctx, [...once.values()])).flatMap((one) => (one.id === null ? [] : [{ ...one, id: one.id }]));
  if (uses.length > 0)
    await tx.secret_references.createMany({
      data: uses.map(({ id, node_id, field, by }) => ({
        ...own(ctx),
        ...{ id: newId(), secret_id: id, kind: 'workflow', referrer_id: row.id, referrer_env: null, field_path: `${node_id}.${field}`, by },
      })),
    });
}

export const forgetReferences = (tx: Tx, ctx: Ctx, workflowId: string) =>
  tx.secret_references.deleteMany({ where: { ...own(ctx), kind: 'workflow', referrer_id: workflowId } });
