import { routeId } from '#server/domain/routes/samples.fixture.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';
import { keyActor } from '#server/testing/workspace.ts';
import { createInstallToken } from './installing.ts';
import type { AgentMode } from './modes.shared.ts';
import { CreateInstallToken, EnrolAgent } from './schema.ts';
import { AGENT_PROTECTIONS, enrolAgent } from './service.ts';

const agent: Sample = async () => ({ name: fresh('agent') });
const existing = idOf('agents.create', agent);

const ofMode =
  (mode: AgentMode): Sample =>
  async () => ({ name: fresh('agent'), mode });
/** An agent of that mode, enrolled by a machine, which nobody asks and no gate stops. */
const enrolled =
  (mode: AgentMode, settings: object = {}): Sample =>
  async (ctx) => ({
    id: (
      await enrolAgent({ ...ctx, actor: keyActor('Key - Infrastructure') }, EnrolAgent.parse({ name: fresh('agent'), mode, ...settings }))
    ).id,
  });

export const serverAgent = enrolled('server');

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

export const confirmedSamples: Record<string, Sample> = {
  'agents.enrol capability.grant': ofMode('intercept'),
  'agents.update capability.grant': async (ctx) => ({ ...(await existing(ctx)), mode: 'intercept' }),
  'agents.update protection.loosen': async (ctx) => ({
    ...(await enrolled('control', { allowed_cidrs: ['10.0.0.0/8'] })(ctx)),
    allowed_cidrs: [],
  }),
  'agents.rotate_secret capability.grant': enrolled('intercept'),
};

export const freeSamples: Record<string, Sample> = {
  'agents.enrol': ofMode('control'),
  'agents.update': async (ctx) => ({ ...(await enrolled('server')(ctx)), mode: 'intercept' }),
  'agents.rotate_secret': enrolled('control'),
};

export const loosening: Fixture['loosening'] = {
  'agents.update': {
    rules: AGENT_PROTECTIONS,
    of: async (ctx) => ({
      ...(await existing(ctx)),
      environment: (await made(ctx, 'environments.list'))[0].name,
      allowed_route_ids: [(await routeId(ctx)).id],
    }),
    pairs: {
      require_verified_build: { strict: { require_verified_build: true }, loose: { require_verified_build: false } },
      environment: { strict: {}, loose: { environment: null } },
      allowed_route_ids: { strict: {}, loose: { allowed_route_ids: [] } },
      allowed_cidrs: { strict: { allowed_cidrs: ['10.0.0.0/8'] }, loose: { allowed_cidrs: ['10.0.0.0/8', '192.0.2.0/24'] } },
    },
  },
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
