'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { Button, IconButton } from '#components/ui/button.tsx';
import { Checkbox, RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { DIGESTS, type Digest, NOTIFICATION_KINDS } from '#server/domain/notifications/kinds.shared.ts';
import { DIGEST_LABELS, KIND_LABELS, RESOURCE_NOUNS } from './labels.ts';

/** How the person is told in this workspace. Everything applies at once. */
export function NotificationPreferencesView() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const preferences = useQuery(trpc.notifications.preferences.queryOptions({}));
  const saved = (next: NonNullable<typeof preferences.data>) => {
    cache.setQueryData(trpc.notifications.preferences.queryKey({}), next);
    notifyDone('Saved');
  };
  const update = useMutation(trpc.notifications.update.mutationOptions({ onSuccess: saved }));
  const follow = useMutation(trpc.notifications.follow.mutationOptions({ onSuccess: saved }));
  if (preferences.isError) return <QueryError query={preferences} what="Your preferences" />;
  if (!preferences.data) return <Skeleton lines={8} label="Loading your preferences" />;
  const { channels, locked, digest, quiet_hours, resources } = preferences.data;
  const change = (kind: (typeof NOTIFICATION_KINDS)[number], channel: 'in_app' | 'email', on: boolean) =>
    update.mutate({ channels: { [kind]: { ...channels[kind], [channel]: on } } });
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      <MutationError error={update.error ?? follow.error} />
      <SectionCard title="What you are told" description="For you alone, in this workspace.">
        <table className="w-full text-left">
          <caption className="sr-only">Kinds of notifications and where you are told of them</caption>
          <thead className="text-ink-2 text-xs">
            <tr>
              <th scope="col" className="pb-2 font-medium">
                Kind
              </th>
              <th scope="col" className="w-16 pb-2 text-center font-medium">
                In app
              </th>
              <th scope="col" className="w-16 pb-2 text-center font-medium">
                Email
              </th>
            </tr>
          </thead>
          <tbody>
            {NOTIFICATION_KINDS.map((kind) => {
              const { label, hint } = KIND_LABELS[kind];
              const fixed = locked.includes(kind);
              return (
                <tr key={kind} className="border-line border-t align-top">
                  <th scope="row" className="py-2 pr-3 font-normal">
                    <span className="block font-medium">{label}</span>
                    <span className="block text-ink-2 text-xs">
                      {hint}
                      {fixed && ' An Owner can’t turn this off.'}
                    </span>
                  </th>
                  {(['in_app', 'email'] as const).map((channel) => (
                    <td key={channel} className="py-2">
                      <Checkbox
                        hideLabel
                        className="justify-center"
                        label={`${label}, ${channel === 'email' ? 'email' : 'in app'}`}
                        checked={channels[kind][channel]}
                        disabled={fixed || update.isPending}
                        onCheckedChange={(on) => change(kind, channel, on)}
                      />
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </SectionCard>
      <SectionCard
        title="When emails are sent"
        description="Security emails, and those with details of their own such as an expiring secret, are sent at once."
      >
        <RadioCards
          label="When emails are sent"
          columns={3}
          options={DIGESTS.map((value) => ({ value, title: DIGEST_LABELS[value] }))}
          value={digest as Digest}
          onValueChange={(next) => update.mutate({ digest: next })}
        />
      </SectionCard>
      <QuietHours
        key={JSON.stringify(quiet_hours)}
        value={quiet_hours}
        busy={update.isPending}
        onSave={(next) => update.mutate({ quiet_hours: next })}
      />
      <SectionCard title="Followed and muted" description="Choose Follow or Mute in the menu of a notification.">
        {resources.length === 0 ? (
          <p className="text-ink-2">You follow and mute nothing.</p>
        ) : (
          <ul className="flex flex-col gap-1">
            {resources.map(({ resource_type, resource_id, mode }) => (
              <li key={`${resource_type} ${resource_id}`} className="flex items-center justify-between gap-2">
                <span className="min-w-0 [overflow-wrap:anywhere]">
                  {mode === 'mute' ? 'Muted' : 'Followed'}: {RESOURCE_NOUNS[resource_type]}{' '}
                  <span className="font-mono text-ink-2 text-xs">{resource_id}</span>
                </span>
                <IconButton
                  size="sm"
                  label={`Remove ${RESOURCE_NOUNS[resource_type] ?? resource_type} ${resource_id}`}
                  icon={<X />}
                  onClick={() => follow.mutate({ resource_type, resource_id, mode: 'default' })}
                />
              </li>
            ))}
          </ul>
        )}
      </SectionCard>
    </div>
  );
}

type Quiet = { from: string; until: string; timezone: string };

function QuietHours({ value, busy, onSave }: { value: Quiet | null; busy: boolean; onSave: (value: Quiet | null) => void }) {
  const [from, setFrom] = useState(value?.from ?? '22:00');
  const [until, setUntil] = useState(value?.until ?? '07:00');
  const timezone = value?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const same = from === until;
  return (
    <SectionCard
      title="Quiet hours"
      description="Emails of these hours wait until they end. Security emails don’t wait."
      footer={
        <>
          {value && (
            <Button loading={busy} onClick={() => onSave(null)}>
              Turn off
            </Button>
          )}
          <Button
            variant="primary"
            loading={busy}
            disabledReason={
              from === '' || until === '' ? 'Enter both times' : same ? 'They must end at another time than they begin' : undefined
            }
            onClick={() => onSave({ from, until, timezone })}
          >
            {value ? 'Save quiet hours' : 'Turn on quiet hours'}
          </Button>
        </>
      }
    >
      <div className="flex flex-wrap gap-4">
        <Field label="From">
          <Input type="time" value={from} onChange={(event) => setFrom(event.target.value)} />
        </Field>
        <Field label="Until" hint={`Time zone: ${timezone}`} error={same ? 'Must differ from the beginning.' : undefined}>
          <Input type="time" value={until} onChange={(event) => setUntil(event.target.value)} />
        </Field>
      </div>
    </SectionCard>
  );
}
