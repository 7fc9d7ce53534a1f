import type { z } from 'zod';
import { withinPlan } from '#server/domain/plans/service.ts';
import * as routes from '#server/domain/routes/service.ts';
import { insertSecret } from '#server/domain/secrets/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { processState } from '#server/kernel/process-state.ts';
import { WorkTooLarge, WorkTooSlow } from '#server/platform/threads/pool.ts';
import { nothingTaken, type Taken } from './credentials.ts';
import { type Proposed, proposeFromCurl } from './from-curl.ts';
import { proposeFromOpenApi } from './read-openapi.ts';
import type { Apply, Proposal, Propose } from './schema.ts';

/**
 * What the text would become, under names that are free in this space. Writes nothing.
 * @throws Refusal validation_error; rate_limited while a text is read, and for a minute after one that took as long as only a made-up one does
 */
export async function propose(ctx: Ctx, { kind, text }: z.output<typeof Propose>): Promise<Proposal> {
  if (kind === 'curl') return underFreeNames(ctx, (taken) => proposeFromCurl(text, taken));
  return oneAtATime(ctx.tenant_id, () => underFreeNames(ctx, (taken) => proposeFromOpenApi(text, taken, ctx.tenant_id)));
}

async function underFreeNames(ctx: Ctx, from: (taken: Taken) => Proposed | Promise<Proposed>): Promise<Proposal> {
  let proposal = accepted(await from(nothingTaken));
  for (let round = 0, taken = nothingTaken; round < 5; round++) {
    const found = await takenBy(ctx, proposal);
    if (found.secrets.size + found.routes.size === 0) break;
    taken = { secrets: new Set([...taken.secrets, ...found.secrets]), routes: new Set([...taken.routes, ...found.routes]) };
    proposal = accepted(await from(taken));
  }
  return proposal;
}

/** Makes the secrets, then the routes that name them, all or nothing. @throws Refusal plan_limit, conflict, validation_error, tenant_sealed */
export async function apply(ctx: Ctx, input: z.output<typeof Apply>) {
  for (const [i, route] of input.routes.entries()) await routes.checkTarget(ctx, `routes.${i}.target_base_url`, route.target_base_url);
  return mutate(ctx, async (tx) => {
    await withinPlan(tx, ctx, 'routes', input.routes.length);
    const secrets = [];
    for (const secret of input.secrets) secrets.push(await insertSecret(tx, ctx, secret));
    const made = [];
    for (const route of input.routes) made.push(await routes.insertRoute(tx, ctx, route));
    const [first, ...rest] = [...secrets, ...made].map(({ entry }) => ({ ...entry, details: { ...entry.details, imported: true } }));
    if (!first) throw invalid('routes', 'must not be empty');
    return audited(
      { routes: made.map(({ row }) => routes.recordOf(row)), secrets: secrets.map(({ row }) => ({ id: row.id, name: row.name })) },
      first,
      ...rest,
    );
  });
}

const PAUSE_MS = 60_000;
/** Until when a workspace must wait after a text that took too long. */
const paused = processState('import-paused', () => new Map<string, number>());
/** Workspaces whose text is being read. */
const reading = processState('import-reading', () => new Set<string>());

/** One text is read at a time, for seconds at most, and the others wait: whoever has one that takes so long may have ten. */
async function oneAtATime(tenantId: string, read: () => Promise<Proposal>): Promise<Proposal> {
  const left = (paused.get(tenantId) ?? 0) - performance.now();
  if (left > 0) throw busy('The previous import took too long to read. Wait a minute, or paste a smaller part of the description.', left);
  if (reading.has(tenantId)) throw busy('Another description is still being read.', 3_000);
  reading.add(tenantId);
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof WorkTooSlow || error instanceof WorkTooLarge)) throw error;
    if (paused.size > 1_000) paused.clear();
    paused.set(tenantId, performance.now() + PAUSE_MS);
    throw invalid('text', 'takes too long to read; paste a smaller part of it');
  } finally {
    reading.delete(tenantId);
  }
}

const busy = (message: string, ms: number) => new Refusal('rate_limited', message, { retryAfter: Math.ceil(ms / 1_000) });

function accepted(proposed: Proposed): Proposal {
  if (!proposed.ok) throw invalid('text', proposed.problem);
  return proposed.proposal;
}

/** Which of the proposed names exist. */
function takenBy(ctx: Ctx, proposal: Proposal): Promise<Taken> {
  return read(ctx, async (tx) => {
    const names = proposal.secrets.map((s) => s.name.toLowerCase());
    const secrets = await tx.$queryRaw<
      { name: string }[]
    >`select lower(shortcode_name) as name from secrets where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and lower(shortcode_name) = any(${names})`;
    const taken = await tx.routes.findMany({
      where: { ...own(ctx), name: { in: proposal.routes.map((r) => r.name) } },
      select: { name: true },
    });
    return { secrets: new Set(secrets.map((s) => s.name)), routes: new Set(taken.map((r) => r.name.toLowerCase())) };
  });
}
