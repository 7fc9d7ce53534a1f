export type CountScale = {
  /** Percent of the chart's height. */
  of: (count: number) => number;
  top: number;
};

/**
 * From counts to percent of a chart's height. Its top is a round number of at least two, and so is the middle of nearly all, so that both can be labels.
 * As d3-scale's `nice(2)` has it, which would add 10 KB to every page with a chart.
 */
export function countScale(counts: readonly number[]): CountScale {
  const top = roundTop(Math.max(2, ...counts));
  return { of: (count) => (count / top) * 100, top };
}

function roundTop(most: number): number {
  let [top, before] = [most, 0];
  for (let i = 0; i < 10; i++) {
    const step = stepOf(top);
    if (step === before) break;
    top = Math.ceil(top / step) * step;
    before = step;
  }
  return top;
}

/** One, two or five times a power of ten, about half of the top: the one that is nearest in logarithm. */
function stepOf(top: number): number {
  const power = 10 ** Math.floor(Math.log10(top / 2));
  const times = top / 2 / power;
  return power * (times >= Math.sqrt(50) ? 10 : times >= Math.sqrt(10) ? 5 : times >= Math.SQRT2 ? 2 : 1);
}
