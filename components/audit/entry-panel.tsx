'use client';

import { useQuery } from '@tanstack/react-query';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { nounOf } from '#components/shell/resources.ts';
import { usePath, useScope, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { CopyButton } from '#components/ui/copy.tsx';
import { type Json, JsonView } from '#components/ui/json-view.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { RevealField } from '#components/ui/reveal-field.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { countryName } from '#server/domain/tenants/country.shared.ts';
import { Changes } from './changes.tsx';
import { changesIn, lineOf, pageOf } from './entry-text.ts';
import { Actor, Sentence } from './sentence.tsx';

/** One entry beside its list: the diff, everything the same request did, and the record as the API gives it. */
export function EntryPanel({ id, onClose }: { id: string | null; onClose: () => void }) {
  return (
    <Sheet
      open={id !== null}
      onOpenChange={(open) => !open && onClose()}
      modal={false}
      resizable
      title="Audit entry"
      actions={id && <CopyButton label="link to this entry" value={typeof window === 'undefined' ? '' : window.location.href} />}
    >
      {id && <EntryDetail id={id} />}
    </Sheet>
  );
}

/** Hidden by the role, or withheld from Owners and Admins too until they reveal them. */
function WithheldDetails({ id }: { id: string }) {
  const client = useTRPCClient();
  const forbidden = useRevealForbidden('audit_log:read_details');
  if (forbidden) return <Callout title="Details are hidden">Only Owners and Admins can see what changed.</Callout>;
  return (
    <section aria-label="Withheld details" className="flex flex-col gap-2">
      <p className="text-ink-2">This workspace withholds audit details. Revealing them is recorded with your name.</p>
      <RevealField
        label="details of this entry"
        reveal={async (reason) => {
          const { details, reveals_left } = await client.auditLogs.reveal.mutate({ id }, revealCall(reason));
          return { value: JSON.stringify(details, null, 2), left: reveals_left };
        }}
      />
    </section>
  );
}

function EntryDetail({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const { space } = useScope();
  const query = useQuery(trpc.auditLogs.get.queryOptions({ id }));
  if (query.isError) return <QueryError query={query} what="This entry" />;
  if (!query.data) return <Skeleton lines={8} label="Loading the entry" />;
  const { same_request, ...entry } = query.data;
  const changes = changesIn(entry);
  const page = entry.sandbox === (space === 'test') ? pageOf(entry) : undefined;
  return (
    <>
      <div className="flex flex-col gap-2">
        <p className="font-medium text-base">
          <Sentence entry={entry} />
        </p>
        <p className="flex flex-wrap items-center gap-2 text-ink-2">
          <Time value={entry.created_at} format="datetime" />
          {entry.store === 'critical' && <Badge tone="accent">Critical chain, no. {entry.sequence_number}</Badge>}
          {entry.sandbox ? <Badge tone="test">Test</Badge> : <Badge>Live</Badge>}
        </p>
      </div>
      {changes.length > 0 && <Changes changes={changes} />}
      {entry.details_redacted && <WithheldDetails id={id} />}
      <KeyValueList
        items={[
          {
            label: 'Actor',
            value: <Actor entry={entry} />,
            ...(entry.actor.id
              ? {
                  hint: (
                    <Link className={textLink} href={path(`/audit?actor=${entry.actor.id}`)}>
                      All activity by this actor
                    </Link>
                  ),
                }
              : {}),
          },
          {
            label: capitalize(nounOf(entry.resource_type)),
            value: page ? (
              <Link className={textLink} href={path(page)}>
                Open
              </Link>
            ) : entry.action === 'delete' ? (
              'Deleted'
            ) : (
              (entry.resource_id ?? null)
            ),
            ...(entry.resource_id
              ? {
                  hint: (
                    <Link className={textLink} href={path(`/audit?resource_type=${entry.resource_type}&resource_id=${entry.resource_id}`)}>
                      All activity on this resource
                    </Link>
                  ),
                }
              : {}),
          },
          {
            label: 'IP address',
            value: entry.ip_address,
            ...(entry.ip_address
              ? {
                  copy: entry.ip_address,
                  hint: (
                    <Link className={textLink} href={path(`/audit?ip=${encodeURIComponent(entry.ip_address)}`)}>
                      All activity from this IP address
                    </Link>
                  ),
                }
              : {}),
          },
          ...(entry.ip_country ? [{ label: 'Country', value: countryName(entry.ip_country) }] : []),
          ...(typeof entry.details.call_request_id === 'string' && entry.sandbox === (space === 'test')
            ? [
                {
                  label: 'Call',
                  value: (
                    <Link className={textLink} href={path(`/logs?peek=${entry.details.call_request_id}`)}>
                      View in logs
                    </Link>
                  ),
                },
              ]
            : []),
          { label: 'User agent', value: entry.user_agent },
          { label: 'Request ID', value: entry.request_id, ...(entry.request_id ? { copy: entry.request_id } : {}) },
        ]}
      />
      {same_request.length > 0 && (
        <section className="flex flex-col gap-2">
          <h3 className="font-semibold">Also in this request</h3>
          <ul className="flex flex-col gap-1">
            {same_request.map((other) => (
              <li key={other.id}>
                <Link className={textLink} href={path(`/audit?peek=${other.id}`)}>
                  {lineOf(other)}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className="flex flex-col gap-2">
        <h3 className="font-semibold">Raw entry</h3>
        <JsonView value={entry as unknown as Json} label="audit entry as JSON" depth={1} />
      </section>
      {page && (
        <div>
          <LinkButton size="sm" href={path(page)}>
            Open the {nounOf(entry.resource_type)}
          </LinkButton>
        </div>
      )}
    </>
  );
}
