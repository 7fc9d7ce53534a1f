import type { z } from 'zod';
import type { Bucket } from '#components/ui/time-histogram.tsx';
import type { LogStats } from '#server/domain/request-logs/figures.schema.ts';

type Stats = z.output<typeof LogStats>;

/** Failed calls of each bar, the empty ones too. */
export function errorsOf({ from, to, step_seconds, series }: Pick<Stats, 'from' | 'to' | 'step_seconds' | 'series'>): number[] {
  const known = new Map(series.map((one) => [Date.parse(one.at), one.errors]));
  return barsOf({ from, to, step_seconds, series }).map(({ at }) => known.get(Date.parse(at)) ?? 0);
}

/** The bars of the histogram with the empty ones filled in: the server names only times at which something happened. */
export function barsOf({ from, to, step_seconds, series }: Pick<Stats, 'from' | 'to' | 'step_seconds' | 'series'>): Bucket[] {
  const step = step_seconds * 1_000;
  const first = Math.floor(Date.parse(from) / step) * step;
  const end = Date.parse(to);
  const known = new Map(series.map((one) => [Math.floor(Date.parse(one.at) / step) * step, one]));
  const bars: Bucket[] = [];
  for (let at = first; at < end; at += step) {
    const found = known.get(at);
    bars.push({
      at: new Date(at).toISOString(),
      ...(found && { ok: found.c2xx, redirect: found.c3xx, client_error: found.c4xx, server_error: found.c5xx, gone: found.other }),
    });
  }
  return bars;
}
