import { type ScaleLinear, scaleLinear } from 'd3-scale';

/** From counts to percent of a chart's height. Its top is a round number of at least two, and so is the middle of nearly all, so that both can be labels. */
export const countScale = (counts: readonly number[]): ScaleLinear<number, number> =>
  scaleLinear([0, Math.max(2, ...counts)], [0, 100]).nice(2);
