import { z } from 'zod';
import { pathId, shownOnce, time } from '#server/kernel/fields.ts';

const CAPTURE_STATES = ['waiting', 'captured', 'consumed', 'expired'] as const;

export const StartCapture = z.object({
  id: pathId(),
  /** The base environment when it isn't named. */
  environment: z.string().max(64).optional(),
});

/** A link to which one request can be sent. */
export const StartedCapture = z
  .object({ token: shownOnce(z.string()), capture_url: shownOnce(z.string()), expires_at: time() })
  .meta({ id: 'StartedCapture' });

export const CaptureRef = z.object({ id: pathId(), token: z.string().max(64) });

/** What became of a link: the shape of what was sent, and none of its values. */
export const CaptureStatus = z
  .object({
    state: z.enum(CAPTURE_STATES),
    environment: z.string().nullable(),
    expires_at: time(),
    content_type: z.string().nullable(),
    bytes: z.number().int().nullable(),
    structure: z.json().nullable(),
  })
  .meta({ id: 'CaptureStatus' });

/** A captured request; values of credential headers are masked. */
export const CapturedRequest = z
  .object({
    state: z.literal('captured'),
    method: z.string(),
    headers: z.array(z.object({ name: z.string(), value: z.string() })),
    body: z.string(),
  })
  .meta({ id: 'CapturedRequest' });
