import { type ImageRequest, unreadableImageRequest, uploadedImageRequest } from '#server/ai/usage/image-request.ts';
import type { Steps } from '#server/kernel/slices.ts';
import { boundaryOf, isFile, LONGEST_HEAD } from './uploads.ts';

/** What an upload for images asks for, and the bytes of it that are no pictures. */
export type ImageUpload = { readonly images: ImageRequest; readonly textBytes: number };

const MOST_PARTS = 200;
/** Longest value that is read: longer ones are prompts. */
const LONGEST_VALUE = 100;
/** What providers take at most: 16 pictures, and a prompt of 32,000 characters. */
const MOST_FILES = 16;
const LONGEST_PROMPT = 32_000;
const FIELD = /^content-disposition: form-data; name="([\w[\]-]{1,60})"$/i;

/** Reads the short fields of an upload, each with all its values. One that two readers could read differently may ask for anything. */
export function* imageUploadSteps(body: Buffer, contentType: string): Steps<ImageUpload> {
  const unreadable = { images: unreadableImageRequest(MOST_FILES), textBytes: Math.min(body.length, LONGEST_PROMPT) };
  const fields = new Map<string, string[]>();
  let [files, textBytes] = [0, 0];
  const parts = yield* partsIn(body, contentType);
  if (parts === undefined) return unreadable;
  for (const { head, from, to } of parts) {
    if (isFile(head)) {
      files++;
      continue;
    }
    const [name, second] = head.split('\r\n').flatMap((line) => FIELD.exec(line)?.[1] ?? []);
    if (name === undefined || second !== undefined) return unreadable;
    textBytes += to - from;
    if (to - from <= LONGEST_VALUE) fields.set(name, [...(fields.get(name) ?? []), body.toString('utf8', from, to)]);
  }
  return { images: uploadedImageRequest(fields, files), textBytes };
}

type Part = { readonly head: string; readonly from: number; readonly to: number };

/** The parts of an upload; undefined for one without parts, with more than anybody sends, or with a head that can't be told. */
function* partsIn(body: Buffer, contentType: string): Steps<Part[] | undefined> {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) return undefined;
  const mark = Buffer.from(`--${boundary}`);
  const parts: Part[] = [];
  let at = yield* indexOf(body, mark, 0);
  while (at >= 0) {
    const start = at + mark.length;
    at = yield* indexOf(body, mark, start);
    if (at < 0) break;
    const end = body.subarray(start, start + LONGEST_HEAD).indexOf('\r\n\r\n');
    if (end < 0 || start + end > at || parts.length === MOST_PARTS) return undefined;
    parts.push({ head: body.toString('latin1', start, start + end), from: start + end + 4, to: Math.max(start + end + 4, at - 2) });
  }
  return parts.length > 0 ? parts : undefined;
}

const WINDOW = 256 * 1024;

function* indexOf(body: Buffer, mark: Buffer, from: number): Steps<number> {
  for (let at = from; at < body.length; at += WINDOW) {
    const found = body.subarray(at, at + WINDOW + mark.length - 1).indexOf(mark);
    if (found >= 0) return at + found;
    yield;
  }
  return -1;
}
