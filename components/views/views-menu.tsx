'use client';

import { Bookmark } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { type ColumnChoice, ColumnsMenu } from '#components/ui/columns.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Menu, type MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { lazily, whenOpen } from '#components/ui/lazily.tsx';
import { useViews, type View, type ViewPage } from './use-views.ts';

const SaveView = lazily(() => import('./save-view.tsx').then((module) => module.SaveView), whenOpen);

type Props = { page: ViewPage; columns?: ColumnChoice };

/** Saved views and the choice of columns, for the end of a list's filter line. */
export function ViewsMenu({ page, columns }: Props) {
  const state = useViews(page, columns);
  const { views, current, plain, now, show, shareReason } = state;
  const [asking, setAsking] = useState<'save' | 'manage'>();
  const [renaming, setRenaming] = useState<View>();
  const entry = (view: View): MenuEntry => ({
    label: view.name,
    detail: [view.shared && !view.mine ? `shared by ${view.owner}` : '', view.is_default ? 'opens first' : ''].filter(Boolean).join(', '),
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
          { label: 'Everything', detail: 'No filter, every column', checked: plain, onSelect: () => show({ query: '', columns: [] }) },
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
            label: 'Keep this view…',
            disabledReason: current ? 'It is kept already' : plain ? 'Filter, sort or leave out a column first' : undefined,
            onSelect: () => setAsking('save'),
          },
          {
            label: 'Manage views…',
            disabledReason: state.failed ? 'The views could not be loaded' : views.length === 0 ? 'No view is kept yet' : undefined,
            onSelect: () => setAsking('manage'),
          },
        ]}
      />
      {columns && <ColumnsMenu choice={columns} />}
      <Manage
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
        shareReason={shareReason}
        open={asking === 'save' || renaming !== undefined}
        onClose={() => {
          setAsking(undefined);
          setRenaming(undefined);
        }}
      />
    </>
  );
}

type ManageProps = { state: ReturnType<typeof useViews>; open: boolean; onClose: () => void; onRename: (view: View) => void };

function Manage({ state, open, onClose, onRename }: ManageProps) {
  const { views, update, remove, now, mayEdit, shareReason } = state;
  const busy = update.isPending || remove.isPending;
  return (
    <Dialog open={open} onOpenChange={(next) => !next && onClose()} title="Views of this page" size="md">
      <ul className="flex flex-col divide-y divide-line">
        {views.map((view) => {
          const reason = mayEdit(view) ? undefined : `${view.owner}, an Owner or an Admin may change it`;
          return (
            <li key={view.id} className="flex flex-wrap items-center gap-2 py-2">
              <span className="mr-auto flex min-w-0 flex-wrap items-center gap-1.5">
                <span className="font-medium [overflow-wrap:anywhere]">{view.name}</span>
                {view.shared && <Badge>shared{view.mine ? '' : ` by ${view.owner}`}</Badge>}
                {view.is_default && <Badge tone="accent">opens first</Badge>}
              </span>
              <Button size="sm" disabled={busy} onClick={() => update.mutate({ id: view.id, is_default: !view.is_default })}>
                {view.is_default ? 'Do not open first' : 'Open first'}
              </Button>
              <Menu
                trigger={
                  <Button size="sm" aria-label={`Change view ${view.name}`}>
                    Change
                  </Button>
                }
                entries={[
                  { label: 'Rename…', disabledReason: reason, onSelect: () => onRename(view) },
                  {
                    label: 'Replace by what is shown now',
                    disabledReason: reason,
                    onSelect: () => update.mutate({ id: view.id, ...now }),
                  },
                  view.shared
                    ? { label: 'Stop sharing', disabledReason: reason, onSelect: () => update.mutate({ id: view.id, shared: false }) }
                    : { label: 'Share', disabledReason: shareReason, onSelect: () => update.mutate({ id: view.id, shared: true }) },
                  'separator',
                  { label: 'Remove', danger: true, disabledReason: reason, onSelect: () => remove.mutate({ id: view.id }) },
                ]}
              />
            </li>
          );
        })}
        {views.length === 0 && <li className="py-2 text-ink-2">No view is kept any more.</li>}
      </ul>
    </Dialog>
  );
}
