'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Page, PageHeader, SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { ApprovalArguments } from './approval-arguments.tsx';
import type { Approval } from './server-labels.ts';

const VIEWS = ['pending', 'decided'] as const;
const OUTCOMES = {
  pending: { state: 'pending', label: 'Waiting' },
  approved: { state: 'ok', label: 'Approved' },
  denied: { state: 'blocked', label: 'Denied' },
  expired: { state: 'expired', label: 'Nobody decided' },
} as const;

/** Tool calls that wait for a person, and what was decided. */
export function ApprovalsView() {
  const trpc = useTRPC();
  const [view, setView] = useQueryState('view', parseAsStringLiteral(VIEWS).withDefault('pending'));
  // A call waits two minutes: whoever has this page open must see it at once.
  const list = useQuery(
    trpc.mcpServers.approvals.queryOptions({ status: view, per_page: 50 }, { refetchInterval: view === 'pending' ? 3_000 : false }),
  );
  const rows = list.data?.data;
  return (
    <Page>
      <PageHeader title="Approvals" description="Tool calls that wait for a person. Arguments are shown with personal data removed." />
      <Segmented
        label="Calls"
        value={view}
        onValueChange={(next) => void setView(next)}
        options={[
          { value: 'pending', label: 'Waiting' },
          { value: 'decided', label: 'Decided' },
        ]}
      />
      {list.isError ? (
        <QueryError query={list} what="Approvals" />
      ) : !rows ? (
        <Skeleton lines={4} label="Loading approvals" />
      ) : rows.length === 0 ? (
        <EmptyState icon={<ShieldCheck />} title={view === 'pending' ? 'No call is waiting' : 'Nothing was decided yet'}>
          Turn on “Ask a person before each call” for a tool of an MCP server, and its calls appear here.
        </EmptyState>
      ) : (
        <ul className="flex flex-col gap-3">
          {rows.map((approval) => (
            <li key={approval.id}>
              <Card approval={approval} />
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}

function Card({ approval }: { approval: Approval }) {
  const trpc = useTRPC();
  const path = usePath();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('ai_gateway:update');
  const done = (text: string) => () => {
    notifyDone(text);
    return queryClient.invalidateQueries(trpc.mcpServers.pathFilter());
  };
  const options = { onError: (error: unknown) => notifyRefused(error) };
  const approve = useMutation(trpc.mcpServers.approve.mutationOptions({ ...options, onSuccess: done('Call approved') }));
  const deny = useMutation(trpc.mcpServers.deny.mutationOptions({ ...options, onSuccess: done('Call denied') }));
  const { state, label } = OUTCOMES[approval.status];
  const pending = approval.status === 'pending';
  // Nobody approves what they haven't seen: long arguments are fetched first, and what can't be read can only be denied.
  const [whole, setWhole] = useState(approval.arguments_state === 'whole');
  const unseen =
    approval.arguments_state === 'unreadable'
      ? 'The arguments can’t be read, so the call can only be denied.'
      : whole
        ? undefined
        : 'Show or download the whole arguments first.';
  return (
    <SectionCard
      title={
        <span className="inline-flex flex-wrap items-center gap-2">
          <span className="font-mono text-sm">{approval.tool_name}</span>
          <Link href={path(`/ai/mcp/${approval.mcp_server_id}`)} className={`${textLink} font-normal text-xs`}>
            {approval.server_name}
          </Link>
        </span>
      }
      actions={
        pending ? (
          <>
            <Button loading={deny.isPending} disabledReason={forbidden} onClick={() => deny.mutate({ id: approval.id })}>
              Deny
            </Button>
            <Button
              variant="primary"
              loading={approve.isPending}
              disabledReason={forbidden ?? unseen}
              onClick={() => approve.mutate({ id: approval.id })}
            >
              Approve call
            </Button>
          </>
        ) : (
          <Status state={state}>{label}</Status>
        )
      }
    >
      <div className="flex flex-col gap-2">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-ink-2 text-xs">
          <Badge mono>{approval.token_label}</Badge>
          {approval.user_id && <span>for {approval.user_id}</span>}
          <span>
            asked <Time value={approval.created_at} />
          </span>
          {approval.decided_by_name && <span>decided by {approval.decided_by_name}</span>}
          {approval.used_at && <span>passed</span>}
        </p>
        <ApprovalArguments approval={approval} onWhole={() => setWhole(true)} />
      </div>
    </SectionCard>
  );
}
