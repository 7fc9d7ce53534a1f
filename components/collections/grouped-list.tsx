'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import { FolderInput, GripVertical } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { IconButton } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { useFocusAfter } from '#components/ui/focus-after.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { CollectionMark } from './collection-mark.tsx';
import { useMembersChanged } from './members.tsx';

export type Grouped = { id: string; name: string; collection_id: string | null; href: string; detail?: ReactNode };
type Kind = 'route' | 'secret' | 'client';
const NONE = { id: null, name: 'No collection', color: null, icon: null };

/** The rows of a list by their collection. One is moved by dragging it, or from its menu; the empty ones stand there to be dragged into. */
export function GroupedList({ type, rows }: { type: Kind; rows: readonly Grouped[] | undefined }) {
  const trpc = useTRPC();
  const readOnly = [useForbidden('collection:update'), useForbidden(`${type}:update`)].find(Boolean);
  const collections = useQuery(trpc.collections.list.queryOptions({ per_page: 100 }));
  const { box, focusAfter } = useFocusAfter();
  const [dragged, setDragged] = useState<Grouped>();
  const [over, setOver] = useState<string | null>();
  const move = useMove(type);
  if (collections.error && !collections.data) return <QueryError query={collections} what="Collections" />;
  if (!rows || !collections.data) return <Skeleton lines={8} label="Loading" />;
  const groups = [...collections.data.data, NONE];
  const into = (row: Grouped, group: { id: string | null; name: string }) => {
    if (row.collection_id === group.id) return;
    focusAfter(`[data-group="${group.id}"] [data-member="${row.id}"] button`);
    move(row, group);
  };
  const end = () => {
    setDragged(undefined);
    setOver(undefined);
  };
  return (
    <div ref={box} className="grid grid-cols-1 items-start gap-3 md:grid-cols-2 xl:grid-cols-3">
      {groups.map((group) => {
        const held = rows.filter((row) => row.collection_id === group.id);
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: dragging is the second way; the menu of each row is the first.
          <div
            key={group.id}
            data-group={group.id ?? 'null'}
            onDragOver={(event) => {
              if (!dragged) return;
              event.preventDefault();
              setOver(group.id);
            }}
            onDrop={(event) => {
              event.preventDefault();
              if (dragged) into(dragged, group);
              end();
            }}
          >
            <SectionCard
              flush
              className={cn(dragged && over === group.id && dragged.collection_id !== group.id && 'border-accent bg-accent-soft')}
              title={
                <span className="flex items-center gap-2">
                  {group.id && <CollectionMark color={group.color} icon={group.icon} />}
                  <span className="min-w-0 [overflow-wrap:anywhere]">{group.name}</span>
                  <span className="figures font-normal text-ink-3 text-xs">{held.length}</span>
                </span>
              }
            >
              {held.length === 0 ? (
                <p className="p-4 text-ink-3">None.</p>
              ) : (
                <ul className="divide-y divide-line">
                  {held.map((row) => (
                    <li
                      key={row.id}
                      data-member={row.id}
                      draggable={!readOnly}
                      onDragStart={(event) => {
                        event.dataTransfer.effectAllowed = 'move';
                        setDragged(row);
                      }}
                      onDragEnd={end}
                      className={cn('flex min-h-10 items-center gap-2 py-1 pr-2 pl-3', dragged?.id === row.id && 'opacity-50')}
                    >
                      {!readOnly && <GripVertical aria-hidden className="size-4 shrink-0 cursor-grab text-ink-3 pointer-coarse:hidden" />}
                      <span className="min-w-0 flex-1">
                        <Link href={row.href} draggable={false} className="block truncate rounded-xs font-medium hover:underline">
                          {row.name}
                        </Link>
                        {row.detail && <span className="block truncate text-ink-3 text-xs">{row.detail}</span>}
                      </span>
                      <Menu
                        trigger={<IconButton size="sm" label={`Move ${row.name}`} icon={<FolderInput />} disabledReason={readOnly} />}
                        entries={[
                          { heading: 'Move to' },
                          ...groups.map((one) => ({
                            label: one.name,
                            checked: one.id === row.collection_id,
                            onSelect: () => into(row, one),
                          })),
                        ]}
                      />
                    </li>
                  ))}
                </ul>
              )}
            </SectionCard>
          </div>
        );
      })}
    </div>
  );
}

/** Into a collection or out of every one; what happened is told, and a refusal too. */
function useMove(type: Kind): (row: Grouped, to: { id: string | null; name: string }) => void {
  const trpc = useTRPC();
  const onSuccess = useMembersChanged();
  const take = useMutation(trpc.collections.moveMembers.mutationOptions({ onSuccess }));
  const free = {
    route: useMutation(trpc.routes.update.mutationOptions({ onSuccess })),
    secret: useMutation(trpc.secrets.update.mutationOptions({ onSuccess })),
    client: useMutation(trpc.clients.update.mutationOptions({ onSuccess })),
  }[type];
  return ({ id, name }, to) => {
    const moved = to.id === null ? free.mutateAsync({ id, collection_id: null }) : take.mutateAsync({ id: to.id, type, ids: [id] });
    moved.then(
      () => notifyDone(to.id === null ? `Removed ${name} from its collection` : `Moved ${name} to “${to.name}”`),
      (error: unknown) => notifyRefused(error),
    );
  };
}
