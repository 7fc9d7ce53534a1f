import { ArrowDownWideNarrow } from 'lucide-react';
import { Button } from '#components/ui/button.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';

/** Which calls of the list come first: the newest, or those that took longest. */
export function OrderMenu({ slowest, onSort }: { slowest: boolean; onSort: (sort: 'latency_ms' | null) => void }) {
  return (
    <Menu
      trigger={<Button icon={<ArrowDownWideNarrow />}>{slowest ? 'Slowest first' : 'Newest first'}</Button>}
      entries={[
        { label: 'Newest first', checked: !slowest, onSelect: () => onSort(null) },
        { label: 'Slowest first', checked: slowest, onSelect: () => onSort('latency_ms') },
      ]}
    />
  );
}
