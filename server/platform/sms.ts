import { env } from './env.ts';

/** Whether this installation can send text messages. */
export const canSendTexts = (): boolean => env.SMS_PROVIDER_URL !== undefined;

type Text = { to: string; text: string /** The same for the same message to the same number. */; key: string };
type Sent = { ok: true } | { ok: false; error: string; message: string; final: boolean };

const TIMEOUT_MS = 15_000;

/**
 * Hands one text message to the provider of the deployment: `POST {to, text}` as JSON to SMS_PROVIDER_URL, with the message's key as Idempotency-Key. The operator
 * chose the address, so no guard judges it.
 */
export async function sendText({ to, text, key }: Text, signal?: AbortSignal): Promise<Sent> {
  if (!env.SMS_PROVIDER_URL) return { ok: false, error: 'sms_off', message: 'This installation has no SMS provider.', final: true };
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const answer = await fetch(env.SMS_PROVIDER_URL, {
      method: 'POST',
      redirect: 'error',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ to, text }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    await answer.body?.cancel();
    if (answer.ok) return { ok: true };
    return { ok: false, error: 'http_status', message: `The SMS provider answered with status ${answer.status}.`, final: false };
  } catch (error) {
    if (signal?.aborted) throw error;
    return {
      ok: false,
      error: timeout.aborted ? 'timeout' : 'connect_error',
      message: 'The SMS provider cannot be reached.',
      final: false,
    };
  }
}
