type Point = { x: number; y: number };

// Not d3-shape: for straight lines it would add 3 KB to every page that has a sparkline.

/** A path through the points, in tenths of a unit; a gap where there is none. */
export function linePath(points: readonly (Point | null)[]): string {
  let path = '';
  for (const [i, point] of points.entries()) if (point) path += `${points[i - 1] ? 'L' : 'M'}${tenths(point.x)},${tenths(point.y)}`;
  return path;
}

const tenths = (n: number): string => (Math.round(n * 10) / 10).toString();
