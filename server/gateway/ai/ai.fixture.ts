import { type CapabilityKind, capabilityHmac, mintCapability } from '#server/crypto/capability-tokens.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import type { Workspace } from '#server/testing/workspace.ts';
import {
  type Answer,
  type Ask,
  ask,
  makeRoute,
  makeSecret,
  type Running,
  served,
  startUpstream,
  type Upstream,
} from '../gateway.fixture.ts';

// An agent with its provider, its gateway and its tokens, as the control plane writes them.

export const SECRET = 'sk-provider-0123456789abcdef';

type Data = Record<string, unknown>;
export type TokenOptions = { kind?: CapabilityKind; scope?: Data; agentless?: boolean; columns?: Data; expiresAt?: Date; jkt?: string };

export type Agent = Awaited<ReturnType<typeof makeAgent>>;

/** A gateway with one agent whose route leads to `upstream`; columns are overridden by what is given. One of Test (`sandbox`) injects no secret. */
export async function makeAgent(w: Workspace, upstream: Pick<Upstream, 'url'>, agent: Data = {}, gateway: Data = {}, header: Data = {}) {
  const own = { tenant_id: w.tenant.id, sandbox: agent.sandbox === true };
  const name = newId().slice(-12);
  const environment = await db().environments.findFirstOrThrow({ where: { tenant_id: w.tenant.id, sandbox: false, is_default: true } });
  const secret = await makeSecret(w, `KEY_${name}`.toUpperCase(), { [environment.name]: SECRET });
  const reference = `{{secret_id:${secret.id}}}`;
  const usual = own.sandbox ? {} : { Authorization: `Bearer ${reference}` };
  const headers = Object.keys(header).length > 0 ? header : usual;
  const config = {
    inject_headers_json: Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, String(value).replace('$KEY', reference)])),
    body_placeholders: 'off',
  } as const;
  const route = await makeRoute(w, `ai-${name}`, upstream.url, config, { space: own.sandbox ? 'test' : 'live' });
  const door = await db().ai_gateways.create({ data: { id: newId(), ...own, name: 'Gateway', slug: `g-${name}`, ...gateway } as never });
  const row = await db().ai_agents.create({
    data: {
      id: newId(),
      ...own,
      gateway_id: door.id,
      name: 'Agent',
      slug: `a-${name}`,
      provider: 'openai-compatible',
      primary_route_id: route.id,
      default_model: 'gpt-test',
      ...agent,
    } as never,
  });
  return { agent: row, gateway: door, route, secret };
}

/** A signed token of the agent; what `columns` says is written after it was signed, as a forger would. */
export async function makeToken(w: Workspace, { agent, gateway }: Pick<Agent, 'agent' | 'gateway'>, options: TokenOptions = {}) {
  const { kind = 'agent', scope = {}, agentless = false, columns = {}, jkt } = options;
  const expires_at = options.expiresAt ?? new Date(Date.now() + 3_600_000);
  const env = agent.sandbox ? 'test' : 'live';
  const minted = mintCapability(env, kind);
  const tmk = await keyring().activeTmk(w.tenant.id);
  const agent_id = agentless ? null : agent.id;
  const signed = {
    tenant_id: w.tenant.id,
    env,
    kind,
    gateway_id: gateway.id,
    agent_id,
    dpop_jkt: jkt ?? null,
    expires_at,
    scope,
  } as const;
  const row = await db().ai_tokens.create({
    data: {
      id: newId(),
      tenant_id: w.tenant.id,
      sandbox: agent.sandbox,
      gateway_id: gateway.id,
      agent_id,
      token_hash: new Uint8Array(minted.digest),
      prefix: minted.prefix,
      kind,
      scope_jsonb: scope,
      dpop_required: jkt !== undefined,
      dpop_jkt: jkt ?? null,
      expires_at,
      lifetime_seconds: 3_600,
      capability_hmac: capabilityHmac(tmk.key, { ...signed, token_hash: minted.digest }),
      hmac_key_version: tmk.version,
      ...columns,
    } as never,
  });
  return { text: minted.token, row };
}

export type AiAnswer = Answer;

/** One call of an agent over a connection of its own. */
export function askAgent(
  running: Pick<Running, 'port'>,
  w: Workspace,
  agent: { slug: string; sandbox?: boolean },
  token: string | null,
  body: unknown,
  more: Ask & { path?: string } = {},
): Promise<AiAnswer> {
  const { path = '/v1/chat/completions', headers, ...rest } = more;
  return ask(running.port, agent.sandbox ? `sandbox-${w.tenant.slug}` : w.tenant.slug, `/v1/ai/${agent.slug}${path}`, {
    method: 'POST',
    ...rest,
    headers: {
      'content-type': 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
  });
}

export const PROMPT = { model: 'gpt-test', messages: [{ role: 'user', content: 'Say hello' }] };

export const completion = (content = 'Hello', extra: Data = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-test',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
  ...extra,
});

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-test',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

export const sse = (event: unknown): string => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;

/** The frames of a streamed answer, with the count of tokens that is only sent when it is asked for. */
export const frames = (text = 'Hello there'): string[] => [
  sse(chunk({ role: 'assistant', content: '' })),
  ...text.split(/(?<= )/).map((word) => sse(chunk({ content: word }))),
  sse(chunk({}, 'stop')),
  sse({ ...chunk({}), choices: [], usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } }),
  sse('[DONE]'),
];

/** A provider that speaks OpenAI's shape, streamed when it is asked to. */
export const openAi = (): Promise<Upstream> =>
  startUpstream((_, res, body) => {
    const asked = body.length > 0 ? (JSON.parse(body.toString()) as { stream?: boolean }) : {};
    if (asked.stream) {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const frame of frames()) res.write(frame);
      res.end();
      return;
    }
    const text = JSON.stringify(completion());
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
  });

export { served };
