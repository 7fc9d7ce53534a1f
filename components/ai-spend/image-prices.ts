import type { PriceRow } from './rows.ts';

type Rows = NonNullable<PriceRow['image_prices']>;

/** Prices of images as lines of a size, a quality and an amount; `*` stands for any. */
export const imageLines = (rows: Rows): string =>
  rows.map(({ size, quality, usd }) => `${size ?? '*'} ${quality ?? '*'} ${usd}`).join('\n');

const LINE = /^(\*|[a-z0-9._-]{1,40}) +(\*|[a-z0-9._-]{1,40}) +(\d{1,7}(?:\.\d{1,6})?)$/;

/** The rows of such lines, without empty ones; undefined where a line says something else. */
export function imageRows(text: string): Rows | undefined {
  const lines = text.split('\n').map((line) => line.trim().toLowerCase());
  const rows = lines.filter(Boolean).map((line) => {
    const [, size = '', quality = '', usd] = LINE.exec(line) ?? [];
    return usd === undefined ? undefined : { size: any(size), quality: any(quality), usd: Number(usd) };
  });
  return rows.every((row) => row !== undefined) ? rows : undefined;
}

const any = (word: string): string | null => (word === '*' ? null : word);

/** What a price says besides rates of tokens, in a few words. */
export function otherPrices({ image_prices, per_image_usd, flex_discount, priority_surcharge, batch_discount }: PriceRow): string[] {
  const images = [...(image_prices ?? []).map(({ usd }) => usd), ...(per_image_usd === null ? [] : [per_image_usd])];
  const [least, most] = [Math.min(...images), Math.max(...images)];
  return [
    ...(images.length === 0 ? [] : [least === most ? `$${least} an image` : `$${least} to $${most} an image`]),
    ...(flex_discount === null ? [] : [`Flex −${percent(flex_discount)}`]),
    ...(priority_surcharge === null ? [] : [`Priority +${percent(priority_surcharge)}`]),
    ...(batch_discount === null ? [] : [`Batch −${percent(batch_discount)}`]),
  ];
}

const percent = (share: number): string => `${Math.round(share * 100)}%`;
