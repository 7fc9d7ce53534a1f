import Stripe from 'stripe';
import { processState } from '#server/kernel/process-state.ts';
import { env } from './env.ts';

/** The version of Stripe's API that this code is written for; an account with another default gets this one. */
export const STRIPE_VERSION = '2026-10-28.endive';

const held = processState('stripe', (): { client?: Stripe | undefined } => ({}));

/** Stripe, at the address of the deployment. Loaded by billing alone, and only when the deployment takes payments. */
export function stripe(): Stripe {
  held.client ??= connect();
  return held.client;
}

function connect(): Stripe {
  const { protocol, hostname, port } = new URL(env.STRIPE_API_URL);
  return new Stripe(env.STRIPE_SECRET_KEY ?? '', {
    apiVersion: STRIPE_VERSION,
    host: hostname,
    protocol: protocol === 'http:' ? 'http' : 'https',
    port: port || (protocol === 'http:' ? 80 : 443),
    timeout: 10_000,
    maxNetworkRetries: 2,
    telemetry: false,
  });
}
