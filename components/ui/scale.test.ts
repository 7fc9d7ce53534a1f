import assert from 'node:assert/strict';
import test from 'node:test';
import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { linePath } from './paths.ts';
import { countScale } from './scale.ts';

test('the top of a chart is that of d3-scale', () => {
  for (let most = 0; most < 5_000; most = most * 1.013 + 0.7) {
    const theirs = scaleLinear([0, Math.max(2, most)], [0, 100]).nice(2);
    const ours = countScale([1, most]);
    assert.equal(ours.top, theirs.domain()[1], String(most));
    assert.ok(Math.abs(ours.of(most) - theirs(most)) < 1e-9);
  }
  for (const most of [1e4, 99_999, 1e6, 123_456_789, 7.5e12])
    assert.equal(countScale([most]).top, scaleLinear([0, most], [0, 100]).nice(2).domain()[1]);
  assert.equal(countScale([]).top, 2);
});

test('a line is that of d3-shape, with gaps where there is nothing', () => {
  const values = [1, 2.04, null, 3.25, 4, null, null, 100.96, 7];
  const theirs = line<number | null>(
    (_, index) => index * 1.5,
    (value) => value ?? 0,
  )
    .defined((value) => value !== null)
    .digits(1);
  assert.equal(linePath(values.map((y, i) => (y === null ? null : { x: i * 1.5, y }))), theirs(values));
});
