import type { z } from 'zod';
import { confirmDisclosure, confirmMove } from '#server/domain/reveals/service.ts';
import { attemptsHorizon } from '#server/domain/webhooks/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { originOf } from '#server/kernel/moves.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { egress } from '#server/platform/egress.ts';
import { checkTargetUrl } from '#server/platform/http-out/target-url.ts';
import { assertFields, CREDENTIAL_OF, credentialsOf, sealCredentials } from './credentials.ts';
import type { CreateLogStream, StreamKind, StreamSource, StreamState, UpdateLogStream } from './schema.ts';

const MOST = 20;

export type StreamRow = NonNullable<Awaited<ReturnType<Tx['log_streams']['findFirst']>>>;

/** The streams of the space, by name. */
export const listStreams = (ctx: Ctx) =>
  read(ctx, async (tx) => (await tx.log_streams.findMany({ where: own(ctx), orderBy: [{ name: 'asc' }, { id: 'asc' }] })).map(view));

/** @throws Refusal not_found */
export const getStream = (ctx: Ctx, { id }: { id: string }) => read(ctx, async (tx) => view(await streamById(tx, ctx, id)));

export async function streamById(tx: Tx, ctx: Ctx, id: string): Promise<StreamRow> {
  const row = isUuid(id) ? await tx.log_streams.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

export async function lockedStream(tx: Tx, ctx: Ctx, id: string): Promise<StreamRow> {
  if (isUuid(id)) await tx.$queryRaw`select 1 from log_streams where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for update`;
  return streamById(tx, ctx, id);
}

/** What happens from now on is sent, nothing from before. @throws Refusal validation_error, conflict, tenant_sealed, what `confirmDisclosure` throws */
export async function createStream(ctx: Ctx, input: z.output<typeof CreateLogStream>) {
  const { name, source, kind, region = null, prefix = null, access_key_id = null, enabled } = input;
  assertFields(kind, input, true);
  if (source === 'traces' && kind !== 'otlp') throw invalid('source', 'can only be traces for streams of kind otlp');
  const endpoint = await reachable(ctx, input.endpoint);
  const id = newId();
  const credentials = credentialsOf(input);
  const sealed = credentials ? await sealCredentials(ctx, id, credentials) : {};
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `${ctx.tenant_id}:log-streams`);
    await assertFreeName(tx, ctx, name);
    if ((await tx.log_streams.count({ where: own(ctx) })) >= MOST)
      throw new Refusal('conflict', `A space can have at most ${MOST} log streams. Delete one first.`);
    await confirmSent(tx, ctx, source);
    const row = await tx.log_streams.create({
      data: {
        ...{ id, ...own(ctx), name, source, kind, endpoint, region, prefix, access_key_id, enabled, ...sealed },
        header_names: Object.keys(input.headers ?? {}),
        position: await latest(tx, source),
        wakes_at: enabled ? ctx.now : null,
        ...{ created_at: ctx.now, updated_at: ctx.now },
      },
    });
    return audited(view(row), { action: 'create', ...entryOf(row), details: { source, kind, endpoint } });
  });
}

/**
 * The credentials never follow to another origin, unless they are given again or their move confirmed.
 * @throws Refusal not_found, validation_error, conflict, tenant_sealed, what `confirmMove` throws
 */
export async function updateStream(ctx: Ctx, { id, ...input }: z.output<typeof UpdateLogStream>) {
  const known = await getStream(ctx, { id });
  assertFields(known.kind, input, false);
  const endpoint = input.endpoint === undefined ? known.endpoint : await reachable(ctx, input.endpoint);
  const credentials = credentialsOf(input);
  const sealed = credentials ? await sealCredentials(ctx, known.id, credentials) : {};
  return mutate(ctx, async (tx) => {
    const before = await lockedStream(tx, ctx, id);
    const credential = CREDENTIAL_OF[known.kind];
    const move = await confirmMove(tx, ctx, {
      moved: originOf(endpoint) === originOf(before.endpoint) ? [] : ['endpoint'],
      kept: before.value_ct && !credentials ? [credential] : [],
      again: [credential],
      reveal: { class: 'B', policy: 'secret:reveal' },
      about: [before],
      route: 'log_streams.update',
    });
    const { name = before.name, region = before.region, prefix = before.prefix, access_key_id = before.access_key_id } = input;
    const sameReceiver = endpoint === before.endpoint && region === before.region && access_key_id === before.access_key_id && !credentials;
    if (!sameReceiver) await confirmSent(tx, ctx, known.source);
    if (input.name !== undefined && input.name !== before.name) await assertFreeName(tx, ctx, input.name);
    const { enabled = before.enabled } = input;
    const again = enabled
      ? { wakes_at: ctx.now, attempts: 0, failing_since: null, paused_reason: null, last_error: null }
      : { wakes_at: null };
    const row = await tx.log_streams.update({
      where: { id: before.id },
      data: {
        ...{ name, endpoint, region, prefix, access_key_id, enabled, ...sealed, ...again },
        ...(input.headers === undefined ? {} : { header_names: Object.keys(input.headers) }),
        updated_at: ctx.now,
      },
    });
    return audited(view(row), entryOfUpdate(before, row, credentials !== undefined, move));
  });
}

/** What was not sent yet stays in the logs. @throws Refusal not_found */
export const deleteStream = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const row = await lockedStream(tx, ctx, id);
    await tx.log_streams.delete({ where: { id: row.id } });
    return audited({ deleted: true as const }, { action: 'delete', ...entryOf(row), details: { kind: row.kind, endpoint: row.endpoint } });
  });

/**
 * A stream may show what people read only by a reveal. It goes to another receiver with another address, also on the same host, and with other credentials there.
 * @throws Refusal what `confirmDisclosure` throws
 */
const confirmSent = (tx: Tx, ctx: Ctx, source: StreamSource) =>
  confirmDisclosure(tx, ctx, source === 'audit' ? { 'audit_log:read_details': REFUSED } : {});
const REFUSED =
  'Sending the audit log takes an Owner or Admin, or a credential with the scope audit_logs:read, since its entries have details. Choose another source, or ask one of them.';

export const entryOf = (row: { id: string; name: string }): Omit<AuditEntry, 'action'> => ({
  resource_type: 'log_stream',
  resource_id: row.id,
  name: row.name,
});

const EDITED = ['name', 'endpoint', 'region', 'prefix', 'access_key_id', 'enabled'] as const;

function entryOfUpdate(before: StreamRow, after: StreamRow, credentials: boolean, move: Record<string, unknown>): AuditEntry {
  const fields = EDITED.filter((field) => before[field] !== after[field]);
  if (fields.length === 1 && fields[0] === 'enabled' && !credentials)
    return { action: after.enabled ? 'enable' : 'disable', ...entryOf(after) };
  return {
    action: 'update',
    ...entryOf(after),
    details: move,
    changes: [
      ...fields.map((field) => ({ field, from: before[field], to: after[field] })),
      ...(credentials ? [{ field: 'credentials', changed: true as const }] : []),
    ],
  };
}

/** Names are judged now and addresses at every call. @throws Refusal validation_error */
async function reachable(ctx: Ctx, endpoint: string): Promise<string> {
  const verdict = await checkTargetUrl(endpoint, egress());
  if (!verdict.ok) throw invalid('endpoint', verdict.message);
  if (verdict.hasVariables) throw invalid('endpoint', 'must be a URL without variables');
  ctx.warnings.push(...verdict.warnings);
  return endpoint;
}

async function assertFreeName(tx: Tx, ctx: Ctx, name: string): Promise<void> {
  if (await tx.log_streams.findFirst({ where: { ...own(ctx), name }, select: { id: true } }))
    throw new Refusal('conflict', `There is a log stream named ${name} already.`);
}

/** Where the feed stands now: what is committed later has a higher number. */
async function latest(tx: Tx, source: StreamSource): Promise<bigint> {
  if (source === 'deliveries') return attemptsHorizon(tx);
  const [row] = await tx.$queryRaw<{ at: bigint }[]>`select feed_horizon(${source === 'audit' ? 'audit_logs' : 'request_logs'}) as at`;
  return row?.at ?? 0n;
}

function view({ value_ct: _, cek_wrapped: _k, tmk_version: _v, ...row }: StreamRow) {
  return {
    ...row,
    kind: row.kind as StreamKind,
    source: row.source as StreamSource,
    sent_count: Number(row.sent_count),
    state: stateOf(row),
  };
}

function stateOf(row: Pick<StreamRow, 'enabled' | 'paused_reason' | 'failing_since' | 'last_sent_at'>): StreamState {
  if (!row.enabled) return row.paused_reason === null ? 'off' : 'paused';
  if (row.failing_since !== null) return 'failing';
  return row.last_sent_at === null ? 'waiting' : 'active';
}
