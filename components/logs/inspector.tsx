'use client';

import { useQuery } from '@tanstack/react-query';
import { verbOf } from '#components/audit/entry-text.ts';
import { nounOf } from '#components/shell/resources.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge, HttpStatus, Method } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CopyButton, CopyText } from '#components/ui/copy.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { PhaseBar } from '#components/ui/phase-bar.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { countryName } from '#server/domain/tenants/country.shared.ts';
import { isTestCall, refusedByUs } from './call-kind.ts';
import { matchedHow, summaryOf, wordsOfWarning } from './call-summary.ts';
import { bytes } from './compare.ts';
import { HeaderNames } from './header-names.tsx';
import { InspectorActions, type Marks, momentHref } from './inspector-actions.tsx';
import { Payload } from './payload.tsx';
import { Proof } from './proof.tsx';
import { fixHref, refusalAdvice } from './refusals.ts';
import { blockOf, type Detail, phasesOf, traceOf } from './trace.ts';

/** One call beside its list. The address names it, so the panel can be shared. */
export function InspectorSheet({ requestId, onClose, marks }: { requestId: string | null; onClose: () => void; marks?: Marks }) {
  const path = usePath();
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.requestLogs.inspect.queryOptions(
      { request_id: requestId ?? '' },
      { enabled: requestId !== null, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  const place = data ? momentHref(data.log) : `/logs?peek=${requestId ?? ''}`;
  const link = requestId && typeof window !== 'undefined' ? `${window.location.origin}${path(place)}` : '';
  return (
    <Sheet
      open={requestId !== null}
      onOpenChange={(open) => !open && onClose()}
      modal={false}
      resizable
      size="md"
      title="Call"
      actions={requestId && <CopyButton label="link to this call" value={link} />}
    >
      {requestId && <Inspector requestId={requestId} marks={marks} />}
    </Sheet>
  );
}

/** Everything that is known of one call, from the sentence down to the proof. What is in its payload stays behind the gate. */
export function Inspector({ requestId, marks }: { requestId: string; marks?: Marks | undefined }) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.requestLogs.inspect.queryOptions({ request_id: requestId }), staleTime: Number.POSITIVE_INFINITY });
  if (query.isError) return <QueryError query={query} what="This call" />;
  if (!query.data) return <Skeleton lines={10} label="Loading call" />;
  return <Inspected detail={query.data} marks={marks} />;
}

function Inspected({ detail, marks }: { detail: Detail; marks: Marks | undefined }) {
  const environmentName = useEnvironmentLabel();
  const { log, route, client, api_key, oauth_client, person, related } = detail;
  const path = usePath();
  const { slug } = useScope();
  const told = refusalAdvice(log.error);
  const trace = traceOf(log.trace);
  const href = told?.fix && fixHref(told.fix, log.route_id, path, slug);
  return (
    <>
      <section className="flex flex-col gap-2">
        <p className="flex flex-wrap items-center gap-2">
          <HttpStatus status={log.status_code} />
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <Method method={log.method ?? '—'} className="mr-2 min-w-0" />
            <span className="font-mono text-xs">{log.path ?? '/'}</span>
          </span>
          {isTestCall(log) && <Badge tone="accent">Test tab</Badge>}
        </p>
        {isTestCall(log) && <p className="text-ink-3 text-xs">Sent from the route’s Test tab. Not counted in metrics.</p>}
        {told ? (
          <Callout
            tone={refusedByUs(log) ? 'warn' : 'bad'}
            title={summaryOf(log)}
            actions={
              href && (
                <LinkButton size="sm" href={href}>
                  {told.fix?.label}
                </LinkButton>
              )
            }
          >
            {told.next}
          </Callout>
        ) : (
          <p className="font-medium">{summaryOf(log)}</p>
        )}
        {log.warnings.map((warning) => (
          <Callout key={warning} tone="warn" title={wordsOfWarning(warning)} />
        ))}
        <InspectorActions detail={detail} marks={marks} />
      </section>
      <section className="flex flex-col gap-2">
        <h3 className="font-semibold">Timing</h3>
        <PhaseBar {...phasesOf(log, trace)} />
      </section>
      <section className="flex flex-col gap-1">
        <h3 className="font-semibold">Caller</h3>
        <KeyValueList
          items={[
            {
              label: 'Client',
              value: client ? (
                <Link className={textLink} href={path(`/clients/${client.id}`)}>
                  {client.name}
                </Link>
              ) : (
                (log.client_name ?? null)
              ),
              hint: log.matched_client_id ? `Identified ${matchedHow(log.identification_method) ?? ''}` : 'No matching client',
            },
            {
              label: 'Credential',
              value: api_key ? (
                <Link className={textLink} href={path(`/api-keys?peek=${api_key.id}`)}>
                  {api_key.name}
                </Link>
              ) : log.api_key_id ? (
                'Deleted key'
              ) : null,
              ...(api_key && !api_key.active ? { hint: 'Revoked or expired since' } : {}),
            },
            ...(log.oauth_client_id
              ? [
                  {
                    label: 'Application',
                    value: oauth_client ? (
                      <Link className={textLink} href={path(`/oauth-clients/${oauth_client.id}`)}>
                        {oauth_client.name}
                      </Link>
                    ) : (
                      log.oauth_client_id
                    ),
                    hint: `Called with an access token${person ? ` for ${person}` : ''}`,
                  },
                ]
              : []),
            { label: 'IP address', value: log.src_ip ?? null, ...(log.src_ip ? { copy: log.src_ip } : {}) },
            ...(log.source_ip_country
              ? [{ label: 'Country', value: countryName(log.source_ip_country) + (log.source_ip_city ? `, ${log.source_ip_city}` : '') }]
              : []),
            { label: 'User agent', value: log.user_agent ?? null },
            { label: 'Signature', value: log.signature_valid === null ? 'Not required' : log.signature_valid ? 'Valid' : 'Invalid' },
          ]}
        />
      </section>
      <section className="flex flex-col gap-1">
        <h3 className="font-semibold">Destination</h3>
        <KeyValueList
          items={[
            {
              label: 'Route',
              value: route ? (
                <Link className={textLink} href={path(`/routes/${route.id}`)}>
                  {route.name}
                </Link>
              ) : (
                (log.route_name ?? null)
              ),
            },
            { label: 'Environment', value: log.environment && environmentName(log.environment) },
            { label: 'Upstream', value: log.upstream_host },
            {
              label: 'Secrets used',
              value:
                log.secrets_used.length > 0 ? (
                  <span className="flex flex-wrap gap-1">
                    {log.secrets_used.map((name) => (
                      <Badge key={name} mono>
                        {name}
                      </Badge>
                    ))}
                  </span>
                ) : (
                  'none'
                ),
            },
            { label: 'Size', value: `${sizeOf(log.request_bytes)} in, ${sizeOf(log.response_bytes)} out` },
          ]}
        />
      </section>
      <HeaderNames request={trace.request_headers} response={trace.response_headers} injected={log.injected} />
      <section className="flex flex-col gap-1">
        <h3 className="font-semibold">Gateway response headers</h3>
        <p className="text-ink-3 text-xs">Headers the gateway added to the response.</p>
        <KeyValueList
          items={blockOf(log, trace).map(([label, value]) => ({
            label: <span className="font-mono text-xs">{label}</span>,
            value: <span className="font-mono text-xs">{value}</span>,
          }))}
        />
      </section>
      <Payload detail={detail} />
      <Proof requestId={log.request_id} />
      {related.length > 0 && (
        <section className="flex flex-col gap-2">
          <h3 className="font-semibold">Recent route changes</h3>
          <ul className="flex flex-col gap-1">
            {related.map((entry) => (
              <li key={entry.id} className="flex flex-wrap gap-x-2">
                <Link className={textLink} href={path(`/audit?peek=${entry.id}`)}>
                  {entry.actor_label ?? 'Someone'} {verbOf(entry.action)} {nounOf(entry.resource_type)}
                </Link>
                <Time value={entry.created_at} className="text-ink-3" />
              </li>
            ))}
          </ul>
        </section>
      )}
      <p className="flex flex-wrap items-center gap-x-3 text-ink-3 text-xs">
        <Time value={log.ts} format="datetime" />
        <CopyText value={log.request_id} label="request ID" />
      </p>
    </>
  );
}

const sizeOf = (count: number | null) => (count === null ? '—' : bytes(count));
