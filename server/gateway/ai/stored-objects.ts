import { textAt } from '#server/ai/json.ts';
import { handedOut, namedObjects } from '#server/ai/stored-objects.ts';
import { jsonOf, mentions, type Stage } from '#server/ai/stream/event.ts';
import { digest } from '#server/crypto/tokens.ts';
import { log } from '#server/platform/log.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { ownSql } from '#server/platform/sql.ts';
import { type AiRefused, aiRefusal } from '../governance/envelope.ts';
import { type AiCall, detectedOf } from './ai-call.ts';
import { backgroundCharge } from './money/background.ts';

/** As long as providers keep answers. */
const KEPT_MS = 31 * 86_400_000;

/** A call may only name objects that its own agent made (interface rule 51 §10.2). Without the database nothing is taken for its own. */
export function checkOwnership(call: AiCall): AiRefused | undefined | Promise<AiRefused | undefined> {
  const { storedId } = detectedOf(call);
  const { body, agent } = call.state;
  const named = [...(storedId === undefined ? [] : [storedId]), ...(body === null ? [] : namedObjects(body))];
  if (named.length === 0 || !agent) return undefined;
  if (named.length > MOST_NAMED) return aiRefusal('invalid_request_body', `The request names more than ${MOST_NAMED} stored objects.`);
  const hashes = [...new Set(named)].map((id) => digest(id));
  const space = { tenant_id: call.snapshot.tenant.id, sandbox: call.snapshot.sandbox };
  return ownRows<{ n: number }>(space, OWNED, agent.id, hashes).then(
    ([row]) =>
      row?.n === hashes.length
        ? undefined
        : aiRefusal('operation_not_allowed', "The request names a stored object that this agent didn't create."),
    (error: unknown) => {
      log.debug({ err: error, request_id: call.requestId }, 'stored objects could not be looked up');
      return aiRefusal('dependency_unavailable', "The gateway can't look up the stored objects of this call. Try again shortly.");
    },
  );
}

const MOST_NAMED = 500;

const OWNED = ownQuery(
  'ai-stored-objects',
  `select count(*)::int as n from ai_stored_objects
    where tenant_id = $1 and sandbox = $2 and agent_id = $3 and hash = any($4::bytea[]) and expires_at > now()`,
);

/** Notes what an answer hands out, before the caller has it. An object that couldn't be noted is nobody's. */
export const noteObjects = (call: AiCall, answer: unknown): Promise<void> =>
  noteIds(call, keepsObjects(call) ? handedOut(answer) : [], textAt(answer, 'id'));

/** The same of an answer that was read elsewhere; `own` is the ID of the answer itself. */
export async function noteIds(call: AiCall, ids: readonly string[], own: string | undefined): Promise<void> {
  const { agent, principal } = call.state;
  if (ids.length === 0 || !agent || !principal) return;
  const { tenant, sandbox } = call.snapshot;
  const charged = call.state.background ? call.state.charges.at(-1) : undefined;
  const values = [
    tenant.id,
    sandbox,
    agent.id,
    principal.token.id,
    principal.user?.externalId ?? null,
    ids.map((id) => digest(id)),
    new Date(call.receivedAt + KEPT_MS),
    charged === undefined ? null : JSON.stringify(backgroundCharge(call, charged)),
    digest(own ?? ''),
  ];
  try {
    await ownSql().query({ name: 'ai-note-objects', text: NOTE, values });
  } catch (error) {
    log.warn({ err: error, request_id: call.requestId }, 'a stored object of a provider could not be noted');
  }
}

/** The context is set by the statement, for the statement, before a row is written (`server/platform/own-rows.ts`). */
const NOTE = `with own as materialized (
    select set_config('app.tenant_id', $1::uuid::text, true) as tenant, set_config('app.sandbox', $2::boolean::text, true) as sandbox)
  insert into ai_stored_objects (tenant_id, sandbox, agent_id, token_id, "user", hash, expires_at, pending)
  select $1::uuid, $2::boolean, $3::uuid, $4::uuid, $5, hash, $7::timestamptz, case when hash = $9::bytea then $8::jsonb end from own cross join unnest($6::bytea[]) as hash
  where own.tenant is not null and own.sandbox is not null
  on conflict (tenant_id, sandbox, agent_id, hash) do update set expires_at = excluded.expires_at`;

/** Shapes whose provider keeps something. */
export const keepsObjects = (call: AiCall): boolean => ['openai-responses', 'openai-stored', 'anthropic'].includes(detectedOf(call).shape);

/** The same for a stream: events pass at once, and what they hand out is noted as it passes. */
export function notingStage(call: AiCall): Stage | null {
  if (!keepsObjects(call)) return null;
  return {
    push(event) {
      if (
        mentions(event, '"response.created"') ||
        mentions(event, '"response.output_item.done"') ||
        mentions(event, '"container') ||
        mentions(event, '"file_id"')
      )
        void noteObjects(call, jsonOf(event));
      return [event];
    },
    end: () => [],
  };
}
