'use client';

import { KeyRound } from 'lucide-react';
import { fixHref, refusalAdvice } from '#components/logs/refusals.ts';
import { phasesOf, traceOf } from '#components/logs/trace.ts';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { Badge, HttpStatus } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { type Json, JsonView } from '#components/ui/json-view.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { PhaseBar } from '#components/ui/phase-bar.tsx';
import { Scroll } from '#components/ui/scroll.tsx';
import { parseExact } from '#server/kernel/lossless-json.ts';
import type { Report } from './use-test-request.ts';

export type TestReportProps = { report: Report; routeId: string; routeEnabled: boolean; environment: string };

/** What a trial led to: the sentence, the time, what left, what came back. Secrets are shown by their names only. */
export function TestReport({ report, routeId, routeEnabled, environment }: TestReportProps) {
  const path = usePath();
  const { request, response, timings } = report;
  const trace = traceOf({ phases_ms: report.phases_ms, limits: report.limits });
  const log = {
    latency_ms: timings.total_ms,
    upstream_ms: timings.upstream_ms,
    origin: report.refusal ? ('service' as const) : ('upstream' as const),
    error: report.refusal?.code ?? null,
  };
  return (
    <section aria-label="Test result" aria-live="polite" className="flex flex-col gap-4">
      <Outcome report={report} routeId={routeId} routeEnabled={routeEnabled} environment={environment} />
      <Admission report={report} routeId={routeId} environment={environment} />
      <SectionCard
        title="Timing"
        actions={
          !report.dry_run && (
            <Link className={textLink} href={path(`/logs?peek=${report.request_id}`)}>
              View in Logs
            </Link>
          )
        }
      >
        <PhaseBar {...phasesOf(log, trace)} />
      </SectionCard>
      {request && (
        <SectionCard
          title={report.dry_run ? 'Request (not sent)' : 'Request sent'}
          description="Secret values are replaced with their names."
        >
          <p className="mb-3 font-mono text-xs [overflow-wrap:anywhere]">
            {request.method} <Masked text={request.url} />
          </p>
          <HeaderTable caption="Request headers" headers={request.headers} injected={report.injected} />
          <Body {...request} label="Request body" />
        </SectionCard>
      )}
      {response && (
        <SectionCard title={report.refusal ? 'Response from the gateway' : 'Response'} actions={<HttpStatus status={response.status} />}>
          <HeaderTable caption="Response headers" headers={response.headers} />
          <Body {...response} label="Response body" />
        </SectionCard>
      )}
    </section>
  );
}

function Outcome({ report, routeId, routeEnabled, environment }: TestReportProps) {
  const path = usePath();
  const { slug } = useScope();
  const { refusal, response, request, timings } = report;
  if (refusal) {
    // The route is here on the page: that a caller cannot find it can only mean that it is switched off.
    if (refusal.code === 'route_not_found' && !routeEnabled)
      return (
        <Callout tone="warn" title="Callers get 404 because the route is off">
          Turn it on above, then test again.
        </Callout>
      );
    const told = refusalAdvice(refusal.code);
    const href = told?.fix && fixHref(told.fix, routeId, path, slug);
    return (
      <Callout
        tone={refusal.code.startsWith('upstream_') ? 'bad' : 'warn'}
        title={`${refusal.status.toString()} from the gateway: ${told?.why ?? refusal.code}`}
        requestId={report.request_id}
        actions={
          href && (
            <LinkButton size="sm" href={href.includes('?') ? `${href}&env=${environment}` : href}>
              {told?.fix?.label}
            </LinkButton>
          )
        }
      >
        {refusal.message} {told?.next}
      </Callout>
    );
  }
  if (report.dry_run)
    return (
      <Callout tone="info" title="Dry run: nothing was sent">
        This is the request that would be sent. Dry runs don’t count toward limits.
      </Callout>
    );
  const host = request ? new URL(request.url.replace(/\[redacted:[^\]]*\]/g, 'x')).host : 'The upstream';
  return (
    <Callout
      tone={response && response.status < 400 ? 'good' : 'warn'}
      title={`${host} responded with ${response?.status.toString() ?? ''} in ${timings.upstream_ms?.toString() ?? '?'} ms`}
    >
      Gateway overhead: {timings.overhead_ms} ms.
      {report.warnings.length > 0 && ` ${report.warnings.map(warned).join(' ')}`}
    </Callout>
  );
}

const warned = (warning: string): string =>
  warning.startsWith('expired:') ? `The secret ${warning.slice(8)} has expired but was still injected.` : warning;

/** What a caller has to meet besides, and would your own address. */
function Admission({ report: { checks }, routeId, environment }: { report: Report; routeId: string; environment: string }) {
  const path = usePath();
  const { requires_clients: clients, ip_allowlist: addresses, require_signature: signature } = checks;
  if (!clients.required && !addresses.required && !signature.required) return null;
  const lacking = (clients.required && !clients.met) || (addresses.required && !addresses.met);
  return (
    <Callout
      tone={lacking ? 'warn' : 'info'}
      title={lacking ? 'A caller at your IP address would be refused' : 'A caller at your IP address would be accepted'}
      actions={
        <LinkButton size="sm" href={path(`/routes/${routeId}?tab=access&env=${environment}`)}>
          View access
        </LinkButton>
      }
    >
      <ul className="list-disc pl-4">
        {clients.required && (
          <li>
            Requires an assigned client:{' '}
            {clients.met ? `your IP address matches ${clients.client ?? 'one'}.` : 'your IP address doesn’t match one.'}
          </li>
        )}
        {signature.required && <li>Requires a signature ({signature.scheme}). Tests are sent without one; callers get 401.</li>}
        {addresses.required && <li>IP allowlist: your IP address is {addresses.met ? 'listed' : 'not listed'}.</li>}
      </ul>
    </Callout>
  );
}

type Pairs = readonly { name: string; value: string }[];

/** Names and values; what the route put in is marked. */
function HeaderTable({ caption, headers, injected = [] }: { caption: string; headers: Pairs; injected?: readonly string[] }) {
  return (
    <div className="overflow-x-auto rounded-lg border border-line-strong">
      <table className="w-full font-mono text-xs">
        <caption className="sr-only">{caption}</caption>
        <thead className="sr-only">
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {headers.map(({ name, value }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a header may be there twice.
            <tr key={at} className="border-line border-b last:border-b-0">
              <th scope="row" className="w-1/3 px-3 py-1.5 text-left align-top font-normal text-ink-2 [overflow-wrap:anywhere]">
                {name}{' '}
                {injected.includes(`header:${name.toLowerCase()}`) && (
                  <Badge tone="accent" className="ml-1">
                    Injected
                  </Badge>
                )}
              </th>
              <td className="px-3 py-1.5 align-top [overflow-wrap:anywhere]">
                <Masked text={value} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Text with each masked value as the name of its secret. */
function Masked({ text }: { text: string }) {
  const parts = text.split(/(\[redacted:secret:[^\]]+\])/);
  if (parts.length === 1) return text;
  return parts.map((part, at) =>
    part.startsWith('[redacted:secret:') ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text.
      <Badge key={at} mono tone="accent" icon={<KeyRound />} title="The value of this secret isn’t shown">
        {part.slice(17, -1)}
      </Badge>
    ) : (
      part
    ),
  );
}

const HIDDEN = {
  partial: 'Hidden: a partial response can’t be scanned for secrets.',
  compressed: 'Hidden: a response compressed like this can’t be scanned for secrets. Send Accept-Encoding: identity to see it.',
  binary: 'Hidden: only text can be scanned for secrets, and this response is binary.',
  complex: 'Hidden: this response is encoded too deeply to scan for secrets.',
};

type BodyProps = Pick<NonNullable<Report['response']>, 'body' | 'body_encoding' | 'withheld_reason' | 'truncated'> & { label: string };

function Body({ body, body_encoding, withheld_reason, truncated, label }: BodyProps) {
  if (withheld_reason) return <p className="mt-3 text-ink-2">{HIDDEN[withheld_reason]}</p>;
  if (body === '') return <p className="mt-3 text-ink-3">No body.</p>;
  const json = body_encoding === 'text' && !truncated ? parsed(body) : undefined;
  return (
    <div className="mt-3 flex flex-col gap-1">
      {json === undefined ? (
        <Scroll role="group" aria-label={label} className="max-h-96 overflow-auto rounded-lg border border-line-strong bg-subtle p-3">
          <pre className="whitespace-pre-wrap font-mono text-xs [overflow-wrap:anywhere]">{body}</pre>
        </Scroll>
      ) : (
        <JsonView value={json} label={label} />
      )}
      {(truncated || body_encoding === 'base64') && (
        <p className="text-ink-3 text-xs">
          {body_encoding === 'base64' ? 'Binary, shown as Base64. ' : ''}
          {truncated ? 'Showing the first 256 KiB.' : ''}
        </p>
      )}
    </div>
  );
}

function parsed(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseExact(text) as Json;
  } catch {
    return undefined;
  }
}
