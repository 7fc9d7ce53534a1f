import { digest } from '#server/crypto/tokens.ts';
import { allOf, storedAuthority } from '#server/domain/authorities/service.ts';
import { isServableStatus } from '#server/domain/tenants/status.shared.ts';
import { assertJsonShape, BODY_SHAPE, formFields } from '#server/kernel/bounded-text.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { type Db, inTransaction } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { jsonOfColumn, parseExactSteps } from '#server/kernel/lossless-json.ts';
import { paced } from '#server/kernel/slices.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { sql } from '#server/platform/sql.ts';
import { take } from '#server/platform/throttle.ts';
import { graphOf, isTerminal } from './definition.shared.ts';
import { enqueueExecution, type TriggerOutput } from './engine/executions.ts';
import { nodeRunViews } from './engine/views.ts';
import { type HookCall, isAuthentic } from './hook-auth.ts';
import { type HookSettings, hookSettingsOf } from './hook-settings.shared.ts';

// What happens when somebody calls the URL of a workflow (interface rule 62 §5). The token in the path is the only thing that names it.

const PER_MINUTE = 60;
/** A caller of mode sync waits this long for set_response. */
const PATIENCE_MS = 25_000;

export type IncomingCall = HookCall & { ip: string | null; request_id: string; user_agent: string | null };
export type HookAnswer =
  | { kind: 'queued'; execution_id: string; status: string }
  | { kind: 'response'; status: number; headers: Record<string, string>; body: unknown };

/** The trigger that a token leads to; reading the body is only worth it for one. @throws Refusal not_found, method_not_allowed */
export async function hookByToken(token: string, method: string): Promise<Hook> {
  const { rows } = TOKEN.test(token)
    ? await sql().query<HookRow>({ name: 'workflow-hook', text: BY_TOKEN, values: [digest(token)] })
    : { rows: [] };
  const [row] = rows.map((one) => ({ ...one, definition: jsonOfColumn(one.definition) }));
  const settings = row && hookSettingsOf(row.definition);
  // Unknown, disabled, of another trigger and of a workspace that isn't served: one answer.
  if (!row || !settings || !isServableStatus(row.subscription_status)) throw notFound();
  const allowed = settings.method === 'any' ? ['GET', 'POST', 'PUT', 'PATCH'] : [settings.method];
  if (!allowed.includes(method)) {
    const allow = allowed.join(', ');
    throw new Refusal('method_not_allowed', `Method not allowed. This URL supports ${allow}.`, { headers: { allow } });
  }
  return { ...row, settings };
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/;
type HookRow = {
  hook_id: string;
  tenant_id: string;
  sandbox: boolean;
  plan: Ctx['plan'];
  subscription_status: string;
  id: string;
  version: number;
  environment: string | null;
  timeout_seconds: number | null;
  definition: unknown;
  authority: unknown;
};
type Hook = HookRow & { settings: HookSettings };
const BY_TOKEN = `
  select h.id as hook_id, h.tenant_id, h.sandbox, t.subscription_plan as plan, t.subscription_status, w.id, w.version, w.environment, w.timeout_seconds, w.definition, w.authority
  from workflow_hooks h join workflows w on w.id = h.workflow_id join tenants t on t.id = h.tenant_id
  where h.token_hash = $1 and w.enabled and w.trigger_type = 'webhook' and t.deleted_at is null`;

/**
 * Starts a run, and in mode sync waits for what it answers. @throws Refusal authentication_required, rate_limit_exceeded, validation_error for a body that
 * can't be read, tenant_sealed
 */
export async function callHook(db: Db, hook: Hook, call: IncomingCall): Promise<HookAnswer> {
  const now = new Date();
  const ctx: Ctx = {
    ...systemContext(db, { tenant_id: hook.tenant_id, sandbox: hook.sandbox, now, label: 'webhook' }),
    ...{ plan: hook.plan, request_id: call.request_id, ip: call.ip, user_agent: call.user_agent },
  };
  if (!(await isAuthentic({ ...own(ctx), workflow_id: hook.id, now }, hook.settings.auth, call)))
    throw new Refusal('authentication_required', 'The call is not authenticated as this webhook demands.');
  await seldom(hook.id, now);
  const input = await outputOf(hook.settings, call, now);
  const { id } = await inTransaction(ctx, async (tx) => {
    const queued = await enqueueExecution(tx, ctx, {
      workflow: hook,
      ...{ version: hook.version, definition: graphOf(hook.definition), trigger_type: 'webhook', input },
      triggered_by: { type: 'webhook', id: null, label: 'webhook' },
      authorities: allOf(storedAuthority(hook.authority)),
    });
    await tx.$executeRaw`update workflow_hooks set last_used_at = ${now} where id = ${hook.hook_id}::uuid and (last_used_at is null or last_used_at < ${now}::timestamptz - interval '1 minute')`;
    return queued;
  }).catch(async (error: unknown) => {
    if (error instanceof Refusal && error.status === 429)
      await sql().query('update workflows set dropped_count = dropped_count + 1 where id = $1', [hook.id]);
    throw error;
  });
  return hook.settings.mode === 'sync' ? responseOf(ctx, id) : { kind: 'queued', execution_id: id, status: 'queued' };
}

async function seldom(workflowId: string, now: Date): Promise<void> {
  const rule = { what: 'workflow-hook', subject: workflowId, limit: PER_MINUTE, window_sec: 60 };
  const { allowed, retry_after: retryAfter } = await take(rule, now);
  if (!allowed)
    throw new Refusal('rate_limit_exceeded', `This webhook takes ${PER_MINUTE} calls a minute. Try again shortly.`, { retryAfter });
}

/** What the workflow sees of a call. @throws Refusal validation_error */
export async function outputOf(
  settings: HookSettings,
  { method, url, headers, body, ip }: HookCall & { ip: string | null },
  now: Date,
): Promise<TriggerOutput> {
  const query = Object.fromEntries(new URL(url).searchParams);
  return {
    ...{ type: 'webhook', data: method === 'GET' ? query : await parsed(headers.get('content-type') ?? '', body) },
    ...{ method, headers: shownHeaders(settings, headers), query, ip, timestamp: now.toISOString() },
  };
}

/** JSON and forms as values, anything else as text. */
async function parsed(contentType: string, body: Uint8Array): Promise<unknown> {
  if (body.byteLength === 0) return null;
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const text = Buffer.from(body).toString('utf8');
  if (type === 'application/x-www-form-urlencoded') return Object.fromEntries(formFields(text));
  if (type !== 'application/json' && !type.endsWith('+json')) return text;
  try {
    assertJsonShape(text, BODY_SHAPE);
    return await paced(parseExactSteps(text), text.length);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('validation_error', 'The request body must be valid JSON in UTF-8.');
  }
}

const HIDDEN = /^x-(?:forwarded-|sallyport-|svc-|real-ip$|api-key$)/;

/** What describes the call; never what authenticates it, and nothing that proxies on the way added. */
function shownHeaders({ auth }: HookSettings, headers: Headers): Record<string, string> {
  const credential = auth.type === 'header' ? auth.name.toLowerCase() : null;
  return Object.fromEntries(
    [...headers].filter(
      ([name]) =>
        name !== credential && (name === 'content-type' || name === 'user-agent' || (name.startsWith('x-') && !HIDDEN.test(name))),
    ),
  );
}

/** The answer of set_response, as soon as it is there; what is known of the run when it ended without one, or takes too long. */
async function responseOf(ctx: Ctx, id: string): Promise<HookAnswer> {
  const until = Date.now() + PATIENCE_MS;
  for (let wait = 25; ; wait = Math.min(wait * 1.5, 250)) {
    const { rows } = await sql().query<{ status: string; response_run: string | null }>({
      name: 'workflow-response',
      text: 'select status, response_run from workflow_executions where id = $1',
      values: [id],
    });
    const [run] = rows;
    if (run?.response_run) return respondedBy(ctx, run.response_run);
    if (!run || isTerminal(run.status) || Date.now() > until) return { kind: 'queued', execution_id: id, status: shownStatus(run?.status) };
    await new Promise((done) => setTimeout(done, wait));
  }
}

const shownStatus = (status = 'cancelled'): string => (status === 'waiting' ? 'running' : status);

/** What set_response was evaluated to. */
async function respondedBy(ctx: Ctx, nodeRun: string): Promise<HookAnswer> {
  const rows = await inTransaction(ctx, (tx) => tx.workflow_node_executions.findMany({ where: { ...own(ctx), id: nodeRun } }));
  const [view] = await nodeRunViews(ctx, rows);
  const {
    status = 200,
    headers = {},
    body = null,
  } = (view?.input ?? {}) as {
    status?: number;
    headers?: Record<string, string>;
    body?: unknown;
  };
  return { kind: 'response', status, headers, body };
}
