'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import { useState } from 'react';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { Page, PageHeader, SectionCard, Split, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type IncidentDetail, lasted, SEVERITY_LABELS, SEVERITY_TONES, TYPE_LABELS, valueText } from './labels.ts';

/** One incident: what was measured, what happened since, and what was changed just before. */
export function IncidentView({ id }: { id: string }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const forbidden = useForbidden('alert:update');
  const query = useQuery(trpc.alerts.incident.queryOptions({ id }, { refetchInterval: 10_000 }));
  const acknowledge = useMutation(
    trpc.alerts.acknowledge.mutationOptions({
      onSuccess: () => {
        notifyDone('Acknowledged. No reminders are sent for this incident.');
        return cache.invalidateQueries(trpc.alerts.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  const back = { href: path('/alerts/incidents'), label: 'Incidents' };
  const incident = query.data;
  if (!incident)
    return (
      <Page>
        <PageHeader title="Incident" back={back} />
        {query.isError ? <QueryError query={query} what="Incident" /> : <Skeleton lines={6} label="Loading incident" />}
      </Page>
    );
  const open = incident.state === 'open';
  return (
    <Page>
      <Crumbs crumbs={[{ label: incident.alert_name }]} />
      <PageHeader
        back={back}
        title={incident.alert_name}
        description={incident.subject ? `${incident.subject}: ${incident.condition}` : incident.condition}
        badges={
          <>
            <Status state={open ? 'failing' : 'ok'}>{open ? 'Open' : 'Resolved'}</Status>
            <Badge tone={SEVERITY_TONES[incident.severity]}>{SEVERITY_LABELS[incident.severity]}</Badge>
          </>
        }
        actions={
          <>
            <LinkButton href={path(`/alerts?open=${incident.alert_id}`)}>View alert</LinkButton>
            {open && (
              <Button
                variant="primary"
                icon={<Check />}
                loading={acknowledge.isPending}
                disabledReason={
                  forbidden ?? (incident.acknowledged_at ? `${incident.acknowledged_by ?? 'Somebody'} has acknowledged it` : undefined)
                }
                onClick={() => acknowledge.mutate({ id })}
              >
                Acknowledge
              </Button>
            )}
          </>
        }
      />
      <Split
        side={
          <>
            <SectionCard title="Facts">
              <KeyValueList
                items={[
                  { label: 'Kind', value: TYPE_LABELS[incident.type] },
                  { label: 'Started', value: <Time value={incident.started_at} format="datetime" /> },
                  { label: 'Resolved', value: <Time value={incident.resolved_at} format="datetime" empty="Not yet" /> },
                  { label: 'Lasted', value: lasted(incident.started_at, incident.resolved_at, Date.now()) },
                  { label: 'Peak', value: valueText(incident.peak, incident.unit) },
                  { label: 'Threshold', value: valueText(incident.threshold, incident.unit) },
                  { label: 'Messages', value: incident.messages },
                  { label: 'Acknowledged', value: incident.acknowledged_by ?? 'By nobody' },
                ]}
              />
            </SectionCard>
            <Samples incident={incident} />
          </>
        }
      >
        <Timeline incident={incident} />
        <Changes incident={incident} />
      </Split>
    </Page>
  );
}

function Samples({ incident: { sample_request_ids: ids, route_id, started_at, resolved_at } }: { incident: IncidentDetail }) {
  const path = usePath();
  const around = new URLSearchParams({
    from: new Date(new Date(started_at).getTime() - 600_000).toISOString(),
    to: resolved_at ?? new Date(new Date(started_at).getTime() + 3_600_000).toISOString(),
    ...(route_id ? { route_id } : {}),
  });
  return (
    <SectionCard
      title="Sample requests"
      actions={
        <LinkButton size="sm" href={path(`/logs?${around.toString()}`)}>
          View logs
        </LinkButton>
      }
    >
      {ids.length === 0 ? (
        <p className="text-ink-2">No single request stands for this incident.</p>
      ) : (
        <ul className="flex flex-col gap-1">
          {ids.map((id) => (
            <li key={id}>
              <Link href={path(`/logs?peek=${id}`)} className={`${textLink} font-mono text-xs [overflow-wrap:anywhere]`}>
                {id}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </SectionCard>
  );
}

const ENTRIES = { opened: 'Opened', message: 'Message', acknowledged: 'Acknowledged', note: 'Note', resolved: 'Resolved' } as const;
const MESSAGES = { opened: 'Told that it opened', reminder: 'Reminded', resolved: 'Told that it resolved' } as const;
const DELIVERED = {
  pending: ['pending', 'on its way'],
  in_flight: ['pending', 'on its way'],
  succeeded: ['ok', 'delivered'],
  exhausted: ['failing', 'failed'],
  dropped: ['off', 'dropped'],
} as const;

function Timeline({ incident }: { incident: IncidentDetail }) {
  return (
    <SectionCard title="Timeline">
      <ol className="flex flex-col gap-3">
        {incident.timeline.map((entry) => (
          <li key={entry.id} className="border-line-strong border-l-2 pl-3">
            <p className="flex flex-wrap items-baseline gap-x-2">
              <b className="font-medium">{entry.message ? MESSAGES[entry.message] : ENTRIES[entry.kind]}</b>
              {entry.actor && <span className="text-ink-2">by {entry.actor}</span>}
              <Time value={entry.at} className="text-ink-2 text-xs" />
            </p>
            {entry.text && <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{entry.text}</p>}
            {entry.deliveries.length > 0 && (
              <ul className="mt-1 flex flex-col gap-0.5 text-xs">
                {entry.deliveries.map((one) => {
                  const [state, word] = DELIVERED[one.state];
                  return (
                    <li key={one.channel_id}>
                      <Status state={state} className="whitespace-normal">
                        {one.channel ?? 'A deleted channel'}: {word}
                        {one.last_error && one.state !== 'succeeded' ? ` (${one.last_error})` : ''}
                      </Status>
                    </li>
                  );
                })}
              </ul>
            )}
          </li>
        ))}
      </ol>
      <NoteForm id={incident.id} />
    </SectionCard>
  );
}

function NoteForm({ id }: { id: string }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const forbidden = useForbidden('alert:update');
  const [text, setText] = useState('');
  const note = useMutation(
    trpc.alerts.note.mutationOptions({
      onSuccess: () => {
        setText('');
        return cache.invalidateQueries(trpc.alerts.incident.queryFilter({ id }));
      },
    }),
  );
  return (
    <form
      className="mt-4 flex flex-col items-start gap-2 border-line border-t pt-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '' && !forbidden) note.mutate({ id, text: text.trim() });
      }}
    >
      <Field label="Note" hint="Everyone who sees this incident can read it." className="w-full">
        <Textarea rows={2} maxLength={2_000} value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
      <MutationError error={note.error} />
      <Button
        type="submit"
        size="sm"
        loading={note.isPending}
        disabledReason={forbidden ?? (text.trim() === '' ? 'Write something first' : undefined)}
      >
        Add note
      </Button>
    </form>
  );
}

function Changes({ incident: { changes } }: { incident: IncidentDetail }) {
  const path = usePath();
  return (
    <SectionCard title="Changed just before" description="Entries of the audit log in the half hour before it opened.">
      {changes.length === 0 ? (
        <p className="text-ink-2">Nothing was changed.</p>
      ) : (
        <ul className="flex flex-col gap-1.5">
          {changes.map((one) => (
            <li key={one.id} className="flex flex-wrap gap-x-2">
              <Link
                href={path(`/audit?resource_type=${one.resource_type}${one.resource_id ? `&resource_id=${one.resource_id}` : ''}`)}
                className={textLink}
              >
                {one.resource_type}.{one.action}
              </Link>
              <span className="min-w-0 [overflow-wrap:anywhere]">{one.name}</span>
              <span className="text-ink-2">
                {one.actor ? `by ${one.actor}, ` : ''}
                <Time value={one.at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </SectionCard>
  );
}
