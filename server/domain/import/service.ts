import type { z } from 'zod';
import { withinPlan } from '#server/domain/plans/service.ts';
import * as routes from '#server/domain/routes/service.ts';
import { insertSecret } from '#server/domain/secrets/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { nothingTaken, type Taken } from './credentials.ts';
import { type Proposed, proposeFromCurl } from './from-curl.ts';
import { openApiProposer } from './from-openapi.ts';
import type { Apply, Proposal, Propose } from './schema.ts';

/**
 * What the text would become, under names that are free in this space. Writes nothing.
 * @throws Refusal validation_error; rate_limited for a minute after a text that took as long as only a made-up one does
 */
export async function propose(ctx: Ctx, { kind, text }: z.output<typeof Propose>): Promise<Proposal> {
  const from = readInTurn(ctx.tenant_id, () => (kind === 'curl' ? (taken: Taken) => proposeFromCurl(text, taken) : openApiProposer(text)));
  let proposal = accepted(from(nothingTaken));
  for (let round = 0, taken = nothingTaken; round < 5; round++) {
    const found = await takenBy(ctx, proposal);
    if (found.secrets.size + found.routes.size === 0) break;
    taken = { secrets: new Set([...taken.secrets, ...found.secrets]), routes: new Set([...taken.routes, ...found.routes]) };
    proposal = accepted(from(taken));
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

const SLOW_MS = 1_500;
const PAUSE_MS = 60_000;
const paused = new Map<string, number>();

/** Reading a text holds up everybody on this process, for two seconds at most: whoever has one such text may have ten. */
function readInTurn<T>(tenantId: string, read: () => T): T {
  const began = performance.now();
  const wait = (paused.get(tenantId) ?? 0) - began;
  if (wait > 0)
    throw new Refusal('rate_limited', 'The last text took too long to read. Wait a minute, or paste a smaller part of the description.', {
      retryAfter: Math.ceil(wait / 1_000),
    });
  const result = read();
  const ended = performance.now();
  if (paused.size > 1_000) paused.clear();
  if (ended - began > SLOW_MS) paused.set(tenantId, ended + PAUSE_MS);
  return result;
}

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
