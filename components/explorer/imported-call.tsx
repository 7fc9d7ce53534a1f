'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { codeOf } from '#components/shell/call-code.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import type { ApiOperation } from './document.ts';
import { type Draft, draftOf, emptyDraft } from './draft.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export type ImportedCallProps = {
  requestId: string | null;
  operations: readonly ApiOperation[];
  onRequest: (id: string | null) => void;
  onChoose: (operation: string, draft: Draft) => void;
};

/** A request id from a log line or an error: one's own explorer call goes back into the form, a call through the gateway becomes code to repeat it. */
export function ImportedCall({ requestId, operations, onRequest, onChoose }: ImportedCallProps) {
  const trpc = useTRPC();
  const path = usePath();
  const { proxy_url } = useScope();
  const [typed, setTyped] = useState(requestId ?? '');
  const history = useQuery(trpc.explorer.history.queryOptions({}));
  const id = requestId && UUID.test(requestId) ? requestId.toLowerCase() : '';
  const own = history.data?.calls.find((call) => call.id === id);
  const op = operations.find((one) => one.id === own?.operation);
  const logged = useQuery(
    trpc.requestLogs.inspect.queryOptions({ request_id: id }, { enabled: id !== '' && history.data !== undefined && !own, retry: false }),
  );
  const log = logged.data?.log;
  const reference = logged.data?.route?.slug ?? log?.slug ?? log?.route_id;
  return (
    <SectionCard>
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          onRequest(typed.trim().replace(/^req:\s*/i, '') || null);
        }}
      >
        <Field
          label="Import by request ID"
          className="flex-1"
          error={requestId && !id ? 'Enter a request ID such as 0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b.' : undefined}
        >
          <Input mono value={typed} onChange={(event) => setTyped(event.target.value)} placeholder="From a log or an error" />
        </Field>
        <Button type="submit">Import</Button>
      </form>
      {own && op && (
        <p className="mt-3 flex flex-wrap items-center gap-2">
          You sent {own.method} {own.path}; it answered {own.status}.
          <Button size="sm" onClick={() => onChoose(op.id, draftOf(op, own))}>
            Use in form
          </Button>
        </p>
      )}
      {logged.error && (
        <p className="mt-3 text-ink-2">
          {refusalOf(logged.error).code === 'not_found'
            ? 'No call in this space has this ID. It may be in the other space or past its retention.'
            : refusalOf(logged.error).message}
        </p>
      )}
      {log && (
        <div className="mt-3 flex min-w-0 flex-col gap-2">
          <p className="flex flex-wrap items-center gap-2">
            A call through the gateway: {log.method} {log.path} returned {log.status_code}. Its body wasn’t stored.
            <LinkButton size="sm" href={path(`/logs?peek=${log.request_id}`)}>
              View log
            </LinkButton>
            {log.route_id && (
              <Button size="sm" onClick={() => onChoose('routes.get', { ...emptyDraft, path: { id: log.route_id ?? '' } })}>
                View route
              </Button>
            )}
          </p>
          {reference && (
            <CodeBlock
              snippets={codeOf({
                method: log.method ?? 'GET',
                url: `${proxy_url}/${encodeURIComponent(reference)}${log.path ?? '/'}`,
                headers: { 'X-Svc-Key': '$SALLYPORT_KEY', ...(log.environment ? { 'X-Svc-Environment': log.environment } : {}) },
              })}
            />
          )}
        </div>
      )}
    </SectionCard>
  );
}
