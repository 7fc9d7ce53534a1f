import { Badge } from '#components/ui/badge.tsx';
import { roleName } from './key-labels.ts';

/** The roles of a key, by name. */
export function Roles({ ids }: { ids: readonly string[] }) {
  if (ids.length === 0) return <span className="text-warn-ink">None</span>;
  return (
    <span className="flex flex-wrap gap-1">
      {ids.map((id) => (
        <Badge key={id}>{roleName(id)}</Badge>
      ))}
    </span>
  );
}
