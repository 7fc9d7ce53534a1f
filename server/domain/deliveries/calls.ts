import type pg from 'pg';
import type { EventRow } from '#server/domain/events/service.ts';
import { payloadPlace, type Side, type StoredPayload } from '#server/domain/request-logs/payloads/stored.shared.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { keyring } from '#server/platform/keys.ts';
import { log } from '#server/platform/log.ts';

// The data of request.* events (interface rule 60 §3.1). Gateways write an event with what its log row has, next to that row; headers and bodies come
// from what the log keeps of the call, masked, when its deliveries are made. So nothing of an event is worked out while a call is served.

/** What a gateway wrote of a call: the data of its event without headers and bodies. */
type Call = Record<string, unknown> & { request: object; response: object };
type Sealed = {
  request_id: string;
  id: string;
  tenant_id: string;
  sandbox: boolean;
  side: Side;
  content_type: string | null;
  truncated: boolean;
} & {
  value_ct: Buffer;
  cek_wrapped: Buffer;
  tmk_version: number;
};

export const isCallEvent = ({ type, payload_ct }: EventRow): boolean => payload_ct === null && type.startsWith('request.');

/** The data of each event of a call, by the event's ID. @throws TenantKeyUnavailable */
export async function callData(
  client: pg.PoolClient,
  events: readonly EventRow[],
): Promise<(event: EventRow) => Promise<Record<string, unknown>>> {
  const ids = events.filter(isCallEvent).map(({ source_id }) => source_id);
  const { rows } =
    ids.length === 0
      ? { rows: [] }
      : await client.query<Sealed>(
          `select request_id, id, tenant_id, sandbox, side, content_type, truncated, value_ct, cek_wrapped, tmk_version from log_payloads
           where tenant_id = any($1::uuid[]) and request_id = any($2::uuid[])`,
          [[...new Set(events.map(({ tenant_id }) => tenant_id))], ids],
        );
  return async (event) => {
    const { call } = event.facts as { call: Call };
    const of = (side: Side) =>
      rows.find(
        (row) =>
          row.request_id === event.source_id && row.side === side && row.tenant_id === event.tenant_id && row.sandbox === event.sandbox,
      );
    // A call that was only just admitted has no answer yet.
    const response = event.type === 'request.received' ? undefined : of('response');
    const [asked, answered] = [await part(of('request')), await part(response)];
    return {
      ...call,
      request: { ...call.request, ...asked.shown },
      response: { ...call.response, ...answered.shown },
      ...(asked.truncated ? { request_body_truncated: true } : {}),
      ...(answered.truncated ? { response_body_truncated: true } : {}),
    };
  };
}

async function part(row: Sealed | undefined): Promise<{ shown: object; truncated: boolean }> {
  if (!row) return NOTHING;
  try {
    const plaintext = await keyring().openValue(payloadPlace(row), row);
    const { headers, body, encoding } = JSON.parse(plaintext.toString('utf8')) as StoredPayload;
    plaintext.fill(0);
    const shown = { headers: Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value])) };
    return { shown: body === null ? shown : { ...shown, body: bodyOf(body, encoding, row) }, truncated: row.truncated };
  } catch (error) {
    log.warn({ err: error, request_id: row.request_id }, 'a captured payload could not be added to an event');
    return NOTHING;
  }
}

const NOTHING = { shown: {}, truncated: false };

/** JSON as its value, text as text, anything else as base64. What was cut is no JSON any more. */
function bodyOf(
  body: string,
  encoding: StoredPayload['encoding'],
  { content_type, truncated }: Pick<Sealed, 'content_type' | 'truncated'>,
): unknown {
  if (encoding === 'base64') return { $base64: body };
  if (truncated || !/[/+]json\b/i.test(content_type ?? '')) return body;
  try {
    return parseExact(body);
  } catch {
    return body;
  }
}
