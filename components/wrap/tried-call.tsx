'use client';

import type { z } from 'zod';
import { usePath } from '#components/trpc/provider.tsx';
import { Badge, HttpStatus, Status } from '#components/ui/badge.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Scroll } from '#components/ui/scroll.tsx';
import type { TestedProxyCall } from '#server/domain/wrap/proxy-test.schema.ts';

type Report = z.output<typeof TestedProxyCall>;

const STATES = {
  resolves: { state: 'ok', label: 'Resolves' },
  fails: { state: 'blocked', label: 'Fails' },
  later: { state: 'off', label: 'Not checked' },
} as const;

const WITHHELD = {
  partial: 'The answer is a part of something and can’t be searched for secrets, so it is not shown.',
  compressed: 'The answer is compressed in a way that can’t be searched for secrets, so it is not shown.',
  binary: 'The answer is no text and can’t be searched for secrets, so it is not shown.',
  complex: 'The answer takes too long to search for secrets, so it is not shown.',
} as const;

/** What came of a call, or would: its placeholders, why it was refused, and the answer with every secret masked. */
export function TriedCall({ report, sent }: { report: Report | undefined; sent: boolean }) {
  const path = usePath();
  return (
    <div aria-live="polite" className="flex min-w-0 flex-col gap-4">
      <SectionCard title="Placeholders">
        {!report && <p className="text-ink-2">Check the call to see which placeholders would resolve. Values are never shown.</p>}
        {report?.placeholders.length === 0 && <p className="text-ink-2">The call has no placeholders.</p>}
        {report && report.placeholders.length > 0 && (
          <ul className="divide-y divide-line rounded-md border border-line">
            {report.placeholders.map(({ place, expression, state, detail }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: one placeholder may stand twice in one place.
              <li key={i} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
                <span className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">{expression}</span>
                <Badge>{place}</Badge>
                <Status state={STATES[state].state}>{STATES[state].label}</Status>
                <span className="w-full text-ink-2 text-xs">{detail}</span>
              </li>
            ))}
          </ul>
        )}
      </SectionCard>
      {report?.refusal && (
        <Callout
          tone={sent ? 'bad' : 'warn'}
          title={`${report.refusal.status} ${report.refusal.code}`}
          {...(sent ? { requestId: report.request_id } : {})}
        >
          {report.refusal.message}
        </Callout>
      )}
      {report && !report.refusal && !sent && (
        <Callout tone="good" title="This call would be sent">
          Nothing was opened and nothing was sent.
        </Callout>
      )}
      {report?.response && (
        <SectionCard
          title={report.refusal ? 'Response from the gateway' : 'Response'}
          description={`${report.latency_ms} ms. Secret values are replaced with their names.`}
          actions={
            <span className="flex items-center gap-3">
              <Link className={textLink} href={path(`/logs?peek=${report.request_id}`)}>
                View in Logs
              </Link>
              <HttpStatus status={report.response.status} />
            </span>
          }
        >
          <dl className="mb-3 grid gap-x-3 gap-y-1 font-mono text-xs sm:grid-cols-[max-content_1fr]">
            {report.response.headers.map(({ name, value }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a header may come twice.
              <div key={i} className="contents">
                <dt className="text-ink-2">{name}</dt>
                <dd className="min-w-0 [overflow-wrap:anywhere]">{value}</dd>
              </div>
            ))}
          </dl>
          {report.response.withheld_reason ? (
            <p className="text-ink-2">{WITHHELD[report.response.withheld_reason]}</p>
          ) : (
            <Scroll aria-label="Response body" tabIndex={0} className="max-h-96 rounded-md border border-line bg-subtle p-3">
              <pre className="whitespace-pre-wrap font-mono text-xs [overflow-wrap:anywhere]">{report.response.body || 'Empty'}</pre>
            </Scroll>
          )}
          {report.response.truncated && (
            <p className="mt-2 text-ink-2 text-xs">There was more. Call the proxy with a key to get all of it.</p>
          )}
        </SectionCard>
      )}
    </div>
  );
}
