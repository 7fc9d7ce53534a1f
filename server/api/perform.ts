import { z } from 'zod';
import { noteUses } from '#server/domain/api-keys/uses.ts';
import { families } from '#server/domain/families.ts';
import { denyingPolicy } from '#server/domain/policies/service.ts';
import { isServableStatus } from '#server/domain/tenants/schema.ts';
import { type Capability, rolesWith, seesNamesOnly } from '#server/kernel/capabilities.ts';
import type { Ctx, HotCtx } from '#server/kernel/context.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import type { Expectation } from '#server/kernel/expectation.ts';
import { REQUIRED_FROM_MACHINES } from '#server/kernel/fields.ts';
import { type AnyOperation, type Feed, isChange, type Operation } from '#server/kernel/operation.ts';
import type { Page } from '#server/kernel/page.ts';
import type { RawBody } from '#server/kernel/streamed.ts';

/**
 * What REST and tRPC have in common: the right to do it, the input, the verb, and only declared fields leaving.
 * Returns the parsed output and, for lists, the page it came from.
 */
export async function perform<I extends z.ZodType, O extends z.ZodType>(
  op: Operation<I, O>,
  ctx: Ctx,
  raw: unknown,
): Promise<{ output: z.output<O>; result: unknown }> {
  await allow(op, ctx);
  return execute(op, ctx, raw);
}

/** The same for a body that is not JSON; the operation's rights and input rules hold all the same. */
export async function performRaw<I extends z.ZodType>(
  op: AnyOperation,
  stream: (ctx: Ctx, input: z.output<I>) => Promise<RawBody>,
  ctx: Ctx,
  raw: unknown,
): Promise<RawBody> {
  await allow(op, ctx);
  return stream(ctx, parsed(op.input, ctx, raw));
}

/** The actor holds every capability the operation needs, and no tenant policy denies it (interface rule 24 §7). */
export async function allow(op: AnyOperation, ctx: HotCtx): Promise<void> {
  if (op.needs === 'anonymous') return;
  if (!isServable(ctx) && isChange(op) && !STAYS_OPEN.has(op.id))
    throw new Refusal(
      'subscription_inactive',
      `This workspace's subscription is ${ctx.subscription_status?.replace('_', ' ')}. You can read data and revoke keys, but not make changes.`,
    );
  const needs = op.needs === 'any' ? [] : op.needs;
  for (const capability of needs) {
    if (!ctx.actor.capabilities.has(capability)) throw missing(ctx, op, capability);
    const policy = await denyingPolicy(ctx, capability);
    if (policy) throw new Refusal(ctx.actor.type === 'member' ? 'role_denied' : 'forbidden', `denied by tenant policy ${policy.name}`);
  }
  noteUses(ctx, needs);
}

/** Keys have met this rule at authentication; members keep reading and leaving (interface rule 20 §5). */
const isServable = (ctx: HotCtx) => ctx.subscription_status === undefined || isServableStatus(ctx.subscription_status);
const STAYS_OPEN: ReadonlySet<string> = new Set(['api_keys.revoke']);

/** Names what is missing and, to a person, the roles that have it: the next step is to ask for one of them. */
function missing({ actor }: HotCtx, op: AnyOperation, capability: Capability): Refusal {
  if (actor.type !== 'member') return new Refusal('forbidden', `This credential lacks the capability ${capability}.`);
  const roles = rolesWith(capability).map((role) => role[0]?.toUpperCase() + role.slice(1));
  const who = roles.length === 0 ? 'Only machine credentials have it.' : `Roles with access: ${new Intl.ListFormat('en').format(roles)}.`;
  return new Refusal('role_denied', `Your role (${actor.role}) lacks the capability ${capability}, required for: ${op.summary}. ${who}`);
}

/** Validation, the verb, and the output schema, in that order. */
export async function execute<I extends z.ZodType, O extends z.ZodType>(
  op: Operation<I, O>,
  ctx: Ctx,
  raw: unknown,
): Promise<{ output: z.output<O>; result: unknown }> {
  const input = parsed(op.input, ctx, raw);
  const result: unknown = await guarded(op, ctx, input, raw);
  return { output: shownTo(ctx, op, result) as z.output<O>, result };
}

/** What leaves: declared fields only, and of a list only names for callers who may not read more. */
export function shownTo(ctx: HotCtx, op: AnyOperation, result: unknown): unknown {
  const output: unknown = op.output.parse(op.list ? (result as Page<unknown> | Feed<unknown>).rows : result);
  return op.names && namesOnly(op, ctx) ? named(output, op.names) : output;
}

const namesOnly = ({ needs }: AnyOperation, ctx: HotCtx): boolean =>
  Array.isArray(needs) && needs.some((list) => seesNamesOnly(ctx.actor.capabilities, list));

const named = (rows: unknown, names: readonly string[]): unknown =>
  (rows as Record<string, unknown>[]).map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));

/** Runs the verb under the caller's expectation, if there is one; a stale one is refused with what the row is now. */
async function guarded<I extends z.ZodType, O extends z.ZodType>(op: Operation<I, O>, ctx: Ctx, input: z.output<I>, raw: unknown) {
  const expects = expectationOf(op, ctx, input, raw);
  if (!expects) return op.run(ctx, input, families);
  const result = await op.run({ ...ctx, expects }, input, families).catch(async (error: unknown) => {
    if (expects.state !== 'stale' || !(error instanceof Refusal)) throw error;
    throw new Refusal(error.type, error.message, {
      // Only a row with `edits` has an expectation.
      extra: { ...error.extra, current: (await perform((op.edits as NonNullable<typeof op.edits>).shown_by, ctx, input)).output },
    });
  });
  if (expects.state !== 'met') throw new Error(`${op.id} did not compare the row it edits`);
  return result;
}

/** `expected_updated_at` of a person's edit; keys do not have it, so on /v1 it is an unknown member like any other. */
function expectationOf<I extends z.ZodType>(op: Operation<I>, ctx: Ctx, input: z.output<I>, raw: unknown): Expectation | undefined {
  const given = (raw as { expected_updated_at?: unknown } | null)?.expected_updated_at;
  if (given === undefined || ctx.actor.type !== 'member') return undefined;
  const { edits } = op;
  if (!edits) throw invalid('expected_updated_at', 'is not supported by this operation');
  const time = z.iso.datetime({ offset: true }).safeParse(given);
  if (!time.success) throw invalid('expected_updated_at', 'must be the `updated_at` that you last read');
  return { updated_at: new Date(time.data), row: (tx) => edits.row(tx, ctx, input), state: 'open' };
}

/** The input as its schema understands it. @throws Refusal validation_error */
export function parsed<I extends z.ZodType>(schema: I, ctx: HotCtx, raw: unknown): z.output<I> {
  const input = schema.safeParse(raw);
  if (!input.success) throw new Refusal('validation_error', firstProblem(asSent(schema, input.error)));
  const missing = ctx.actor.type === 'member' ? undefined : missingFromMachine(schema, input.data);
  if (missing !== undefined) throw invalid(missing, 'is required');
  const field = unstorableField(input.data);
  if (field !== null) throw new Refusal('validation_error', unstorable(field));
  return input.data;
}

/** Fields that travel as headers are named as those. */
function asSent(schema: z.ZodType, error: z.ZodError): z.ZodError {
  const { shape = {} } = schema as { shape?: Record<string, z.ZodType> };
  const headerOf = (name: PropertyKey) => shape[String(name)]?.meta()?.['x-header'] as string | undefined;
  return new z.ZodError(
    error.issues.map((issue) => ({ ...issue, path: issue.path.map((name, i) => (i === 0 && headerOf(name)) || name) })),
  );
}

/** A field that people may leave out and machines may not. */
function missingFromMachine(schema: z.ZodType, data: unknown): string | undefined {
  const { shape = {} } = schema as { shape?: Record<string, z.ZodType> };
  const given = data as Record<string, unknown>;
  return Object.keys(shape).find((name) => given[name] === undefined && shape[name]?.meta()?.[REQUIRED_FROM_MACHINES]);
}

/** The first member that the database cannot hold, or null. */
export const unstorableField = (data: unknown): string | null =>
  Object.entries(data ?? {}).find(([, value]) => !isStorable(value))?.[0] ?? null;
export const unstorable = (field: string): string => `${field}: must not contain NUL or invalid Unicode`;

/** PostgreSQL has no NUL in text and jsonb, and UTF-8 no lone surrogate: the one would fail there, the other silently become U+FFFD. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (Array.isArray(value)) return value.every(isStorable);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}

/** `field: what is wrong`, of the first issue; never the value. */
export function firstProblem(error: z.ZodError): string {
  const { path: names, message } = innermost(error.issues[0] ?? { path: [], message: 'invalid' });
  const path = names.join('.');
  return path === '' || path === 'body'
    ? message[0]?.toUpperCase() + message.slice(1)
    : `${path}: ${message[0]?.toLowerCase()}${message.slice(1)}`;
}

type Problem = Pick<z.core.$ZodIssue, 'path' | 'message'> & { errors?: z.core.$ZodIssue[][] };

/** Of a value that can take several forms, the problem inside the one form it has; the union's own when that is not clear. */
function innermost(issue: Problem): Problem {
  const inside = (issue.errors ?? []).filter(([first]) => first && first.path.length > 0);
  const [first] = inside.length === 1 ? (inside[0] ?? []) : [];
  return first ? innermost({ ...first, path: [...issue.path, ...first.path] }) : issue;
}
