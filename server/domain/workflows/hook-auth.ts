import { digest, hasDigest } from '#server/crypto/tokens.ts';
import { signDelivery, webhookMaterial } from '#server/crypto/transit/webhook-formats.ts';
import { openedSecret, SecretUnusable } from '#server/custody/mcp/secrets.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { take } from '#server/platform/throttle.ts';
import { parseTemplate } from './expressions/template.shared.ts';
import type { HookAuth } from './hook-settings.shared.ts';

type Space = Pick<Ctx, 'tenant_id' | 'sandbox'>;
export type HookCall = { method: string; url: string; headers: Headers; body: Uint8Array };

/** How far a signed time may be from now, in both directions (interface rule 60 §4). */
const WINDOW_S = 300;

/**
 * Whether a call authenticates as the trigger demands. Formats that sign a time are held to it, and each of their signatures is good for one call.
 * @throws Refusal tenant_sealed
 */
export async function isAuthentic(at: Space & { workflow_id: string; now: Date }, auth: HookAuth, call: HookCall): Promise<boolean> {
  if (auth.type === 'none') return true;
  const secret = await secretOf(at, auth.secret, at.now);
  if (secret === null) return false;
  if (auth.type === 'header') return hasDigest(call.headers.get(auth.name) ?? '', digest(secret));
  // A query is signed by no format.
  if (call.method === 'GET') return false;
  return isSigned(at, auth, secret, call);
}

async function isSigned(
  at: { workflow_id: string; now: Date },
  { format, header }: Extract<HookAuth, { type: 'hmac' }>,
  secret: string,
  { headers, body }: HookCall,
): Promise<boolean> {
  const time = signedTime(format, headers);
  if (time === null || Math.abs(at.now.getTime() / 1_000 - (time ?? at.now.getTime() / 1_000)) > WINDOW_S) return false;
  const expected = signDelivery({ format, header, id: '', current: webhookMaterial(secret) }, body, time ?? 0);
  const [name = '', value = ''] = Object.entries(expected)[0] ?? [];
  const given = headers.get(name) ?? '';
  if (format !== 'stripe') return hasDigest(given, digest(value)) && (time === undefined || onlyOnce(at, given));
  // While the sender replaces its secret it sends the signatures of both.
  const mac = digest(value.slice(value.indexOf('v1=') + 3));
  const signatures = parts(given).flatMap(([key, one]) => (key === 'v1' ? [one] : []));
  return signatures.slice(0, 8).some((one) => hasDigest(one, mac)) && onlyOnce(at, value);
}

/** The time that a format signs, in seconds; undefined for formats that sign none, null when it is missing. */
function signedTime(format: string, headers: Headers): number | null | undefined {
  if (format !== 'stripe' && format !== 'slack') return undefined;
  const text =
    format === 'slack'
      ? headers.get('x-slack-request-timestamp')
      : parts(headers.get('stripe-signature') ?? '').find(([key]) => key === 't')?.[1];
  return text && /^[0-9]{1,12}$/.test(text) ? Number(text) : null;
}

const parts = (text: string): [string, string][] =>
  text
    .slice(0, 4_096)
    .split(',')
    .map((part) => {
      const mark = part.indexOf('=');
      return [part.slice(0, mark).trim(), part.slice(mark + 1).trim()];
    });

/** A signature that was seen within the window is a replay. */
async function onlyOnce({ workflow_id, now }: { workflow_id: string; now: Date }, signature: string): Promise<boolean> {
  const rule = { what: 'workflow-hook-signature', subject: `${workflow_id} ${signature}`, limit: 1, window_sec: 2 * WINDOW_S };
  return (await take(rule, now)).allowed;
}

/** The value of the secret that the trigger names; null when there is none to compare with. */
async function secretOf(space: Space, reference: string, now: Date): Promise<string | null> {
  const [part] = parseTemplate(reference);
  if (part?.kind !== 'secret') return null;
  const id = part.by === 'id' ? part.secret.toLowerCase() : (await ownRows<{ id: string }>(space, BY_NAME, part.secret))[0]?.id;
  if (id === undefined) return null;
  try {
    return (await openedSecret(space, { id, environment: null, url: null, now })).reveal();
  } catch (error) {
    if (!(error instanceof SecretUnusable)) throw error;
    if (error.reason === 'sealed') throw new Refusal('tenant_sealed', error.message, { retryAfter: 30 });
    return null;
  }
}

const BY_NAME = ownQuery('workflow-secret-by-name', 'select id from secrets where tenant_id = $1 and sandbox = $2 and shortcode_name = $3');
