import { countAt, type JsonObject, listOf, textAt } from '../json.ts';

/** What decides the price of an image. Absent: the provider's default; `auto`: the provider chooses, or it can't be told. */
export type ImageKind = { readonly size?: string; readonly quality?: string };

/** What a call of OpenAI's image operations asks for. */
export type ImageRequest = {
  readonly count: number;
  /** Pictures that are sent along, to make others of. */
  readonly sent: number;
  /** Unfinished pictures that a stream shows before each. */
  readonly partial: number;
  readonly kind: ImageKind;
};

/** Of a request: more than any provider makes. A count beyond it is none that anybody is charged for. */
const MOST_IMAGES = 128;
const LONGEST_WORD = 40;

/** The request that a JSON body makes. xAI names sizes `resolution`, and Together sends the sides of a picture. */
export function imageRequest(body: JsonObject): ImageRequest {
  const [width, height] = [countAt(body, 'width'), countAt(body, 'height')];
  const sides = width !== undefined && height !== undefined ? `${width}x${height}` : undefined;
  const sent = ['images', 'image', 'reference_images', 'image_url', 'mask'].map((name) => body[name]);
  return {
    count: bounded(countAt(body, 'n') ?? 1, 1),
    sent: bounded(
      sent.reduce((sum: number, one) => sum + (Array.isArray(one) ? listOf(one).length : Number(one != null)), 0),
      0,
    ),
    partial: bounded(countAt(body, 'partial_images') ?? 0, 0),
    kind: kindOf(textAt(body, 'size') ?? textAt(body, 'resolution') ?? sides, textAt(body, 'quality')),
  };
}

/** The request of an upload's fields, each with all values that it was given; `files` are its parts with a file name. */
export function uploadedImageRequest(fields: ReadonlyMap<string, readonly string[]>, files: number): ImageRequest {
  const most = (name: string, least: number) =>
    bounded(Math.max(least, ...(fields.get(name) ?? []).map(Number).filter(Number.isInteger)), least);
  // Two values of a field: whoever reads them may take the dearer one.
  const word = (name: string) => ((fields.get(name)?.length ?? 0) > 1 ? AUTO : fields.get(name)?.[0]);
  return { count: most('n', 1), sent: bounded(files, 0), partial: most('partial_images', 0), kind: kindOf(word('size'), word('quality')) };
}

/** What an upload asks for at most whose fields can't be told. */
export const unreadableImageRequest = (files: number): ImageRequest => ({
  count: 10,
  sent: bounded(files, 0),
  partial: 0,
  kind: { size: AUTO, quality: AUTO },
});

/** Size and quality as an answer or a request names them. */
export const kindOf = (size: string | undefined, quality: string | undefined): ImageKind => ({
  ...(size ? { size: size.slice(0, LONGEST_WORD).toLowerCase() } : {}),
  ...(quality ? { quality: quality.slice(0, LONGEST_WORD).toLowerCase() } : {}),
});

export const AUTO = 'auto';
const bounded = (n: number, least: number): number => Math.min(MOST_IMAGES, Math.max(least, n));
