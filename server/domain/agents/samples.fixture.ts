import type { Ctx } from '#server/kernel/context.ts';
import { fresh, idOf, nothing, type Sample } from '#server/testing/factories.ts';
import { createInstallToken } from './installing.ts';
import { CreateInstallToken, EnrolAgent } from './schema.ts';
import { enrolAgent } from './service.ts';

const agent: Sample = async () => ({ name: fresh('agent') });
const existing = idOf('agents.create', agent);

/** An agent of a mode that decrypts, without the gate, which has tests of its own. */
export const serverAgent = async (ctx: Ctx) => ({
  id: (await enrolAgent(ctx, EnrolAgent.parse({ name: fresh('agent'), mode: 'server' }))).id,
});

async function withToken(ctx: Ctx) {
  const { id } = (await existing(ctx)) as { id: string };
  return { id, tokenId: (await createInstallToken(ctx, CreateInstallToken.parse({ id }))).id };
}

export const samples: Record<string, Sample> = {
  'agents.list': nothing,
  'agents.create': agent,
  'agents.delete': existing,
  'agents.tamper_events': existing,
  'agents.browse': nothing,
  'agents.get': existing,
  'agents.enrol': async () => ({ name: fresh('agent'), mode: 'server' }),
  'agents.update': async (ctx) => ({ ...(await existing(ctx)), mode: 'server' }),
  'agents.rotate_secret': serverAgent,
  'agents.create_install_token': existing,
  'agents.install_tokens': existing,
  'agents.revoke_install_token': withToken,
  'agents.reset_fingerprint': existing,
  'agents.send_command': async (ctx) => ({ ...(await existing(ctx)), command: 'doctor' }),
  'agents.commands': existing,
  'agents.sessions': existing,
  'agents.metrics': existing,
};

export const revealed = {
  'agents.enrol': ({ agent_secret }: { agent_secret: string }) => [agent_secret],
  'agents.update': () => [],
  'agents.rotate_secret': ({ agent_secret }: { agent_secret: string }) => [agent_secret],
  'agents.create_install_token': ({ token }: { token: string }) => [token],
};
export const shownOnce = { 'agents.create': ['agent_secret'] };
export const unguardedEdits = ['agents.update'];
export const dependsOnState = [
  /create an agent of another mode, then switch/,
  /doesn't exist in this space/,
  /is only for the command scan/,
];
