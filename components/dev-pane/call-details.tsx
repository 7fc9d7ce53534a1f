'use client';

import { Braces, Signpost } from 'lucide-react';
import { codeOf } from '#components/shell/call-code.ts';
import { cliOf } from '#components/shell/cli.ts';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import type { RecordedCall } from '#components/trpc/recorder.ts';
import { nextStepOf } from '#components/trpc/refusal.ts';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Time } from '#components/ui/time.tsx';
import { type DescribedCall, explorerLink } from './describe-call.ts';

/** A call as code, with the ways on: the explorer with it filled in, and the audit log of its request. */
export function CallDetails({ call, line }: { call: RecordedCall; line: DescribedCall | undefined }) {
  const { api_url } = useScope();
  const path = usePath();
  if (!line) return <p className="px-5 py-6 text-ink-3 text-sm">This call is not part of the API.</p>;
  const explorer = explorerLink(line);
  const target = `${line.path}${line.query ? `?${line.query}` : ''}`;
  return (
    <div className="flex min-w-0 flex-col gap-3 px-3 py-3 lg:px-5">
      <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 text-xs">
        {line.summary && <span className="font-medium text-sm">{line.summary}</span>}
        <span className="text-ink-3">
          {line.status} in <span className="figures">{call.ms}</span> ms, <Time value={new Date(call.at).toISOString()} format="time" />
          {call.served && ', sent by the server on page load'}
        </span>
        {call.request_id && <CopyText value={call.request_id} label="request ID" />}
      </div>
      {call.error && (
        <Callout tone="warn" title={call.error.message}>
          {nextStepOf(call.error.code)}
        </Callout>
      )}
      <div className="flex flex-wrap gap-2">
        {explorer && (
          <LinkButton size="sm" href={path(explorer)} icon={<Braces />}>
            Open in API explorer
          </LinkButton>
        )}
        {call.kind === 'mutation' && call.request_id && (
          <LinkButton size="sm" href={path(`/audit?request_id=${call.request_id}`)} icon={<Signpost />}>
            View audit entries
          </LinkButton>
        )}
      </div>
      {line.public ? (
        <CodeBlock
          snippets={[
            ...codeOf({
              method: line.method,
              url: `${api_url}${target}`,
              headers: { Authorization: 'Bearer $SALLYPORT_KEY' },
              body: line.body,
            }),
            cliOf(line.method, target, line.body),
          ]}
        />
      ) : (
        <p className="text-ink-3 text-xs">
          Only the dashboard makes this call, for a signed-in person; no API key can. It is shown so that nothing this page does stays
          hidden.
        </p>
      )}
    </div>
  );
}
