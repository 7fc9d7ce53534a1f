import { AUTO, type ImageKind } from '../usage/image-request.ts';
import { outputTokens, type Usage } from '../usage/usage.ts';
import type { ImagePrice, Price } from './price.ts';

/**
 * What one image costs, in micro-USD; undefined for a size or quality that no row knows. Of the rows that fit, the first counts where the request names
 * nothing, since that is the provider's default, and the dearest where the provider chooses.
 */
export function imagePrice({ images, rates }: Price, { size, quality }: ImageKind): bigint | undefined {
  const fits = images.filter((row) => fit(row.size, size) && fit(row.quality, quality));
  const [usual] = fits;
  const chosen = fits.filter((row) => (size === AUTO || row.size === usual?.size) && (quality === AUTO || row.quality === usual?.quality));
  return dearest(chosen)?.micro ?? rates.per_image_usd ?? undefined;
}

/**
 * The most that one image may cost before it is made, in micro-USD; undefined where nothing says. A model that is charged by tokens draws any size: one that no
 * row knows costs as much more as it is larger.
 */
export function mostForImage(price: Price, kind: ImageKind): bigint | undefined {
  const known = imagePrice(price, kind);
  if (known !== undefined || !countsImageTokens(price)) return known;
  const rows = price.images.filter((row) => fit(row.quality, kind.quality));
  const row = dearest(rows.length > 0 ? rows : price.images);
  if (!row) return undefined;
  const [wanted, had] = [areaOf(kind.size), areaOf(row.size)];
  return wanted > had ? (row.micro * wanted) / had : row.micro;
}

/** Whether the tokens of its answers say what its images cost. */
export const countsImageTokens = ({ rates }: Price): boolean => rates.image_output_per_mtok !== null || rates.output_per_mtok !== null;

/** Whether an image call of this kind has a price at all. */
export const pricesImages = (price: Price, kind: ImageKind): boolean => countsImageTokens(price) || imagePrice(price, kind) !== undefined;

/** Whether the price says what an answer cost: images cost by the piece where the provider counted no tokens. */
export const pricesUse = (price: Price, usage: Usage): boolean =>
  usage.images === 0 || outputTokens(usage) > 0 || mostForImage(price, usage.image ?? {}) !== undefined;

const fit = (row: string | null, wanted: string | undefined): boolean =>
  row === null || wanted === undefined || wanted === AUTO || row === wanted;
const dearest = (rows: readonly ImagePrice[]): ImagePrice | undefined =>
  rows.reduce<ImagePrice | undefined>((most, row) => (most && most.micro >= row.micro ? most : row), undefined);

/** Pixels of a size such as `1024x1536`; of any other word, those of the usual square. */
function areaOf(size: string | null | undefined): bigint {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? '') ?? [];
  return width && height ? BigInt(Math.max(1, Number(width) * Number(height))) : 1024n * 1024n;
}
