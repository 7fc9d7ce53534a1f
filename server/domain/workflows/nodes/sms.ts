import { spaceOf } from '#server/kernel/context.ts';
import { openHttp } from '#server/platform/connect/http.ts';
import { env } from '#server/platform/env.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { log } from '#server/platform/log.ts';
import { failedBy, isRetryable } from './answers.ts';
import { uuidOf } from './email.ts';
import { evaluatedText, failed, InvalidConfig, type NodeKind, succeeded } from './node-call.ts';

const LONGEST = 1_000;

/** Whether text messages can be sent from here. */
export const canSendSms = (): boolean => env.SMS_PROVIDER_URL !== undefined;

/** Hands a text message to the provider as {to, text}. In Test it is logged and not sent (interface rule 62 §7). */
export const sms: NodeKind = async (call) => {
  const to = call.own ? call.own.phone : evaluatedText(call, call.config.to, true).replace(/[\s().-]/g, '');
  const text = evaluatedText(call, call.config.text);
  const input = { to, text };
  if (to === null) return failed('invalid_config', 'A test sends to your own number, and you have none.', { input });
  if (!/^\+[1-9][0-9]{5,14}$/.test(to)) throw new InvalidConfig('to must be a number with its country code, such as +491701234567');
  if (text === '' || text.length > LONGEST) throw new InvalidConfig(`text must have 1 to ${LONGEST} characters`);
  const message_id = uuidOf(call.idempotencyKey);
  if (call.place.sandbox) {
    log.info({ execution_id: call.execution.id, characters: text.length }, 'a text message of Test was not sent');
    return succeeded({ message_id }, ['out'], { input });
  }
  if (!env.SMS_PROVIDER_URL) return failed('invalid_config', 'This installation has no SMS provider.', { input });
  const http = openHttp({ connections: 1 });
  try {
    const answer = await http.request({
      url: env.SMS_PROVIDER_URL,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': call.idempotencyKey },
      body: JSON.stringify({ to, text }),
      tenant: call.place.tenant_id,
      space: spaceOf(call.place.sandbox),
      maxBytes: 64 * 1024,
      overflow: 'truncate',
      signal: call.signal,
    });
    if (answer.status < 400) return succeeded({ message_id }, ['out'], { input });
    const retry = isRetryable(answer);
    return failed('http_status', `The SMS provider answered with status ${answer.status}.`, { input, ...(retry ? { retry } : {}) });
  } catch (error) {
    if (!(error instanceof UpstreamFault) || call.signal.aborted) throw error;
    return failedBy(error, input);
  } finally {
    await http.close();
  }
};
