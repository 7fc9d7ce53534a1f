import assert from 'node:assert/strict';
import test from 'node:test';
import { arcPath, HEIGHT, inkOf, placeOf, WIDTH } from './arcs.ts';
import { CELL, FIRST, landCells } from './land.ts';

test('cities stand on land, and oceans have none', () => {
  const land = new Set(landCells().map(({ column, row }) => `${column} ${row}`));
  const isLand = (lat: number, lon: number) => land.has(`${Math.floor((lon + 180) / CELL)} ${Math.round((FIRST.lat - lat) / CELL)}`);
  for (const [lat, lon] of [
    [52.5, 13.4],
    [48.9, 2.3],
    [39.9, 116.4],
    [-1.3, 36.8],
    [-23.5, -46.6],
    [41.9, -87.6],
    [-25, 133],
  ] as const)
    assert.ok(isLand(lat, lon), `${lat} ${lon}`);
  for (const [lat, lon] of [
    [30, -40],
    [0, -140],
    [-30, 80],
    [75, 0],
    [-16, 170],
  ] as const)
    assert.ok(!isLand(lat, lon), `${lat} ${lon}`);
});

test('every place of the globe is inside the drawing, and an arc rises between its ends', () => {
  for (const lat of [-90, -60, 0, 45, 90])
    for (const lon of [-180, -1, 0, 179.9]) {
      const { x, y } = placeOf({ lat, lon });
      assert.ok(x >= 0 && x <= WIDTH && y >= 0 && y <= HEIGHT, `${lat} ${lon}`);
    }
  assert.equal(arcPath({ x: 100, y: 200 }, { x: 200, y: 200 }), 'M100 200Q150 170 200 200');
  assert.equal(arcPath({ x: 0, y: 10 }, { x: 700, y: 10 }), 'M0 10Q350 2 700 10');
});

test('colours are those of the status', () => {
  assert.deepEqual([200, 204, 301, 404, 500, null].map(inkOf), ['good', 'good', 'warn', 'bad', 'bad', 'ink-3']);
});
