import { z } from 'zod';
import { operation, type RawAnswer } from '#server/kernel/operation.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { take, throttled } from '#server/platform/throttle.ts';
import { PICTURE_BYTES } from './limits.shared.ts';
import { NewPicture, PictureRef, PictureUpload } from './schema.ts';
import { keepPicture, pictureOf } from './service.ts';

const pace = ({ user }: SignedInCtx) => ({ what: 'picture', subject: user.id, limit: 30, window_sec: 600 });
/** One that holds up everybody for ten seconds counts as so many. */
const SLOW = 10;

export const upload = operation({
  id: 'auth.avatars.upload',
  summary: 'Upload a photo or logo',
  http: 'POST /auth/avatars',
  kind: 'change',
  needs: 'session',
  vouched: 'workspace',
  refuses: ['payload_too_large', 'unsupported_media_type', 'dependency_unavailable'],
  takes: {
    bytes: PICTURE_BYTES,
    admit: (ctx) => throttled([pace(ctx)], ctx.now, 'rate_limited'),
  },
  input: NewPicture,
  output: PictureUpload,
  success: 201,
  run: (ctx, { bytes }) => keepPicture(ctx, bytes, () => Promise.all(Array.from({ length: SLOW - 1 }, () => take(pace(ctx), ctx.now)))),
});

export const get = operation({
  id: 'auth.avatars.get',
  summary: 'Get a photo or logo',
  http: 'GET /auth/avatars/{id}',
  kind: 'read',
  needs: 'session',
  vouched: 'workspace',
  refuses: ['not_found'],
  input: PictureRef,
  output: z.custom<RawAnswer>(),
  raw: true,
  run: async (ctx, { id }) => {
    const { etag, bytes } = await pictureOf(ctx, id);
    return {
      headers: {
        'content-type': 'image/webp',
        etag: `"${etag}"`,
        // The address is of this very picture, so it can be kept; in this browser alone, because who may see it is asked here.
        'cache-control': 'private, max-age=31536000, immutable',
        'content-security-policy': "default-src 'none'; sandbox",
        'cross-origin-resource-policy': 'same-origin',
      },
      body: bytes,
    };
  },
});
