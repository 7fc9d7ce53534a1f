'use client';

import { Bookmark } from 'lucide-react';
import { useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import type { ColumnChoice } from '#components/ui/columns.tsx';
import { Menu, type MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { useViews, type View } from './use-views.ts';

const ManageViews = lazyOverlay(() => import('./manage-views.tsx').then((module) => module.ManageViews), whenOpen);
const SaveView = lazyOverlay(() => import('./save-view.tsx').then((module) => module.SaveView), whenOpen);

type Props = {
  /** The name under which the page keeps views. */
  page: string;
  /** Which columns are left out belongs to a view, too. */
  columns?: ColumnChoice;
};

/** Saved views, for the end of a list's filter line. */
export function ViewsMenu({ page, columns }: Props) {
  const state = useViews(page, columns);
  const { views, current, plain, now, show } = state;
  const [asking, setAsking] = useState<'save' | 'manage'>();
  const [renaming, setRenaming] = useState<View>();
  const entry = (view: View): MenuEntry => ({
    label: view.name,
    detail: [view.shared && !view.mine ? `Shared by ${view.owner}` : '', view.is_default ? 'Default' : ''].filter(Boolean).join(', '),
    checked: current?.id === view.id,
    onSelect: () => show(view),
  });
  const group = (heading: string, list: View[]): MenuEntry[] => (list.length > 0 ? [{ heading }, ...list.map(entry), 'separator'] : []);
  return (
    <>
      <Menu
        trigger={
          <Button icon={<Bookmark />}>
            <span className="max-w-36 truncate">{current?.name ?? 'Views'}</span>
          </Button>
        }
        className="min-w-56"
        entries={[
          { label: 'All', detail: 'No filters, all columns', checked: plain, onSelect: () => show({ query: '', columns: [] }) },
          'separator',
          ...group(
            'Mine',
            views.filter((view) => !view.shared),
          ),
          ...group(
            'Shared',
            views.filter((view) => view.shared),
          ),
          {
            label: 'Save view…',
            disabledReason: current ? 'This view is already saved' : plain ? 'Filter, sort or hide a column first' : undefined,
            onSelect: () => setAsking('save'),
          },
          {
            label: 'Manage views…',
            disabledReason: state.failed ? 'Views could not be loaded' : views.length === 0 ? 'No saved views' : undefined,
            onSelect: () => setAsking('manage'),
          },
        ]}
      />
      <ManageViews
        page={page}
        state={state}
        open={asking === 'manage'}
        onClose={() => setAsking(undefined)}
        onRename={(view) => {
          setAsking(undefined);
          setRenaming(view);
        }}
      />
      <SaveView
        page={page}
        view={renaming}
        now={now}
        open={asking === 'save' || renaming !== undefined}
        onClose={() => {
          setAsking(undefined);
          setRenaming(undefined);
        }}
      />
    </>
  );
}
