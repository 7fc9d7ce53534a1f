import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import type { AnyOperation, Reveal } from '#server/kernel/operation.ts';
import { keyring } from '#server/platform/keys.ts';
import type { CaptureRef } from './schema.ts';
import { assertCaptured, captureByToken } from './store.ts';
import { capturePlace, type StoredCapture } from './stored.shared.ts';

type Input = z.output<typeof CaptureRef>;
const found = (ctx: Ctx, input: Input) => read(ctx, (tx) => captureByToken(tx, ctx, input));

/** Row 21 of interface rule 32 §2. While nothing was sent there is nothing to reveal: `status` answers. */
export const revealOfCapture = (status: AnyOperation): Reveal<Input> => ({
  class: 'B',
  scope: 'plaintext.reveal',
  policy: 'log:read_payload',
  subject: async (ctx, input) => {
    const { route } = await found(ctx, input);
    return { resource_type: 'route', resource_id: route.id, name: route.name };
  },
  state: async (ctx, input) => {
    const capture = await found(ctx, input);
    assertCaptured(capture);
    return { environment: capture.environment };
  },
  unguarded: async (ctx, input) => ((await found(ctx, input)).state === 'waiting' ? status : null),
});

/** The request that was sent. @throws Refusal capture_expired when the link ended a moment ago */
export async function revealCapture(ctx: Ctx, input: Input) {
  const capture = await found(ctx, input);
  assertCaptured(capture);
  const { value_ct, cek_wrapped, tmk_version } = capture;
  if (!value_ct || !cek_wrapped || tmk_version === null) throw new Error('a captured request has no payload');
  const plaintext = await keyring().openValue(capturePlace(capture), { value_ct, cek_wrapped, tmk_version });
  try {
    const { method, headers, body } = JSON.parse(plaintext.toString('utf8')) as StoredCapture;
    return { state: 'captured' as const, method, headers, body };
  } finally {
    plaintext.fill(0);
  }
}
