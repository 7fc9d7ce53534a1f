import { createSecretKey, hash, randomBytes } from 'node:crypto';
import { agentKeysOf, agentSignature } from '#server/crypto/agent-keys.ts';
import { createInstallToken } from '#server/domain/agents/installing.ts';
import type { AgentMode } from '#server/domain/agents/modes.shared.ts';
import { CreateInstallToken, EnrolAgent } from '#server/domain/agents/schema.ts';
import { enrolAgent } from '#server/domain/agents/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { fresh } from '#server/testing/factories.ts';
import { handleAgents } from './handle.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Answer = { status: number; body: any; headers: Headers };
export type Asking = { ip?: string; space?: 'live' | 'test'; now?: Date; headers?: Record<string, string> };

/** Calls the plane as the front door would. */
export async function ask(
  method: string,
  path: string,
  body?: unknown,
  { ip = '192.0.2.1', space = 'live', now, headers = {} }: Asking = {},
): Promise<Answer> {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const init = { method, headers: { ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...headers } };
  const req = new Request(`http://agents.test${path}`, text === undefined ? init : { ...init, body: text });
  const response = await handleAgents(req, { space, ip, request_id: newId(), user_agent: null }, now);
  const answer = await response.text();
  return { status: response.status, body: answer === '' ? null : JSON.parse(answer), headers: response.headers };
}

export const machine = (name: string): string => hash('sha256', name, 'hex');
export const hostOf = (name: string) => ({
  hostname: name,
  os: 'linux',
  arch: 'x64',
  version: '1.0.0',
  machine_fingerprint: machine(name),
});

export type Agent = { id: string; agent_id: string; agent_secret: string; mode: AgentMode };

/** An agent without the gate, which has tests of its own. */
export async function agent(ctx: Ctx, mode: AgentMode = 'control', more: Record<string, unknown> = {}): Promise<Agent> {
  const { id, agent_id, agent_secret } = await enrolAgent(ctx, EnrolAgent.parse({ name: fresh('agent'), mode, ...more }));
  return { id, agent_id, agent_secret, mode };
}

export const installToken = async (ctx: Ctx, id: string): Promise<string> =>
  (await createInstallToken(ctx, CreateInstallToken.parse({ id }))).token;

export type Signing = Asking & { timestamp?: string; nonce?: string; signature?: string };

/** A signed call. */
export async function signed(
  of: Pick<Agent, 'agent_id' | 'agent_secret'>,
  path: string,
  body: unknown,
  options: Signing = {},
): Promise<Answer> {
  const text = JSON.stringify(body);
  const timestamp = options.timestamp ?? String(Math.floor((options.now ?? new Date()).getTime() / 1000));
  const nonce = options.nonce ?? randomBytes(16).toString('hex');
  const auth = createSecretKey(agentKeysOf(of.agent_id, of.agent_secret).subarray(0, 32));
  const signature =
    options.signature ?? agentSignature(auth, { method: 'POST', path, timestamp, nonce, body: Buffer.from(text) }).toString('hex');
  const headers = {
    ...{
      'x-svc-agent-id': of.agent_id,
      'x-svc-agent-timestamp': timestamp,
      'x-svc-agent-nonce': nonce,
      'x-svc-agent-signature': signature,
    },
    ...options.headers,
  };
  return ask('POST', path, text, { ...options, headers });
}

/** Asks for a session from a host of this name. */
export const openSession = (of: Agent, host = 'host-a', more: Record<string, unknown> = {}, options: Signing = {}): Promise<Answer> =>
  signed(of, '/agent/v1/session', { ...hostOf(host), build_sig: '', mode: of.mode, ...more }, options);

/** Headers of calls with a session. */
export const withToken = (of: Pick<Agent, 'agent_id'>, token: string) => ({ 'x-svc-agent-id': of.agent_id, 'x-svc-agent-token': token });

export const BEAT = { uptime_s: 60, version: '1.0.0', mode: 'control', counters: { requests: 3, errors: 1, intercepted: 2, passed: 1 } };
