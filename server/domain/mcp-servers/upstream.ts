import { grantOf, grantToken } from '#server/custody/mcp/grants.ts';
import { openedSecret, SecretUnusable } from '#server/custody/mcp/secrets.ts';
import { parseTemplate } from '#server/domain/templates/grammar.ts';
import { auditActor, type Ctx, spaceOf } from '#server/kernel/context.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type ReadTool, readTools } from '#server/mcp/tool-list.ts';
import { type Link, UpstreamClient } from '#server/mcp/upstream/client.ts';
import { probe } from '#server/mcp/upstream/probe.ts';
import type { Upstream, Wire } from '#server/mcp/upstream/wire.ts';
import { egress } from '#server/platform/egress.ts';
import { createExchangeEvents, type ExchangeEvents } from '#server/platform/http-out/event-exchange.ts';
import { createUpstreamPools } from '#server/platform/http-out/upstream-pool.ts';
import { IDENTITY_HEADER, identitySigner } from '#server/platform/svc-identity.ts';
import type { McpAuth, McpProtocol } from './schema.ts';

/** What an upstream says of itself. Without tools it said nothing: `protocol.error` says why. */
export type Probed = { protocol: McpProtocol; tools: ReadTool[] | null };
export type ProbeTarget = {
  id: string;
  upstream_url: string;
  transport: 'streamable_http' | 'sse' | null;
  auth: McpAuth;
  signed_identity: boolean;
};

const CLIENT = { name: 'sallyport', version: '1' };

/** Asks an upstream for its version and its tools, with the credentials that calls would have. Never rejects for what the upstream does. */
export async function probeUpstream(ctx: Ctx, target: ProbeTarget): Promise<Probed> {
  const failed = (error: string): Probed => ({
    protocol: { era: 'unknown', versions: [], server_name: '', probed_at: ctx.now.toISOString(), error },
    tools: null,
  });
  let upstream: Upstream;
  try {
    upstream = await upstreamOf(ctx, target);
  } catch (error) {
    if (error instanceof SecretUnusable) return failed(error.message);
    throw error;
  }
  const sign = target.signed_identity ? await identitySigner({ sub: callerOf(ctx), tenant: ctx.tenant_id, server: target.id }) : null;
  const wire: Wire = (request, handler) =>
    exchangeEvents()(
      {
        ...request,
        headers: sign ? [...request.headers, IDENTITY_HEADER, sign(request)] : request.headers,
        ...{ tenant: ctx.tenant_id, space: spaceOf(ctx.sandbox) },
      },
      handler,
    );
  const client = new UpstreamClient();
  const found = upstream.transport === 'sse' ? EVENTS : await probe(wire, upstream, CLIENT, 'probe');
  if ('kind' in found) return failed(inWords(found, target));
  const link: Link =
    found.era === 'events' ? { kind: 'events' } : found.era === 'modern' ? { kind: 'modern' } : { kind: 'legacy', session: found.session };
  const listed = await client.listTools(wire, upstream, upstream.url, link, { id: 'probe-list', client: CLIENT });
  if (!Array.isArray(listed)) return failed(inWords(listed, target));
  const versions = found.era === 'events' ? ['2024-11-05'] : found.era === 'modern' ? [...found.versions] : [found.session.version];
  const protocol: McpProtocol = {
    era: found.era === 'modern' ? 'modern' : 'legacy',
    versions,
    server_name: found.serverName,
    probed_at: ctx.now.toISOString(),
  };
  return { protocol, tools: await readTools(listed) };
}

/** A person, or the credential that asks. */
const callerOf = ({ actor }: Ctx) => {
  const { type, id } = auditActor(actor);
  return `${type}:${id}`;
};

const EVENTS = { era: 'events', serverName: '' } as const;

async function upstreamOf(ctx: Ctx, { id, upstream_url: url, transport, auth }: ProbeTarget): Promise<Upstream> {
  const headers: string[] = [];
  for (const [name, text] of Object.entries(auth.headers ?? {})) {
    const parsed = parseTemplate(text, { context: false });
    let value = '';
    for (const part of parsed.ok ? parsed.template : []) {
      if (part.kind === 'literal') value += part.text;
      if (part.kind === 'secret_id')
        value += (await openedSecret(ctx, { id: part.id, environment: auth.environment_name ?? null, url, now: ctx.now })).reveal();
    }
    if (!/^[\t\x20-\x7e]*$/.test(value))
      throw new SecretUnusable('not_injectable', `The value for the header ${name} can't be sent in a header.`);
    headers.push(name, value);
  }
  const token = auth.oauth ? await ownToken(ctx, id) : null;
  if (token !== null) headers.push('Authorization', `Bearer ${token}`);
  return { url, transport: transport ?? 'streamable_http', headers };
}

/** Only the caller's own grant: nobody looks at an upstream as somebody else. */
async function ownToken(ctx: Ctx, serverId: string): Promise<string | null> {
  if (ctx.actor.type !== 'member') return null;
  const grant = await grantOf(ctx, serverId, { userId: ctx.actor.id });
  return grant === null ? null : ((await grantToken(ctx, grant))?.reveal() ?? null);
}

type Failure = { kind: string; message?: string; code?: unknown };

function inWords({ kind, message, code }: Failure, { auth }: ProbeTarget): string {
  if (code === 'upstream_auth_failed')
    return auth.oauth
      ? 'The MCP server asks for a sign-in. Connect your own account under People, then refresh.'
      : 'The MCP server refused the credential. Check the secret in its headers.';
  if (kind === 'error') return `The MCP server answered with an error: ${(message ?? '').slice(0, 300)}`;
  return message ?? 'The MCP server did not answer.';
}

const open = processState('mcp-probe', (): { exchange?: ExchangeEvents | undefined } => ({}));
function exchangeEvents(): ExchangeEvents {
  const resolver = egress();
  open.exchange ??= createExchangeEvents(createUpstreamPools({ resolver, connections: 4, connectTimeoutMs: 5_000 }), resolver.settings);
  return open.exchange;
}
