import type { Attempt } from '#server/domain/deliveries/service.ts';
import { TEST_EVENT } from '#server/domain/events/catalogue.shared.ts';
import { sampleOf } from './samples.shared.ts';

/** What of a webhook shows in its envelopes. */
export type EnvelopeOptions = {
  webhook_id: string;
  webhook_name: string;
  sandbox: boolean;
  include_request_body: boolean;
  include_response_body: boolean;
  include_headers: boolean;
};
type Event = Attempt['event'];

/**
 * The text of one attempt (interface rule 60 §3.1): compact JSON with its members in this order. Only `timestamp` differs between attempts. An audit event
 * names no webhook. `bare` leaves the bodies out and says so.
 */
export function envelopeOf(event: Event, options: EnvelopeOptions, at: Date, bare = false): string {
  const { webhook_id, webhook_name, sandbox } = options;
  const named = event.type === 'audit.event' ? {} : { webhook_id, webhook_name };
  const data = event.type.startsWith('request.') ? callData(event.data, options, bare) : event.data;
  return JSON.stringify({
    id: event.id,
    event: event.type,
    timestamp: at.toISOString(),
    occurred_at: event.occurred_at.toISOString(),
    ...named,
    sandbox,
    data,
  });
}

type Side = { headers?: unknown; body?: unknown };
type CallData = Record<string, unknown> & {
  request: Side;
  response: Side;
  request_body_truncated?: boolean;
  response_body_truncated?: boolean;
};

/** A call with what the webhook asked for: its event has what any webhook may have asked for. */
function callData(data: Record<string, unknown>, options: EnvelopeOptions, bare: boolean): Record<string, unknown> {
  const { request, response, request_body_truncated, response_body_truncated, ...others } = data as CallData;
  const side = (part: 'request' | 'response', { headers, body, ...facts }: Side, wanted: boolean, truncated: boolean | undefined) => {
    const shows = wanted && body !== undefined;
    return {
      part: { ...facts, ...(options.include_headers && headers !== undefined ? { headers } : {}), ...(shows && !bare ? { body } : {}) },
      flag: wanted && (truncated || (shows && bare)) ? { [`${part}_body_truncated`]: true } : {},
    };
  };
  const asked = side('request', request, options.include_request_body, request_body_truncated);
  const answered = side('response', response, options.include_response_body, response_body_truncated);
  return { ...others, request: asked.part, response: answered.part, ...asked.flag, ...answered.flag };
}

/** What a test sends: the event of its own, or a sample of another type that is marked as one. */
export function sampleData(type: string | undefined, by: 'api' | 'dashboard', at: Date): { type: string; data: Record<string, unknown> } {
  if (type === undefined) return { type: TEST_EVENT, data: { message: 'test delivery', triggered_by: by } };
  return { type, data: { sample: true, ...sampleOf(type, at) } };
}
