import { CAPABILITIES } from '../server/kernel/capabilities.ts';
import type { Ctx } from '../server/kernel/context.ts';

/** The operator with every capability, for programs that set up a workspace by the verbs of its people: some refuse whoever could not do the same themselves. */
export const entitled = (ctx: Ctx): Ctx => ({ ...ctx, actor: { ...ctx.actor, capabilities: new Set(CAPABILITIES) } });
