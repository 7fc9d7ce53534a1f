import assert from 'node:assert/strict';
import test from 'node:test';
import { imageLines, imageRows, otherPrices } from './image-prices.ts';

test('lines of sizes, qualities and amounts are the rows of the API, and back', () => {
  const rows = [
    { size: '1024x1024', quality: 'hd', usd: 0.08 },
    { size: null, quality: null, usd: 0.04 },
  ];
  assert.equal(imageLines(rows), '1024x1024 hd 0.08\n* * 0.04');
  assert.deepEqual(imageRows(` ${imageLines(rows).toUpperCase()} \n\n`), rows);
  assert.deepEqual(imageRows(''), []);
  for (const wrong of ['0.08', '1024x1024 0.08', '1024x1024 hd', '1024x1024 hd -1', 'a b c d', '* * 1e3'])
    assert.equal(imageRows(wrong), undefined, wrong);
});

test('a price says in a few words what images and tiers cost', () => {
  const row = { image_prices: null, per_image_usd: null, flex_discount: null, priority_surcharge: null, batch_discount: null };
  const said = (more: object) => otherPrices({ ...row, ...more } as never);
  assert.deepEqual(said({}), []);
  assert.deepEqual(said({ per_image_usd: 0.02, flex_discount: 0.5, priority_surcharge: 0.8182, batch_discount: 0 }), [
    '$0.02 an image',
    'Flex −50%',
    'Priority +82%',
    'Batch −0%',
  ]);
  assert.deepEqual(
    said({
      image_prices: [
        { size: null, quality: 'hd', usd: 0.08 },
        { size: null, quality: null, usd: 0.04 },
      ],
    }),
    ['$0.04 to $0.08 an image'],
  );
});
