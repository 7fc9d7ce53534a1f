'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Bell, CheckCheck } from 'lucide-react';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { NOTIFICATION_KINDS, type NotificationKind } from '#server/domain/notifications/kinds.shared.ts';
import { groupsOf } from './groups.ts';
import { InboxItem } from './inbox-item.tsx';
import { KIND_LABELS } from './labels.ts';

type InboxProps = { perPage: number /** A notification was opened. */; onFollow?: () => void };

/** What the person was told, newest first. What is about one thing stands together. */
export function Inbox({ perPage, onFollow }: InboxProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [unread, setUnread] = useState<'all' | 'unread'>('all');
  const [kind, setKind] = useState<NotificationKind | 'any'>('any');
  const [page, setPage] = useState(1);
  const list = useQuery(
    trpc.notifications.list.queryOptions(
      { page, per_page: perPage, ...(unread === 'unread' ? { unread: true } : {}), ...(kind === 'any' ? {} : { kind }) },
      { placeholderData: keepPreviousData, refetchInterval: 60_000 },
    ),
  );
  const read = useMutation(
    trpc.notifications.read.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSettled: () => cache.invalidateQueries(trpc.notifications.pathFilter()),
    }),
  );
  const rows = list.data?.data;
  const newest = rows?.[0];
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div className="flex flex-wrap items-center gap-2">
          <Segmented
            label="Show"
            size="sm"
            options={[
              { value: 'all', label: 'All' },
              { value: 'unread', label: 'Unread' },
            ]}
            value={unread}
            onValueChange={(next) => {
              setUnread(next);
              setPage(1);
            }}
          />
          <Select
            label="Kind"
            size="sm"
            options={[
              { value: 'any' as const, label: 'Any kind' },
              ...NOTIFICATION_KINDS.map((value) => ({ value, label: KIND_LABELS[value].label })),
            ]}
            value={kind}
            onValueChange={(next) => {
              setKind(next);
              setPage(1);
            }}
          />
        </div>
        <Button
          size="sm"
          icon={<CheckCheck />}
          loading={read.isPending}
          disabledReason={newest ? undefined : 'There is nothing to mark'}
          // What came in since the list was drawn stays unread.
          onClick={() => newest && read.mutate({ until: newest.created_at })}
        >
          Mark all as read
        </Button>
      </div>
      {list.isError && !list.data ? (
        <QueryError query={list} what="Your notifications" />
      ) : !rows ? (
        <Skeleton lines={6} label="Loading your notifications" />
      ) : rows.length === 0 ? (
        <EmptyState icon={<Bell />} title={unread === 'unread' || kind !== 'any' ? 'Nothing here' : 'No notifications yet'}>
          {unread === 'unread' || kind !== 'any'
            ? 'No notification fits what you chose.'
            : 'Alerts, expiring secrets, changes of your account and news of your team are listed here for 90 days.'}
        </EmptyState>
      ) : (
        <ul className="overflow-hidden rounded-lg border border-line-strong bg-surface">
          {groupsOf(rows).map((group) => (
            <InboxItem key={group.newest.id} {...group} onRead={(ids) => read.mutate({ ids })} onFollow={onFollow} />
          ))}
        </ul>
      )}
      <Pagination noun="notifications" meta={list.data?.meta} onPage={setPage} />
    </div>
  );
}
