import type { IncomingMessage } from 'node:http';
import {
  contextOfKey,
  isValidKey,
  type KeyLimit,
  type KeyRow,
  legacyKeyAuthOf,
  limitOfKey,
  refusalOfKey,
  stampCaller,
} from '#server/api/api-key.ts';
import { authorize } from '#server/api/authorize.ts';
import type { Edge } from '#server/api/edge.ts';
import { ignoredFields, mergedInput } from '#server/api/input.ts';
import { type Match, matcher } from '#server/api/match.ts';
import { contextOfToken, limitOfToken, refusalOfToken } from '#server/api/oauth-token.ts';
import { parsedInput, parsedOutput } from '#server/api/parse.ts';
import { countAgainstLimit, isUsedUp } from '#server/api/rate-limit.ts';
import { type Finished, finished, success } from '#server/api/respond.ts';
import { shown } from '#server/api/shown.ts';
import { recordVersionUse } from '#server/domain/api-keys/versions/tally.ts';
import { hotOperations } from '#server/domain/hot-operations.ts';
import { type AccessToken, isLiveToken } from '#server/domain/oauth-grants/access-tokens.ts';
import { planFeature } from '#server/domain/plans/schema.ts';
import type { HotCtx, Space } from '#server/kernel/context.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import type { AnyHotOperation } from '#server/kernel/hot-operation.ts';
import { resolveVersion } from '#server/kernel/versions.ts';
import { log } from '#server/platform/log.ts';
import { tellOperation } from '#server/platform/telemetry/operation-meter.ts';
import { spanSink } from '#server/platform/telemetry/spans.ts';
import type { WindowCounter } from '#server/platform/window-counter.ts';
import { quota } from '../core/quota.ts';
import type { ReadBody } from '../core/request-body.ts';
import type { AccessTokens } from '../credentials/access-tokens.ts';
import type { ApiKeys } from '../credentials/api-keys.ts';
import { MAX_BODY, type PlainRequest, plainRequest } from './plain-request.ts';

export type HotCall = {
  target: string;
  space: Space;
  address: string;
  requestId: string;
  /** Reads the body, the first time it is called. What was read must be given to web when web answers. */
  body(): Promise<ReadBody>;
};

export type HotV1 = {
  /**
   * The answer to a plain request that succeeds, from the same rules and rows as in web. Null, now or later, when web must answer: then nothing was
   * counted and nothing changed, so web decides as if it had been asked first. Never rejects.
   */
  answer(req: IncomingMessage, call: HotCall): Promise<Finished | null> | null;
};

export type HotV1Options = {
  keys: Pick<ApiKeys, 'find'>;
  tokens: Pick<AccessTokens, 'find'>;
  /** The counter that web counts with too; null when web counts in its own memory: then keys with a limit are web's. */
  count(): WindowCounter | null;
  operations?: readonly AnyHotOperation[] | undefined;
};

/** More at once are web's, whose fair queue keeps one workspace from holding up the others. */
const MAX_PER_WORKSPACE = 64;

/** Bytes of large bodies that are held at once: of one workspace, and of all. */
const LARGE_OF_WORKSPACE = 8 * 1024 * 1024;
const LARGE = 64 * 1024 * 1024;

/** Serves hot operations of /v1 in the gateway process. */
export function createHotV1({ keys, tokens, count, operations = hotOperations }: HotV1Options): HotV1 {
  const match = matcher(operations);
  const running = quota(MAX_PER_WORKSPACE);
  const large = quota(LARGE_OF_WORKSPACE, LARGE);

  async function answer(found: Match<AnyHotOperation>, plain: PlainRequest, req: IncomingMessage, call: HotCall): Promise<Finished | null> {
    const { text, kind } = plain;
    const row = await (kind === 'key' ? keys : tokens).find(text);
    if (row === null || row === 'busy' || !running.take(row.tenant_id, 1)) return null;
    const held = plain.length > MAX_BODY ? plain.length : 0;
    if (!large.take(row.tenant_id, held)) {
      running.give(row.tenant_id, 1);
      return null;
    }
    try {
      return await answerCaller(
        (edge, now) => ('key_id' in row ? keyCaller(row, text, edge, now) : tokenCaller(row, edge, now)),
        found,
        req,
        call,
      );
    } catch (error) {
      const { type } = asRefusal(error);
      if (type === 'internal_error') log.warn({ err: error, operation: found.op.id }, 'a hot operation failed in the gateway; web answers');
      return null;
    } finally {
      running.give(row.tenant_id, 1);
      large.give(row.tenant_id, held);
    }
  }

  /** @throws Refusal for whatever web refuses too */
  async function answerCaller(
    callerAt: (edge: Edge, now: Date) => HotCaller | null,
    { op, params }: Match<AnyHotOperation>,
    req: IncomingMessage,
    { target, space, address, requestId, body }: HotCall,
  ): Promise<Finished | null> {
    const now = new Date();
    const began = performance.now();
    const headers = { get: (name: string) => headerOf(req, name) };
    const edge = { space, ip: address || null, request_id: requestId, user_agent: headers.get('user-agent') };
    const caller = callerAt(edge, now);
    if (!caller || (op.oauth_only && caller.ctx.actor.type === 'api_key')) return null;
    const { ctx, limit } = caller;
    const counter = limit && count();
    if (limit && (!counter || op.stores)) return null;
    if (op.feature && !planFeature(ctx.plan, op.feature)) return null;
    const asked = headers.get('service-version');
    const version = resolveVersion(asked);

    const sent = req.method === 'POST' ? await body() : NO_BODY;
    if (sent.body === null) return null;
    const raw = mergedInput(op, { url: `http://api${target}`, headers }, params, sent.body);
    // Both stamps are times of day, which web would set as well.
    stampCaller(ctx);
    await authorize(op, ctx, () => raw);
    // A use leaves traces (tokens, audit entries, monthly counts), so a call over its limit must not come as far as that.
    if (op.kind === 'use' && limit && counter && (await isUsedUp(limit, now, counter))) return null;
    const result: unknown = await shown(op, ctx, await op.run(ctx, parsedInput(op.input, raw)));
    const output = parsedOutput(op, ctx, result);
    const ignored = ignoredFields(op, raw);
    const wire = success(op, output, result, requestId, ignored ? [...ctx.warnings, ignored] : ctx.warnings);

    // Counted last: nothing after this can fail, and a call over its limit is counted by web without going further.
    const { headers: rate, refusal } = limit && counter ? await countAgainstLimit(limit, now, counter) : NOT_LIMITED;
    if (refusal) return null;
    recordVersionUse(ctx, version, asked !== null);
    const reader = req.method === 'HEAD' ? null : { accept: headers.get('accept-encoding') };
    const sink = spanSink();
    if (sink !== null)
      tellOperation(sink, {
        ...{ surface: 'hot_v1', began, status: wire.status, request_id: requestId, tenant_id: ctx.tenant_id, operation: op.id },
        ...{ route: op.http.replace(' ', ' /v1'), traceparent: headers.get('traceparent') },
      });
    return finished({ ...wire, headers: { 'service-version': version, ...rate, ...wire.headers } }, requestId, reader);
  }

  return {
    answer(req, call) {
      const plain = plainRequest(req, call.target);
      const found = plain && match(req.method ?? '', plain.path);
      if (!found || 'allow' in found || plain.length > (found.op.body?.limit ?? MAX_BODY)) return null;
      return answer(found, plain, req, call).catch(() => null);
    },
  };
}

type HotCaller = { ctx: HotCtx; limit: KeyLimit | null };

function keyCaller(row: KeyRow, text: string, edge: Edge, now: Date): HotCaller | null {
  if (!isValidKey(row, text, now) || refusalOfKey(row, edge) || legacyKeyAuthOf(row) === 'disabled') return null;
  return { ctx: contextOfKey(row, edge, now), limit: limitOfKey(row) };
}

/** A token with a proof, or for an MCP server, is web's. */
function tokenCaller(token: AccessToken, edge: Edge, now: Date): HotCaller | null {
  if (!isLiveToken(token, now) || token.cnf_jkt !== null || token.aud !== null || refusalOfToken(token, edge)) return null;
  return { ctx: contextOfToken(token, edge, now), limit: limitOfToken(token) };
}

const NO_BODY = { body: new Uint8Array() };
const NOT_LIMITED = { headers: {}, refusal: null };

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return value === undefined ? null : String(value);
}
