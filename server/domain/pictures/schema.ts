import { z } from 'zod';
import { pathId, time } from '#server/kernel/fields.ts';

/** The body is the picture itself. */
export const NewPicture = z.object({ bytes: z.instanceof(Uint8Array) });
export const PictureUpload = z.object({
  /** For `avatar_upload_id` or `logo_upload_id`, once; until then it can be looked at by whoever sent it. */
  upload_id: z.uuid(),
  expires_at: time(),
});
export const PictureRef = z.object({ id: pathId() });
/** In a body that uses an upload; null takes the picture down. */
export const uploadId = () => z.string().max(100).nullable().optional();
