'use client';

import { ListFilter } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { Chip } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Menu, type MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { EXECUTION_STATUSES, EXECUTION_TRIGGERS } from '#server/domain/workflows/definition.shared.ts';
import { runsSearch } from './runs-search.ts';
import { RUN_STATES, STARTED_BY } from './workflow-labels.ts';

/** Narrows a list of runs by how they ended and what started them. */
export function RunsFilter() {
  const [{ status, trigger_type }, setSearch] = useQueryStates(runsSearch);
  const entries: MenuEntry[] = [
    { heading: 'Status' },
    ...EXECUTION_STATUSES.map((value) => ({
      label: RUN_STATES[value].label,
      checked: status === value,
      onSelect: () => void setSearch({ status: status === value ? null : value, page: null }),
    })),
    'separator',
    { heading: 'Started by' },
    ...EXECUTION_TRIGGERS.map((value) => ({
      label: STARTED_BY[value],
      checked: trigger_type === value,
      onSelect: () => void setSearch({ trigger_type: trigger_type === value ? null : value, page: null }),
    })),
  ];
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Menu align="start" entries={entries} trigger={<Button icon={<ListFilter />}>Filter</Button>} />
      {status && (
        <Chip active onRemove={() => void setSearch({ status: null, page: null })} removeLabel="Remove filter status">
          {RUN_STATES[status].label}
        </Chip>
      )}
      {trigger_type && (
        <Chip active onRemove={() => void setSearch({ trigger_type: null, page: null })} removeLabel="Remove filter started by">
          {STARTED_BY[trigger_type]}
        </Chip>
      )}
    </div>
  );
}
