'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { BellOff, BellPlus, Check, Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Badge, Status } from '#components/ui/badge.tsx';
import { IconButton } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { FOLLOWABLE } from '#server/domain/notifications/kinds.shared.ts';
import { KIND_LABELS, type NotificationRow, RESOURCE_NOUNS } from './labels.ts';

const STATES = { info: 'pending', warning: 'warning', critical: 'failing' } as const;

type ItemProps = {
  newest: NotificationRow;
  earlier: readonly NotificationRow[];
  onRead: (ids: string[]) => void;
  onFollow: (() => void) | undefined;
};

/** One notification, or several about one thing with the newest in front. */
export function InboxItem({ newest, earlier, onRead, onFollow }: ItemProps) {
  const [open, setOpen] = useState(false);
  const unread = [newest, ...earlier].filter(({ read_at }) => read_at === null).map(({ id }) => id);
  return (
    <li className={cn('border-line border-b px-3 py-2.5 last:border-b-0', unread.length > 0 && 'bg-accent-soft')}>
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <One row={newest} onOpen={() => (unread.length > 0 && onRead(unread.slice(0, 100)), onFollow?.())} />
          {earlier.length > 0 && (
            <button
              type="button"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
              className="mt-1 min-h-6 rounded-sm text-ink-2 text-xs underline decoration-line-strong underline-offset-2 hover:text-ink"
            >
              {open ? 'Hide' : 'Show'} {counted(earlier.length, 'earlier one')}
            </button>
          )}
        </div>
        <ItemMenu row={newest} unread={unread} onRead={onRead} />
      </div>
      {open && (
        <ul className="mt-2 flex flex-col gap-2 border-line-strong border-l pl-3">
          {earlier.map((row) => (
            <li key={row.id}>
              <One row={row} onOpen={() => onFollow?.()} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function One({ row, onOpen }: { row: NotificationRow; onOpen: () => void }) {
  const { slug } = useScope();
  return (
    <>
      <p className={cn('[overflow-wrap:anywhere]', row.read_at === null && 'font-medium')}>
        {row.link ? (
          <Link href={`/${slug}${row.link}`} className={textLink} onClick={onOpen}>
            {row.title}
          </Link>
        ) : (
          row.title
        )}
        {row.read_at === null && <span className="sr-only"> (unread)</span>}
      </p>
      <p className="text-ink-2 [overflow-wrap:anywhere]">{row.body}</p>
      <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-ink-2 text-xs">
        <Status state={STATES[row.severity]}>{KIND_LABELS[row.kind].label}</Status>
        {row.space === 'test' && <Badge tone="test">Test</Badge>}
        <Time value={row.created_at} />
      </p>
    </>
  );
}

function ItemMenu({ row, unread, onRead }: { row: NotificationRow; unread: string[]; onRead: (ids: string[]) => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const follow = useMutation(
    trpc.notifications.follow.mutationOptions({
      onSuccess: (saved, { mode }) => {
        cache.setQueryData(trpc.notifications.preferences.queryKey({}), saved);
        notifyDone(mode === 'mute' ? 'Muted. You hear of it no more, unless it concerns security.' : 'You follow it now');
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  const resource = FOLLOWABLE.find((type) => type === row.resource_type);
  const noun = RESOURCE_NOUNS[row.resource_type ?? ''];
  const choose = (mode: 'follow' | 'mute') => {
    if (resource && row.resource_id) follow.mutate({ resource_type: resource, resource_id: row.resource_id, mode });
  };
  return (
    <Menu
      align="end"
      trigger={<IconButton size="sm" label={`Actions for ${row.title}`} icon={<Ellipsis />} />}
      entries={[
        {
          label: 'Mark as read',
          icon: <Check />,
          disabledReason: unread.length === 0 ? 'It is read' : undefined,
          onSelect: () => onRead(unread.slice(0, 100)),
        },
        ...(resource && noun
          ? [
              { label: `Follow this ${noun}`, icon: <BellPlus />, onSelect: () => choose('follow') },
              { label: `Mute this ${noun}`, icon: <BellOff />, onSelect: () => choose('mute') },
            ]
          : []),
      ]}
    />
  );
}
