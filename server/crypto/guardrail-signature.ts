import { createHmac } from 'node:crypto';

/** `X-Svc-Signature` of a guardrail call: `t=<seconds>,v1=<hex of HMAC-SHA256 over t.body>` (interface rule 51 §6.5). */
export const guardrailSignature = (secret: Uint8Array, body: string, seconds: number): string =>
  `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
