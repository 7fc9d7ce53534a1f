import { newState } from '#server/crypto/sign-in-attempt.ts';
import { route } from '#server/domain/routes/samples.fixture.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { keyring } from '#server/platform/keys.ts';
import { type Fixture, fresh, made, nothing, type Sample } from '#server/testing/factories.ts';
import { ProtectedUpstream } from './protected-upstream.fixture.ts';
import { MCP_SERVER_PROTECTIONS, MCP_TOOL_PROTECTIONS } from './protections.ts';

/** A gateway that servers can belong to. */
export async function aGateway(ctx: Ctx): Promise<{ id: string }> {
  const name = fresh('gateway');
  return ctx.db.ai_gateways.create({ data: { ...own(ctx), id: newId(), name, slug: name, created_at: ctx.now }, select: { id: true } });
}

/** A collection: it has no upstream that a probe would call. */
export const server: Sample = async (ctx) => ({
  id: (await aGateway(ctx)).id,
  name: 'Tools',
  slug: fresh('mcp'),
  server_type: 'collection',
});

const aServer = async (ctx: Ctx) => ({ id: (await made(ctx, 'mcp_servers.create', await server(ctx))).id as string });
const aRoute = async (ctx: Ctx) => (await made(ctx, 'routes.create', await route(ctx))).id as string;
const fromRoute: Sample = async (ctx) => ({
  ...(await aServer(ctx)),
  route_id: await aRoute(ctx),
  method: 'GET',
  path: '/users/{id}',
  name: 'get_user',
});
const aTool: Sample = async (ctx) => {
  const sample = await fromRoute(ctx);
  const tool = await made(ctx, 'mcp_servers.tools.from_route', sample);
  return { id: sample.id, toolId: tool.id };
};

/** An upstream is made without its operation, which would probe it. */
async function anUpstream(ctx: Ctx, auth: object = {}, upstream_url = 'https://mcp.invalid/mcp'): Promise<{ id: string }> {
  const data = {
    ...own(ctx),
    id: newId(),
    gateway_id: (await aGateway(ctx)).id,
    name: 'Upstream',
    slug: fresh('mcp'),
    transport: 'streamable_http',
  };
  return ctx.db.mcp_servers.create({
    data: { ...data, auth: auth as Prisma.InputJsonObject, upstream_url, created_at: ctx.now },
    select: { id: true },
  });
}

const aGrant: Sample = async (ctx) => {
  const { id } = await anUpstream(ctx);
  const grant = await ctx.db.mcp_grants.create({
    data: {
      ...own(ctx),
      id: newId(),
      mcp_server_id: id,
      user_id: newId(),
      external_id: `${fresh('person')}@example.com`,
      issuer: 'https://auth.invalid',
      token_endpoint: 'https://auth.invalid/token',
      client_id: 'client',
      client_auth: 'none',
      value_ct: new Uint8Array([1]),
      cek_wrapped: new Uint8Array([1]),
      tmk_version: 1,
    },
    select: { id: true },
  });
  return { id, grantId: grant.id };
};

const anApproval: Sample = async (ctx) => {
  const { id } = await aServer(ctx);
  const approvalId = newId();
  const place = { tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'ai_payload', row_id: approvalId } as const;
  const { value_ct, cek_wrapped, tmk_version } = await keyring().sealValue(place, Buffer.from('{"title":"A bug"}'));
  const row = await ctx.db.mcp_approvals.create({
    data: {
      ...own(ctx),
      id: approvalId,
      value_ct: new Uint8Array(value_ct),
      cek_wrapped: new Uint8Array(cek_wrapped),
      tmk_version,
      mcp_server_id: id,
      tool_name: 'create_issue',
      token_id: newId(),
      token_label: 'svcp_live_t_abcd',
      call_digest: new Uint8Array(Buffer.from(newState())),
      request_id: newId(),
      expires_at: new Date(Date.now() + 600_000),
    },
    select: { id: true },
  });
  return { id: row.id };
};

const document = { openapi: '3.1.0', info: { title: 'API', version: '1' }, paths: { '/users': { get: { operationId: 'list_users' } } } };

export const samples: Record<string, Sample> = {
  'mcp_servers.list': async (ctx) => ({ id: (await aGateway(ctx)).id }),
  'mcp_servers.create': server,
  'mcp_servers.get': aServer,
  'mcp_servers.update': async (ctx) => ({ ...(await aServer(ctx)), name: 'Renamed' }),
  'mcp_servers.delete': aServer,
  'mcp_servers.refresh': (ctx) => anUpstream(ctx),
  'mcp_servers.overview': nothing,
  'mcp_servers.gateways': nothing,
  'mcp_servers.tools.list': aServer,
  'mcp_servers.tools.get': aTool,
  'mcp_servers.tools.upsert': async (ctx) => ({ ...(await anUpstream(ctx)), tool_name: 'search', approval: 'required' }),
  'mcp_servers.tools.update': async (ctx) => ({ ...(await aTool(ctx)), enabled: false }),
  'mcp_servers.tools.delete': aTool,
  'mcp_servers.tools.from_route': fromRoute,
  'mcp_servers.tools.import_openapi': async (ctx) => ({ ...(await aServer(ctx)), route_id: await aRoute(ctx), document, dry_run: false }),
  'mcp_servers.grants.list': aServer,
  'mcp_servers.grants.revoke': aGrant,
  'mcp_servers.grants.revoke_all': async (ctx) => ({ id: (await aGrant(ctx)).id }),
  'mcp_servers.connect': async (ctx) => anUpstream(ctx, { oauth: { mode: 'per_user', scopes: [] } }, (await ProtectedUpstream.start()).url),
  'mcp_servers.approvals.list': nothing,
  'mcp_servers.approvals.count': nothing,
  'mcp_servers.approvals.get': anApproval,
  'mcp_servers.approvals.approve': anApproval,
  'mcp_servers.approvals.deny': anApproval,
};

export const testedElsewhere = { 'mcp_servers.callback': 'consents.test.ts', 'mcp_servers.connect_page': 'consents.test.ts' };
export const peopleOnly = ['mcp_servers.connect', 'mcp_servers.approvals.approve', 'mcp_servers.approvals.deny'];
export const dependsOnState = [
  /is required for a server of type|is only for|are only for|only servers of type collection|send either document or url|is required: a tool of a collection/,
  /has no upstream to ask|doesn't use people's own accounts|^foreign_reference|^private_address|^literal_credential|path_template|param_map|argument_rules|pinned_hash/,
  /^price_per_call_usd: must be between 0 and 1000, with at most 6 decimals/,
  /^url: |^upstream_url: |^auth\.|^document: |^guardrail_webhook_url: /,
];

const PINNED = 'ab'.repeat(32);
const toServer: Sample = async (ctx) => ({ ...(await aServer(ctx)), name: 'Guarded' });
export const loosening: Fixture['loosening'] = {
  'mcp_servers.update': {
    rules: MCP_SERVER_PROTECTIONS,
    of: toServer,
    pairs: {
      allowed_tools: { strict: { allowed_tools: ['search'] }, loose: { allowed_tools: ['search', 'delete_user'] } },
      allowed_origins: { strict: { allowed_origins: [] }, loose: { allowed_origins: ['https://app.example.com'] } },
      allow_elicitation: { strict: { allow_elicitation: false }, loose: { allow_elicitation: true } },
      pii_inspection: { strict: { pii_inspection: true }, loose: { pii_inspection: false } },
      guardrail_webhook_url: { strict: { guardrail_webhook_url: 'https://guard.example.com' }, loose: { guardrail_webhook_url: null } },
      guardrail_webhook_mode: {
        strict: { guardrail_webhook_url: 'https://guard.example.com', guardrail_webhook_mode: 'both' },
        loose: { guardrail_webhook_mode: 'response' },
      },
      guardrail_webhook_failure_action: {
        strict: { guardrail_webhook_failure_action: 'fail_closed' },
        loose: { guardrail_webhook_failure_action: 'fail_open' },
      },
    },
  },
  'mcp_servers.tools.update': {
    rules: MCP_TOOL_PROTECTIONS,
    // As if its upstream had described it, and somebody had approved that.
    of: async (ctx) => {
      const { id, toolId } = await aTool(ctx);
      await ctx.db.mcp_tools.update({ where: { id: String(toolId) }, data: { upstream_hash: PINNED, pinned_hash: PINNED } });
      return { id, toolId, description: 'Gets a user' };
    },
    pairs: {
      enabled: { strict: { enabled: false }, loose: { enabled: true } },
      approval: { strict: { approval: 'required' }, loose: { approval: 'none' } },
      argument_rules: {
        strict: { argument_rules: [{ path: '$.limit', op: 'max', value: 10 }] },
        loose: { argument_rules: [] },
      },
      allowed: { strict: { allowed: false }, loose: { allowed: true } },
      pinned_hash: { strict: {}, loose: { pinned_hash: null } },
    },
  },
};
export const confirmedSamples: Record<string, Sample> = {
  'mcp_servers.tools.upsert': async (ctx) => {
    const { id, toolId } = await aTool(ctx);
    await made(ctx, 'mcp_servers.tools.update', { id, toolId, approval: 'required' });
    return { id, tool_name: (await made(ctx, 'mcp_servers.tools.get', { id, toolId })).tool_name, approval: 'none' };
  },
  'mcp_servers.tools.delete': async (ctx) => {
    const tool = await aTool(ctx);
    await made(ctx, 'mcp_servers.tools.update', { ...tool, argument_rules: [{ path: '$.limit', op: 'max', value: 10 }] });
    return tool;
  },
  'mcp_servers.tools.from_route': fromRoute,
};
export const freeSamples: Record<string, Sample> = {
  'mcp_servers.tools.upsert': async (ctx) => ({ ...(await anUpstream(ctx)), tool_name: 'search', approval: 'required' }),
  'mcp_servers.tools.delete': aTool,
  // Its name was allowed before.
  'mcp_servers.tools.from_route': async (ctx) => {
    const input = await fromRoute(ctx);
    await made(ctx, 'mcp_servers.update', { id: input.id, allowed_tools: [input.name] });
    return input;
  },
};

export const templated: Fixture['templated'] = {
  'mcp_servers.create': async (ctx) => {
    const { id } = await made(ctx, 'secrets.create', { name: fresh('MCP').replaceAll('-', '_'), value: 'of-a-server' });
    // Nobody listens there.
    const upstream = { server_type: 'upstream', upstream_url: 'http://127.0.0.1:65001/mcp' };
    return { ...(await server(ctx)), ...upstream, auth: { headers: { 'X-A': `Bearer {{secret_id:${id}}}` } } };
  },
};
