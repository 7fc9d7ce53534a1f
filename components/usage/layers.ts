import type { z } from 'zod';
import { capitalize } from '#components/ui/capitalize.ts';
import type { LogDays } from '#server/domain/request-logs/figures.schema.ts';

type Days = z.output<typeof LogDays>;

/** The largest of the split, each a layer, and the rest of each day on top; the layers of a day add up to what was counted on it. */
export function stacked({ days, series }: Pick<Days, 'days' | 'series'>, { none, more }: { none: string; more: boolean }) {
  const rest = days.map(({ counted }, i) => counted - series.reduce((sum, one) => sum + (one.counted[i] ?? 0), 0));
  const layers = series
    .filter(({ counted }) => counted.some((n) => n > 0))
    .map(({ id, name, counted }) => ({ label: name ?? (id ? `Deleted (${id.slice(0, 8)})` : 'No route found'), values: counted }));
  if (layers.length > 0 && rest.every((n) => n <= 0)) return layers;
  return [
    ...layers,
    {
      label: layers.length === 0 ? 'Calls' : more && none ? `Other, or ${none}` : more ? 'Other' : none ? capitalize(none) : 'Other',
      values: rest,
    },
  ];
}
