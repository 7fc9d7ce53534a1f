import { receiveStripeEvent } from '#server/domain/billing/service.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { edgeOf } from './edge.ts';
import { dashboardFailure } from './envelope.ts';
import { bodyOf } from './input.ts';
import { refusalHeaders, respondJson } from './respond.ts';

/** An event of the provider lists what it is about; none of them is larger. */
const BODY_LIMIT = 512 * 1024;

/** Where the payment provider sends its events. Public: its signature is the only credential. */
export async function handleStripeWebhook(req: Request): Promise<Response> {
  const requestId = edgeOf(req.headers)?.request_id ?? newId();
  try {
    const body = await bodyOf(req, BODY_LIMIT);
    return respondJson(200, await receiveStripeEvent(db(), body, req.headers.get('stripe-signature'), new Date()), requestId, {});
  } catch (error) {
    const refusal = asRefusal(error);
    logFailure(refusal, requestId, 'a billing event was not taken');
    return respondJson(refusal.status, dashboardFailure(refusal, requestId), requestId, refusalHeaders(refusal));
  }
}
