import { raise } from '#server/domain/events/service.ts';
import type { Letter } from '#server/domain/mail/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import type { AboutAgent } from '../letters.ts';
import { entryOf } from '../store.ts';
import { mailOwners, sendWritten } from '../telling.ts';
import type { AgentCaller } from './caller.ts';

const HOUR = 3_600_000;

export type Tamper = {
  kind: 'unknown_build' | 'fingerprint_mismatch' | 'bad_bundle';
  action_taken: 'alerted' | 'refused';
  version: string | null;
  build_sig: string | null;
  letter?: { kind: string; of: (about: AboutAgent) => Letter };
};

/** Writes down what looks wrong, tells subscribers and Owners. The same from the same address is told once an hour. Commits by itself: the call may be refused after it. */
export async function noteTamper(ctx: Ctx, agent: AgentCaller, tamper: Tamper): Promise<void> {
  const { kind, action_taken, version, build_sig, letter } = tamper;
  const seen = { kind, action_taken, version_reported: version, build_sig_reported: build_sig, src_ip: ctx.ip };
  const mails = await mutate(ctx, async (tx) => {
    await tx.$queryRaw`select 1 from agents where id = ${agent.id}::uuid for no key update`;
    const mine = { ...own(ctx), agent_id: agent.id };
    const since = new Date(ctx.now.getTime() - HOUR);
    if ((await tx.agent_tamper_events.count({ where: { ...mine, ...seen, detected_at: { gt: since } } })) > 0)
      return unchanged<string[]>([]);
    const row = await tx.agent_tamper_events.create({ data: { ...mine, ...seen, id: newId(), detected_at: ctx.now } });
    await tx.agents.update({
      where: { id: agent.id, ...own(ctx) },
      data: { tamper_count: { increment: 1 }, updated_at: agent.updated_at },
    });
    const data = { id: agent.id, name: agent.name, agent_id: agent.agent_id, kind, action_taken, version, src_ip: ctx.ip };
    await raise(tx, ctx, [{ type: 'agent.tamper_detected', source_id: agent.id, data }]);
    const written = letter ? await mailOwners(tx, ctx, agent, letter.kind, letter.of) : [];
    return audited(written, entryOf('update', agent, { tamper: kind, action_taken, event_id: row.id, version }));
  });
  sendWritten(ctx, mails);
}
