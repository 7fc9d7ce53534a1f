import { type Ctx, own } from '#server/kernel/context.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { agentEntry } from './entries.ts';
import { lockedAgent } from './store.ts';

/** Forgets every kept answer of an agent. @throws Refusal not_found */
export const purgeCache = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const agent = await lockedAgent(tx, ctx, id);
    const answers = await tx.ai_cache_entries.count({ where: { ...own(ctx), agent_id: agent.id, scope: null } });
    await tx.ai_cache_entries.deleteMany({ where: { ...own(ctx), agent_id: agent.id } });
    return audited({ id: agent.id, purged: answers }, agentEntry('purge_cache', agent, { purged: answers }));
  });
