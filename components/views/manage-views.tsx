'use client';

import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { useShareReason, useViewChanges } from './use-view-changes.ts';
import type { useViews, View } from './use-views.ts';

type ManageViewsProps = {
  page: string;
  state: ReturnType<typeof useViews>;
  open: boolean;
  onClose: () => void;
  onRename: (view: View) => void;
};

/** The views of a page: which opens first, their names, who sees them, and their end. */
export function ManageViews({ page, state, open, onClose, onRename }: ManageViewsProps) {
  const { views, now } = state;
  const { update, remove, mayEdit } = useViewChanges();
  const shareReason = useShareReason(page);
  const busy = update.isPending || remove.isPending;
  return (
    <Dialog open={open} onOpenChange={(next) => !next && onClose()} title="Saved views" size="md">
      <ul className="flex flex-col divide-y divide-line">
        {views.map((view) => {
          const reason = mayEdit(view) ? undefined : `Only ${view.owner}, an Owner or an Admin can change this view`;
          return (
            <li key={view.id} className="flex flex-wrap items-center gap-2 py-2">
              <span className="mr-auto flex min-w-0 flex-wrap items-center gap-1.5">
                <span className="font-medium [overflow-wrap:anywhere]">{view.name}</span>
                {view.shared && <Badge>Shared{view.mine ? '' : ` by ${view.owner}`}</Badge>}
                {view.is_default && <Badge tone="accent">Default</Badge>}
              </span>
              <Button size="sm" disabled={busy} onClick={() => update.mutate({ id: view.id, is_default: !view.is_default })}>
                {view.is_default ? 'Unset default' : 'Set as default'}
              </Button>
              <Menu
                trigger={
                  <Button size="sm" aria-label={`Edit view ${view.name}`}>
                    Edit
                  </Button>
                }
                entries={[
                  { label: 'Rename…', disabledReason: reason, onSelect: () => onRename(view) },
                  {
                    label: 'Update to current filters',
                    disabledReason: reason,
                    onSelect: () => update.mutate({ id: view.id, ...now }),
                  },
                  view.shared
                    ? { label: 'Stop sharing', disabledReason: reason, onSelect: () => update.mutate({ id: view.id, shared: false }) }
                    : { label: 'Share', disabledReason: shareReason, onSelect: () => update.mutate({ id: view.id, shared: true }) },
                  'separator',
                  { label: 'Delete', danger: true, disabledReason: reason, onSelect: () => remove.mutate({ id: view.id }) },
                ]}
              />
            </li>
          );
        })}
        {views.length === 0 && <li className="py-2 text-ink-2">No saved views.</li>}
      </ul>
    </Dialog>
  );
}
