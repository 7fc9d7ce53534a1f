import { processState } from '#server/kernel/process-state.ts';

// What this process counts. Counting is an addition to a number in memory; names, labels and text are only put together when somebody asks. No label may
// hold what callers or workspaces choose: every set of values is fixed in code, or bounded here.

export type Labels = Readonly<Record<string, string>>;
export type Sample = { readonly labels: Labels; readonly value: number };
/** `counts` has one number per bound and one for what is above all of them; they aren't cumulative. */
export type HistogramSample = { readonly labels: Labels; readonly counts: readonly number[]; readonly sum: number };

type Named = { readonly name: string; readonly help: string; readonly unit?: 's' | 'By' | undefined };
export type Meter = Named &
  (
    | { readonly kind: 'counter' | 'gauge'; read(): readonly Sample[] | Promise<readonly Sample[]> }
    | { readonly kind: 'histogram'; readonly bounds: readonly number[]; read(): readonly HistogramSample[] }
  );

/** Counts by labels whose values are known beforehand. `cells[index(…)]++` is all a hot path does. */
export type Counter = { readonly cells: Float64Array; index(...values: string[]): number };
/** Counts by labels whose values come from constants in code; they are bounded all the same, and the rest is counted as `other`. */
export type Tally = { add(value: string | readonly string[], amount?: number): void };
export type Histogram = { observe(value: number, row?: number): void; row(label: string): number };

const MOST_VALUES = 200;

type Kept = Meter & { readonly made: unknown };
const meters = processState('meters', () => new Map<string, Kept>(), { lasting: true }); // modules hold their own

/** All meters of this process. */
export const allMeters = (): readonly Meter[] => [...meters.values()];

/** A counter, made by the first copy of this module that asks for its name. */
export function counter(named: Named, labels: Readonly<Record<string, readonly string[]>> = {}): Counter {
  return shared(named, () => {
    const names = Object.keys(labels);
    const sets = Object.values(labels);
    const cells = new Float64Array(sets.reduce((product, values) => product * values.length, 1));
    const index = (...values: string[]) => sets.reduce((at, set, i) => at * set.length + Math.max(0, set.indexOf(values[i] ?? '')), 0);
    const labelsOf = (cell: number): Labels => {
      let rest = cell;
      const values = sets.toReversed().map((set) => {
        const value = set[rest % set.length] as string;
        rest = Math.floor(rest / set.length);
        return value;
      });
      return Object.fromEntries(names.map((name, i) => [name, values[names.length - 1 - i] as string]));
    };
    // Combinations that never happened would be most of several labels; with one label a zero lets the first rise be seen.
    const read = () => [...cells].flatMap((value, cell) => (value === 0 && sets.length > 1 ? [] : [{ labels: labelsOf(cell), value }]));
    return { made: { cells, index }, meter: { ...named, kind: 'counter', read } };
  });
}

export function tally(named: Named, ...labels: readonly string[]): Tally {
  return shared(named, () => {
    const counts = new Map<string, number>();
    const add = (value: string | readonly string[], amount = 1) => {
      const asked = typeof value === 'string' ? value : value.join('\n');
      const key = counts.has(asked) || counts.size < MOST_VALUES ? asked : labels.map(() => 'other').join('\n');
      counts.set(key, (counts.get(key) ?? 0) + amount);
    };
    const labelsOf = (key: string) => Object.fromEntries(key.split('\n').map((value, i) => [labels[i], value]));
    const read = () => [...counts].map(([key, value]) => ({ labels: labelsOf(key), value }));
    return { made: { add }, meter: { ...named, kind: 'counter', read } };
  });
}

/** `bounds` are upper bounds in the meter's unit, rising. With `label`, one histogram per value; `row` finds the one to observe by. */
export function histogram(named: Named, bounds: readonly number[], label = '', values: readonly string[] = ['']): Histogram {
  return shared(named, () => {
    const width = bounds.length + 1;
    const cells = new Float64Array(values.length * width);
    const sums = new Float64Array(values.length);
    const last = bounds.length;
    const made: Histogram = {
      observe(value, row = 0) {
        let bucket = 0;
        while (bucket < last && value > (bounds[bucket] as number)) bucket++;
        const cell = row * width + bucket;
        cells[cell] = (cells[cell] as number) + 1;
        sums[row] = (sums[row] as number) + value;
      },
      row: (value) => Math.max(0, values.indexOf(value)),
    };
    const read = () =>
      values.map((value, row) => ({
        labels: label === '' ? {} : { [label]: value },
        counts: [...cells.subarray(row * width, (row + 1) * width)],
        sum: sums[row] as number,
      }));
    return { made, meter: { ...named, kind: 'histogram', bounds, read } };
  });
}

/** A number that is read when somebody asks. Returns what removes it; a newer one of the same name replaces it. */
export function observe(
  kind: 'counter' | 'gauge',
  named: Named,
  read: () => number | readonly Sample[] | Promise<readonly Sample[]>,
): () => void {
  const samples = async () => {
    const found = await read();
    return typeof found === 'number' ? [{ labels: {}, value: found }] : found;
  };
  const kept: Kept = { ...named, kind, read: samples, made: undefined };
  meters.set(named.name, kept);
  return () => {
    if (meters.get(named.name) === kept) meters.delete(named.name);
  };
}

function shared<T>({ name }: Named, make: () => { made: T; meter: Meter }): T {
  const known = meters.get(name);
  if (known) return known.made as T; // made by another copy of this module, by the same declaration
  const { made, meter } = make();
  meters.set(name, { ...meter, made });
  return made;
}
