import { createHmac, timingSafeEqual } from 'node:crypto';

/** How old a signed event may be, in seconds; the provider signs every delivery anew. */
const TOLERANCE_SEC = 300;

/**
 * Whether `Stripe-Signature` (`t=<seconds>,v1=<hex>,...`) is of these bytes under the endpoint's secret, and fresh. Every v1 is tried: two secrets are in use
 * while one is rolled. https://docs.stripe.com/webhooks#verify-manually
 */
export function isSignedByStripe(body: Uint8Array, header: string | null, secret: string, now: Date): boolean {
  const parts = (header ?? '').split(',', 20).map((part) => part.split('=', 2) as [string, string?]);
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,12}$/.test(time) || Math.abs(now.getTime() / 1000 - Number(time)) > TOLERANCE_SEC) return false;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  let signed = false;
  for (const [name, value = ''] of parts)
    if (name === 'v1' && /^[0-9a-f]{64}$/.test(value) && timingSafeEqual(Buffer.from(value, 'hex'), expected)) signed = true;
  return signed;
}

/** The header that goes with these bytes. For tests, which are the provider. */
export function stripeSignature(body: string, secret: string, at: Date): string {
  const time = Math.floor(at.getTime() / 1000);
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}
