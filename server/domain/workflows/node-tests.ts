import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import type { AnyOperation, Reveal } from '#server/kernel/operation.ts';
import { take } from '#server/platform/throttle.ts';
import { configOf, graphOf, type WorkflowNode } from './definition.shared.ts';
import { testNode as run } from './engine/node-test.ts';
import { executionViews } from './engine/views.ts';
import { secretsNamed } from './publishable.shared.ts';
import { mayCallRoutes, routeIdOf } from './routes-called.ts';
import type { TestNode } from './schema.ts';
import { workflowById } from './store.ts';

const PER_MINUTE = 20;

type Input = z.output<typeof TestNode>;

/** Row 3 of interface rule 32 §2: the gate stands before a step that resolves a secret; `plain` answers for every other. */
export const revealOfNodeTest = (plain: AnyOperation): Reveal<Input> => ({
  class: 'A',
  scope: 'plaintext.reveal',
  policy: 'workflow:test_credentialed',
  subject: async (ctx, input) => {
    const { workflow, node } = await read(ctx, (tx) => tested(tx, ctx, input));
    return { resource_type: 'workflow', resource_id: workflow.id, name: workflow.name, details: { node_id: node.id } };
  },
  unguarded: async (ctx, input) => ((await read(ctx, (tx) => resolvesSecret(tx, ctx, input))) ? null : plain),
});

/** @throws Refusal not_found */
async function tested(tx: Tx, ctx: Ctx, { id, node_id }: Pick<Input, 'id' | 'node_id'>) {
  const workflow = await workflowById(tx, ctx, id);
  const definition = graphOf(workflow.draft ?? workflow.definition);
  const node = definition.nodes.find((one) => one.id === node_id);
  if (!node) throw notFound();
  return { workflow, definition, node };
}

/** Names one itself, or calls a route, which injects what it is set to inject. */
async function resolvesSecret(tx: Tx, ctx: Ctx, input: Input): Promise<boolean> {
  const { definition, node } = await tested(tx, ctx, input);
  return secretsNamed(definition).some(({ node_id }) => node_id === node.id) || routeInjects(tx, ctx, node);
}

async function routeInjects(tx: Tx, ctx: Ctx, node: WorkflowNode): Promise<boolean> {
  if (node.type !== 'route_request') return false;
  const route = configOf(node).route;
  // A reference decides only when it runs, and a route may be made until then.
  const id = typeof route === 'string' && !route.includes('{{') ? await routeIdOf(ctx, route) : null;
  if (id === null) return true;
  const configs = await tx.route_environment_configs.findMany({ where: { ...own(ctx), route_id: id }, select: { id: true } });
  const referrers = [id, ...configs.map((config) => config.id)];
  return (await tx.secret_references.count({ where: { ...own(ctx), referrer_id: { in: referrers } } })) > 0;
}

/**
 * Runs one step of what the editor shows, with real effects: mail and SMS go to the tester alone. Nothing of it is stored.
 * @throws Refusal not_found, rate_limit_exceeded, forbidden when the step has come to need the gate meanwhile
 */
export async function testNode(ctx: Ctx, input: Input, { credentialed }: { credentialed: boolean }) {
  const { workflow, definition, last, email, secret } = await read(ctx, async (tx) => {
    const found = await tested(tx, ctx, input);
    return {
      ...found,
      secret: await resolvesSecret(tx, ctx, input),
      last: input.useLastRun ? await lastRun(tx, ctx, found.workflow.id) : {},
      email: await ownAddress(tx, ctx),
    };
  });
  await mayCallRoutes(ctx, { nodes: definition.nodes.filter(({ id }) => id === input.node_id) });
  if (secret && !credentialed) throw new Refusal('forbidden', 'This step sends a secret: test it again and confirm that it is you.');
  await seldom(ctx);
  return run(ctx, {
    workflow: { id: workflow.id, environment: workflow.environment },
    ...{ definition, node_id: input.node_id, input: input.input, context: { ...last, ...input.context }, own: { email, phone: null } },
  });
}

/** Outputs of the newest run, by node. */
async function lastRun(tx: Tx, ctx: Ctx, workflow_id: string): Promise<Record<string, unknown>> {
  if (!ctx.actor.capabilities.has('workflow:read_execution_data')) return {};
  const newest = await tx.workflow_executions.findFirst({
    where: { ...own(ctx), workflow_id, completed_at: { not: null } },
    orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
    select: { id: true },
  });
  if (!newest) return {};
  const rows = await tx.workflow_node_executions.findMany({
    where: { ...own(ctx), execution_id: newest.id, status: 'succeeded' },
    orderBy: [{ started_at: 'asc' }, { id: 'asc' }],
    select: { id: true, node_id: true },
  });
  // Of a node in a loop, the last iteration.
  const last = new Map(rows.map(({ id, node_id }) => [node_id, id]));
  const views = await executionViews(tx, ctx, newest.id, [...last.values()]);
  return Object.fromEntries(views.map(({ node_id, output }) => [node_id, output]));
}

/** The address of the person. */
async function ownAddress(tx: Tx, { actor }: Ctx): Promise<string | null> {
  if (actor.type !== 'member') return null;
  const person = await tx.users.findUnique({ where: { id: actor.id }, select: { email: true } });
  return person?.email ?? null;
}

async function seldom({ actor, now }: Ctx): Promise<void> {
  const rule = { what: 'workflow-node-test', subject: String(actor.id), limit: PER_MINUTE, window_sec: 60 };
  const { allowed, retry_after: retryAfter } = await take(rule, now);
  if (!allowed)
    throw new Refusal('rate_limit_exceeded', `Steps can be tested ${PER_MINUTE} times a minute. Try again shortly.`, { retryAfter });
}
