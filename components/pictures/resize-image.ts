import { PICTURE_BYTES } from '#server/domain/pictures/limits.shared.ts';

/** Far more than is shown. */
const SIDE = 1024;

/**
 * The file, or where it weighs more than may be sent a smaller drawing of it: photos of a phone do. Turned as its camera was held.
 * @throws what `refusalOf` reads, when this browser cannot read it
 */
export async function fitting(file: Blob): Promise<Blob> {
  // A folder that was dropped, or a file that was moved since, gives not even its first byte; sending it would look like a lost connection.
  const readable = await file
    .slice(0, 1)
    .arrayBuffer()
    .catch(() => undefined);
  if (!readable) throw refused('invalid', 'This file can’t be read. Choose it again.', 400);
  if (file.size <= PICTURE_BYTES) return file;
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  const small = bitmap && (await drawn(bitmap));
  if (small && small.size <= PICTURE_BYTES) return small;
  throw refused('payload_too_large', 'This file is larger than 2 MiB and can’t be resized. Choose a smaller image.', 413);
}

const refused = (code: string, message: string, status: number) =>
  Object.assign(new Error(message), { data: { code, message, request_id: '', status } });

function drawn(bitmap: ImageBitmap): Promise<Blob | null> {
  // Its shorter side is what a square keeps.
  const scale = Math.min(1, SIDE / Math.min(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [Math.round(bitmap.width * scale), Math.round(bitmap.height * scale)];
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/webp', 0.9));
}
