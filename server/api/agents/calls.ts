import type { z } from 'zod';
import type { KeyObject } from '#server/crypto/agent-keys.ts';
import { acceptLogs } from '#server/domain/agents/protocol/call-logs.ts';
import { contextOf } from '#server/domain/agents/protocol/caller.ts';
import { acceptCaptures } from '#server/domain/agents/protocol/captures.ts';
import { enrol } from '#server/domain/agents/protocol/enrolling.ts';
import { countConnection, heartbeat, pushed } from '#server/domain/agents/protocol/heartbeats.ts';
import { manifestOf } from '#server/domain/agents/protocol/manifest.ts';
import { commandResult, reportTamper } from '#server/domain/agents/protocol/results.ts';
import * as schema from '#server/domain/agents/protocol/schema.ts';
import { openSession } from '#server/domain/agents/protocol/sessions.ts';
import { isKnownTag } from '#server/kernel/entity-tag.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { throttled } from '#server/platform/throttle.ts';
import type { Edge } from '../edge.ts';
import { parsedInput } from '../parse.ts';
import { json, type Wire } from '../respond.ts';
import type { Caller } from './authenticate.ts';

type Asked = { ip: string | null; user_agent: string | null; request_id: string; now: Date };
type Unknown = { asked: Asked; edge: Edge; fields: Record<string, unknown> };
/** `id`: what the path names. */
type Known = Unknown & { caller: Caller; headers: Headers; id: string };
type Call = { limit?: number } & (
  | { credential: 'none'; run: (call: Unknown) => Promise<Wire> }
  | { credential: 'signature' | 'session'; run: (call: Known) => Promise<Wire> }
);

const MIB = 1024 * 1024;
const SMALL = 64 * 1024;
const ENROLMENTS_PER_MINUTE = 20;

const read = <S extends z.ZodType>(of: S, fields: Record<string, unknown>): z.output<S> => parsedInput(of, fields);

const enrolment: Call = {
  credential: 'none',
  limit: SMALL,
  run: async ({ asked, edge, fields }) => {
    await throttled(
      [{ what: 'agent-enrol', subject: edge.ip ?? '', limit: ENROLMENTS_PER_MINUTE, window_sec: 60 }],
      asked.now,
      'rate_limit_exceeded',
    );
    return json(200, await enrol({ ...asked, sandbox: edge.space === 'test' }, read(schema.Enrol, fields)));
  },
};

const session: Call = {
  credential: 'signature',
  limit: SMALL,
  run: async ({ asked, caller: { agent, root }, fields }) =>
    json(200, await openSession(contextOf(agent, asked), agent, root as KeyObject, read(schema.OpenSession, fields))),
};

const manifest: Call = {
  credential: 'session',
  run: async ({ asked, caller: { agent }, headers }) => {
    const current = await manifestOf(contextOf(agent, asked), agent);
    const etag = `W/"${current.etag}"`;
    if (isKnownTag(headers.get('if-none-match'), etag)) return { status: 304, body: '', headers: { etag } };
    return json(200, current, { etag, 'cache-control': 'private, no-cache' });
  },
};

const beat: Call = {
  credential: 'session',
  limit: SMALL,
  run: async ({ asked, caller: { agent }, fields }) =>
    json(200, await heartbeat(contextOf(agent, asked), agent, read(schema.Heartbeat, fields))),
};

/**
 * The WebSocket of heartbeats ends at the gateway, which asks here: `open`, whether an agent may have one, and `commands`, for what waits for it. Nobody else can
 * send the header.
 */
const control: Call = {
  credential: 'session',
  run: async ({ asked, caller: { agent, until }, headers }) => {
    const ctx = contextOf(agent, asked);
    const question = headers.get('x-sallyport-control');
    if (question === 'commands') return json(200, await pushed(ctx, agent));
    if (question !== 'open') throw new Refusal('invalid_request', 'Open this path as a WebSocket.');
    await countConnection(ctx, agent);
    return json(200, { agent: agent.id, tenant: agent.tenant_id, until });
  },
};

const logs: Call = {
  credential: 'session',
  limit: MIB,
  run: async ({ asked, caller: { agent }, fields }) =>
    json(200, await acceptLogs(contextOf(agent, asked), agent, read(schema.ReportLogs, fields))),
};

const tamper: Call = {
  credential: 'session',
  limit: SMALL,
  run: async ({ asked, caller: { agent }, fields }) =>
    json(200, await reportTamper(contextOf(agent, asked), agent, read(schema.ReportTamper, fields))),
};

const result: Call = {
  credential: 'session',
  // The output has a MiB, and its envelope needs some more.
  limit: MIB + SMALL,
  run: async ({ asked, caller: { agent }, fields, id }) =>
    json(200, await commandResult(contextOf(agent, asked), agent, id, read(schema.CommandResult, fields))),
};

const items: Call = {
  credential: 'signature',
  limit: MIB,
  run: async ({ asked, caller: { agent, root }, fields, id }) =>
    json(200, await acceptCaptures(contextOf(agent, asked), agent, root as KeyObject, read(schema.CaptureReport, { ...fields, id }))),
};

/** Spelled as the `http` of an operation row. */
const CALLS: Readonly<Record<string, Call>> = {
  'POST /agent/v1/enroll': enrolment,
  'POST /agent/v1/session': session,
  'GET /agent/v1/manifest': manifest,
  'POST /agent/v1/heartbeat': beat,
  'GET /agent/v1/control': control,
  'POST /agent/v1/logs': logs,
  'POST /agent/v1/tamper': tamper,
  'POST /agent/v1/commands/{id}/result': result,
  'POST /agent/v1/migrations/{id}/items': items,
};

/** What a request asks for. Without `call`, its path has another method, or neither is there. */
export function callOf(method: string, path: string): { call?: Call | undefined; id: string; allow?: string | undefined } {
  const [, kind, id = '', what] = /^\/agent\/v1\/(commands|migrations)\/([^/]{1,64})\/(result|items)$/.exec(path) ?? [];
  const pattern = kind === undefined ? path : `/agent/v1/${kind}/{id}/${what}`;
  return { call: CALLS[`${method} ${pattern}`], id, allow: ['GET', 'POST'].find((one) => CALLS[`${one} ${pattern}`]) };
}
