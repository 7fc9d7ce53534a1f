import { type Answered, receiveInbound } from '#server/domain/inbound-webhooks/receiving.ts';
import { asRefusal, notFound, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { sizeText } from '#server/kernel/numbers.ts';
import { db } from '#server/platform/db.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { edgeOf } from './edge.ts';
import { bodyOf } from './input.ts';
import { failure, respond, secured } from './respond.ts';

const BODY_LIMIT = 1024 * 1024;

/** Where senders post what they signed: `/in/{label}/{name}` below the hooks' address (interface rule 60 §9). Their signature is the only credential. */
export async function handleInboundWebhook(
  req: Request,
  at: { label: string; name: string },
  edge = edgeOf(req.headers),
): Promise<Response> {
  const request_id = edge?.request_id ?? newId();
  try {
    if (!edge) throw notFound();
    if (req.method !== 'POST')
      throw new Refusal('method_not_allowed', 'Method not allowed. This path supports POST.', { headers: { allow: 'POST' } });
    const body = async () => {
      if (edge.fault === 'payload_too_large')
        throw new Refusal('payload_too_large', `The request body must not exceed ${sizeText(BODY_LIMIT)}.`);
      return bodyOf(req, BODY_LIMIT);
    };
    const { search } = new URL(req.url);
    const arrived = { headers: req.headers, query: search, ip: edge.ip, request_id, body };
    return secured(answerOf(await receiveInbound(db(), at, arrived, new Date())), request_id);
  } catch (error) {
    const refusal = asRefusal(error);
    logFailure(refusal, request_id, 'cannot receive an inbound webhook');
    return respond(failure(refusal, request_id), request_id, 'uncompressed');
  }
}

/** A page of a target is no page of ours: whatever isn't JSON or text leaves as bytes. */
function answerOf({ status, content_type, body }: Answered): Response {
  const isPlain = content_type !== null && /^(?:application\/json|text\/plain)\b/i.test(content_type);
  const bare = status === 204 || status === 205 || body.byteLength === 0;
  const headers: Record<string, string> = bare ? {} : { 'content-type': isPlain ? content_type : 'application/octet-stream' };
  return new Response(bare ? null : new Uint8Array(body), { status, headers });
}
