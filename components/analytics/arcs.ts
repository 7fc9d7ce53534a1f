import { CELL, FIRST, LAND_ROWS, landCells } from './land.ts';

/** Units of the drawing: five to a cell. */
const UNIT = 5;
export const WIDTH = (360 / CELL) * UNIT;
export const HEIGHT = LAND_ROWS * UNIT;

export type Spot = { lat: number; lon: number };
export type Ink = 'good' | 'warn' | 'bad' | 'ink-3';
export type Arc = { id: string; from: Spot; to: Spot | null; ink: Ink };

/** Green for 2xx, yellow for 3xx, red for 4xx and 5xx (interface rule 70 §6); a call without an answer has neither. */
export function inkOf(status: number | null): Ink {
  if (status === null) return 'ink-3';
  return status >= 400 ? 'bad' : status >= 300 ? 'warn' : 'good';
}

/** Degrees in the drawing, every degree as long as any other; what lies south of the map stands at its edge. */
export const placeOf = ({ lat, lon }: Spot) => ({
  x: ((lon - FIRST.lon) / CELL + 0.5) * UNIT,
  y: Math.min(HEIGHT - 2, Math.max(2, ((FIRST.lat - lat) / CELL + 0.5) * UNIT)),
});

type Point = { x: number; y: number };

/** A curve that rises towards the north, the more the longer it is, and stays within the map. */
export function arcPath(from: Point, to: Point): string {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const top = Math.max(2, (from.y + to.y) / 2 - length * 0.3);
  return `M${fixed(from.x)} ${fixed(from.y)}Q${fixed((from.x + to.x) / 2)} ${fixed(top)} ${fixed(to.x)} ${fixed(to.y)}`;
}

const fixed = (n: number) => Number(n.toFixed(1)).toString();

/** A dot for each cell of land: strokes of no length with round ends. */
export const landPath = (): string =>
  landCells()
    .map(({ column, row }) => `M${((column + 0.5) * UNIT).toString()} ${((row + 0.5) * UNIT).toString()}h0`)
    .join('');
