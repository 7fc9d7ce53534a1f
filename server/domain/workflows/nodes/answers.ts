import { jsonShapeSteps } from '#server/kernel/bounded-text.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { parseExactSteps } from '#server/kernel/lossless-json.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { paced, type Steps } from '#server/kernel/slices.ts';
import type { UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { OutboundResponse } from '#server/platform/http-out/request-out.ts';
import { statusText } from '#server/platform/status-text.ts';
import { isRecord } from '../definition.shared.ts';
import { asText, jsonOf } from '../expressions/filters.shared.ts';
import { COST, charge, TooLarge } from '../expressions/meter.shared.ts';
import { failed, type NodeCall, type NodeResult, type RetryReason } from './node-call.ts';
import { type Secrets, unsearchable } from './secrets.ts';

// What requests of workflows send as a body, and what they make of an answer.

/** The body of a request in both forms; null for none. */
export async function bodyOf(call: NodeCall, secrets: Secrets): Promise<{ type: string; sent: string; shown: unknown } | null> {
  const { body } = call.config;
  if (body === undefined || body === null) return null;
  const { bodyType = typeof body === 'string' ? 'text' : 'json' } = call.config;
  if (bodyType === 'none') return null;
  if (bodyType === 'text') {
    const { sent, shown } = await secrets.fill(body);
    return { type: 'text/plain; charset=utf-8', sent, shown };
  }
  const filled = await secrets.fillValue(body);
  if (bodyType === 'form') {
    const pairs = (value: unknown) =>
      isRecord(value) ? Object.entries(value).map(([name, item]) => [name, asText(item, call.meter)] as [string, string]) : [];
    const named = pairs(filled.sent);
    for (const [name, text] of named) charge(call.meter, (name.length + text.length) * COST.escape);
    return { type: 'application/x-www-form-urlencoded', sent: new URLSearchParams(named).toString(), shown: filled.shown };
  }
  // A text is a JSON document already, as editors write it.
  const sent = typeof filled.sent === 'string' ? filled.sent : jsonOf(filled.sent, call.meter);
  return { type: 'application/json', sent, shown: filled.shown };
}

/** What came back without the secrets that were sent, before anything is read from it. @throws SecretFault when it can't be searched */
export async function scrubbedAnswer({ status, headers, body, truncated }: OutboundResponse, secrets: Secrets): Promise<OutboundResponse> {
  // We asked for an answer without encodings, and look into none.
  if (secrets.sent() && !/^(?:identity)?$/i.test(String(headers['content-encoding'] ?? ''))) throw unsearchable();
  const text = async (field: string) => (await secrets.scrubbed(Buffer.from(field))).toString();
  const fields: Record<string, string | string[] | undefined> = {};
  for (const [name, value] of Object.entries(headers))
    fields[await text(name)] = Array.isArray(value) ? await Promise.all(value.map(text)) : value === undefined ? value : await text(value);
  return { status, headers: fields, body: await secrets.scrubbed(body), truncated };
}

/** The output of a request (interface rule 62 §3.1). JSON is its value, text is text, anything else base64. */
export async function answerOf({ status, headers, body, truncated }: OutboundResponse, url: string, method: string) {
  const named = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]);
  const type = String(headers['content-type'] ?? '');
  return {
    ...{ status, statusText: statusText(status), headers: Object.fromEntries(named) as Record<string, string> },
    ...{ body: await valueOfBody(body, type, truncated), url, method, success: status < 400 },
  };
}

/** Of JSON that a server answers with. */
const ANSWER_SHAPE = { levels: 200, values: 300_000, members: 100_000 };
const SHAPE_PROBLEM = `the answer has more than ${grouped(ANSWER_SHAPE.values)} members and items, more than ${grouped(ANSWER_SHAPE.members)} different names and containers, or more than ${ANSWER_SHAPE.levels} levels, the limits: ask the server for less at once`;

function* answerSteps(text: string): Steps<unknown> {
  yield* jsonShapeSteps(text, ANSWER_SHAPE);
  return yield* parseExactSteps(text);
}

/** @throws TooLarge */
async function valueOfBody(body: Buffer, type: string, truncated: boolean): Promise<unknown> {
  if (body.length === 0) return null;
  const text = body.toString('utf8');
  if (/[/+]json\b/i.test(type) && !truncated) {
    try {
      return await paced(answerSteps(text), text.length);
    } catch (error) {
      if (error instanceof Refusal) throw new TooLarge(SHAPE_PROBLEM);
      return text.replaceAll('\0', '');
    }
  }
  return /^text\/|json|xml|javascript|urlencoded/i.test(type) || type === ''
    ? text.replaceAll('\0', '')
    : { $base64: body.toString('base64') };
}

const LONGEST_RETRY_AFTER = 60_000;

/** Whether an answer says that trying again may help, and after how long at least. */
export function isRetryable({
  status,
  headers,
}: Pick<OutboundResponse, 'status' | 'headers'>): { reason: RetryReason; afterMs: number } | null {
  const reason = status === 429 ? '429' : status >= 500 ? '5xx' : null;
  if (!reason) return null;
  const after = String(headers['retry-after'] ?? '');
  const seconds = /^\d{1,6}$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1_000;
  return { reason, afterMs: Math.min(Math.max(0, (seconds || 0) * 1_000), LONGEST_RETRY_AFTER) };
}

export function failedBy(fault: UpstreamFault, input: unknown): NodeResult {
  if (fault.type === 'upstream_not_allowed') return failed('blocked_address', fault.message, { input });
  if (fault.type === 'upstream_timeout')
    return failed('timeout', 'The server did not answer in time.', { input, retry: { reason: 'timeout', afterMs: 0 } });
  return failed('network', fault.message, { input, retry: { reason: 'network', afterMs: 0 } });
}
