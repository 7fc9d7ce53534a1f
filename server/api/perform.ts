import { z } from 'zod';
import { families } from '#server/domain/families.ts';
import { requireFeature } from '#server/domain/plans/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import type { AnyOperation, Operation } from '#server/kernel/operation.ts';
import { type Page, type PageRequest, pageWarnings } from '#server/kernel/page.ts';
import type { Expectation } from '#server/kernel/precondition.ts';
import type { RawBody } from '#server/kernel/raw-body.ts';
import { authorize } from './authorize.ts';
import { parsedInput, parsedOutput } from './parse.ts';
import { throughGate } from './reveal.ts';
import { shown } from './shown.ts';
import { confirmed } from './step-up.ts';

/**
 * What REST and tRPC have in common: the right to do it, the input, the verb, and only declared fields leaving.
 * Returns the parsed output and, for lists, the page it came from.
 */
export async function perform<I extends z.ZodType, O extends z.ZodType>(
  op: Operation<I, O>,
  ctx: Ctx,
  raw: unknown,
): Promise<{ output: z.output<O>; result: unknown }> {
  if (op.kind !== 'reveal') await authorize(op, ctx, () => fieldsOf(raw)); // the gate has an order of its own
  return execute(op, ctx, raw);
}

/** The same for a body that is not JSON; the operation's rights and input rules hold all the same. */
export async function performRaw<I extends z.ZodType>(
  op: AnyOperation,
  stream: (ctx: Ctx, input: z.output<I>) => Promise<RawBody>,
  ctx: Ctx,
  raw: unknown,
): Promise<RawBody> {
  if (op.kind === 'reveal') return throughGate<I, RawBody>(op, ctx, raw, stream);
  await authorize(op, ctx, () => fieldsOf(raw));
  const input = parsedInput(op.input, raw);
  if (op.feature) requireFeature(ctx, op.feature);
  return stream(ctx, input);
}

/** Validation, the plan's feature, the person's sign-in and confirmation, the verb, and the output schema, in that order (interface rule 01 §2). */
export async function execute<I extends z.ZodType, O extends z.ZodType>(
  op: Operation<I, O>,
  ctx: Ctx,
  raw: unknown,
): Promise<{ output: z.output<O>; result: unknown }> {
  if (op.kind === 'reveal')
    return throughGate<I, { output: z.output<O>; result: unknown }>(op, ctx, raw, async (granted, input) => {
      const result: unknown = await op.run(granted, input, families);
      return { output: parsedOutput(op, ctx, result), result };
    });
  const input = parsedInput(op.input, raw);
  if (op.feature) requireFeature(ctx, op.feature);
  const result: unknown = await shown(op, ctx, await confirmed(op, ctx, input, () => guarded(op, ctx, input, raw)));
  if (op.list === 'paged') ctx.warnings.push(...pageWarnings(input as PageRequest, result as Page<unknown>));
  return { output: parsedOutput(op, ctx, result), result };
}

const fieldsOf = (raw: unknown): Record<string, unknown> =>
  typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};

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
