import { type AlertType, type Condition, windowOf } from './conditions.shared.ts';
import { step } from './machine.ts';
import { addCell, type Cell, emptyCell, measure, onlyGrows } from './measure.ts';
import { dateOf } from './watched.ts';

export type Simulated = { key: string; started: number; resolved: number | null; peak: number };
export type Values = Map<number, number | null>;

/**
 * What an alert would have done with one group, minute by minute, by the rules that the evaluation goes by. `values` has what was measured in the window that
 * ended with each minute.
 */
export function simulate(
  key: string,
  { type, condition }: { type: AlertType; condition: Condition },
  cells: ReadonlyMap<number, Cell>,
  { first, last }: { first: number; last: number },
): { incidents: Simulated[]; values: Values } {
  const window = windowOf(type, condition);
  const sum = emptyCell();
  for (let minute = first - window; minute < first; minute++) addCell(sum, cells.get(minute) ?? NONE);
  const incidents: Simulated[] = [];
  const values: Values = new Map();
  let open = null as (Simulated & { clean_since: Date | null }) | null;
  let before = measure(type, condition, sum);
  for (let minute = first; minute <= last; minute++) {
    addCell(sum, cells.get(minute) ?? NONE);
    addCell(sum, cells.get(minute - window) ?? NONE, -1);
    if (type === 'high_latency') sum.longest = longestOf(cells, minute - window + 1, minute);
    const ended = measure(type, condition, sum);
    values.set(minute, ended.value);
    const holds = before.holds || (onlyGrows(type) && ended.holds);
    const value = Math.max(before.value ?? 0, onlyGrows(type) ? (ended.value ?? 0) : 0);
    const next = step(open, holds, dateOf(minute), window);
    if (next === 'open') open = { key, started: minute, resolved: null, peak: value, clean_since: null };
    else if (open && next === 'holds') open = { ...open, peak: Math.max(open.peak, value), clean_since: null };
    else if (open && next === 'clean') open = { ...open, clean_since: dateOf(minute) };
    else if (open && next === 'resolve') {
      incidents.push({ ...open, resolved: minute });
      open = null;
    }
    before = ended;
  }
  if (open) incidents.push(open);
  return { incidents, values };
}

const NONE = emptyCell();

function longestOf(cells: ReadonlyMap<number, Cell>, first: number, last: number): number {
  let longest = 0;
  for (let minute = first; minute <= last; minute++) longest = Math.max(longest, cells.get(minute)?.longest ?? 0);
  return longest;
}
