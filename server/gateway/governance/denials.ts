import type { AiCode } from '#server/ai/codes.ts';
import { type AuditRow, auditRow, insertAuditRows } from '#server/custody/audit-rows.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { processState } from '#server/kernel/process-state.ts';
import { log } from '#server/platform/log.ts';
import type { GovernedCall } from './governed-call.ts';

// `ai_gateway.request_denied`: failed authentications of both AI planes (interface rule 51 §11).

/** Equal ones within this time become one entry with a count. */
const TOGETHER_MS = 60_000;
const MOST_HELD = 10_000;
/** An answer doesn't wait longer than this for its entry. */
const LONGEST_WAIT_MS = 1_000;

type Space = Pick<HotCtx, 'tenant_id' | 'sandbox'>;
type Held = { space: Space; row: AuditRow; more: number; timer: NodeJS.Timeout };
const state = processState('ai-request-denials', () => ({ held: new Map<string, Held>(), lost: 0 }));

/** Never audited: there is nobody to tell of them. */
const UNTOLD: ReadonlySet<AiCode> = new Set<AiCode>(['missing_token', 'empty', 'unknown_token', 'missing_auth', 'unknown_mcp_resource']);

export type Denied = {
  code: AiCode;
  status: number;
  plane: 'ai' | 'mcp';
  /** The slug in the path, of an agent or a server. */
  slug: string | null;
  country?: string | null;
};

/**
 * Writes the entry of a refused authentication; resolves when it is there, or can't be written now. The first of its kind is awaited before the answer; those
 * that follow within a minute are counted and cost nothing. Never rejects: the refusal doesn't depend on it.
 */
export function recordDenial(call: GovernedCall, denied: Denied): Promise<void> | undefined {
  if (UNTOLD.has(denied.code)) return undefined;
  const { tenant } = call.snapshot;
  const { token } = call.state;
  const key = `${tenant.id} ${call.snapshot.sandbox} ${denied.plane} ${denied.code} ${token?.id ?? call.sourceAddress}`;
  const known = state.held.get(key);
  if (known) {
    known.more++;
    known.row = entryOf(call, denied, known.more);
    return undefined;
  }
  if (state.held.size >= MOST_HELD) {
    lost();
    return undefined;
  }
  const space = { tenant_id: tenant.id, sandbox: call.snapshot.sandbox };
  const row = entryOf(call, denied, 1);
  state.held.set(key, { space, row, more: 0, timer: setTimeout(() => settle(key), TOGETHER_MS).unref() });
  return Promise.race([insertAuditRows(space, [row]).catch(lost), waited()]);
}

const waited = () => new Promise<void>((resolve) => void setTimeout(resolve, LONGEST_WAIT_MS).unref());

function lost(error?: unknown): void {
  state.lost++;
  log.error({ err: error, alert: true, lost: state.lost }, 'a refused authentication of an AI plane could not be audited');
}

function settle(key: string): void {
  const held = state.held.get(key);
  state.held.delete(key);
  if (held && held.more > 0) void insertAuditRows(held.space, [held.row]).catch(lost);
}

/** Writes what was counted and not yet said. For an orderly stop, and for tests. */
export async function writeAiDenials(): Promise<void> {
  const all = [...state.held.values()].filter(({ more }) => more > 0);
  for (const { timer } of state.held.values()) clearTimeout(timer);
  state.held.clear();
  await Promise.all(all.map(({ space, row }) => insertAuditRows(space, [row]).catch(lost)));
}

/** Nothing that a caller sent but names and its address: no token, header, proof or body. */
function entryOf(call: GovernedCall, { code, status, plane, slug, country = null }: Denied, count: number): AuditRow {
  const { token } = call.state;
  const mark = call.target.indexOf('?');
  const path = mark < 0 ? call.target : call.target.slice(0, mark);
  const ctx: HotCtx = {
    tenant_id: call.snapshot.tenant.id,
    sandbox: call.snapshot.sandbox,
    actor: { type: 'anonymous', id: null, label: token ? `token ${token.prefix}` : 'unknown token', capabilities: NONE },
    plan: call.snapshot.tenant.plan,
    request_id: call.requestId,
    ip: call.sourceAddress || null,
    user_agent: call.userAgent,
    now: new Date(call.receivedAt),
    warnings: [],
  };
  return auditRow(ctx, {
    action: 'ai_gateway.request_denied',
    resource_type: 'ai_token',
    resource_id: token?.id ?? null,
    details: {
      code,
      status,
      plane,
      method: call.method.slice(0, 32),
      path: path.slice(0, 500),
      host: call.host.slice(0, 260),
      [plane === 'ai' ? 'agent_slug' : 'mcp_server_slug']: slug,
      token_prefix: token?.prefix ?? null,
      kind: token?.kind ?? null,
      env: call.snapshot.space,
      gateway_id: token?.gatewayId ?? null,
      agent_id: token?.agentId ?? null,
      user_agent: call.userAgent?.slice(0, 200) ?? null,
      country,
      count,
    },
  });
}

const NONE: ReadonlySet<never> = new Set();
