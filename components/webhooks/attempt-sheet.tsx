'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { HttpStatus } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { RevealField } from '#components/ui/reveal-field.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type Detail, problemOf } from './webhook-labels.ts';

type Props = { open: boolean; id: string | null; webhook: Of; onClose: () => void };
/** As much of its webhook as the sheet needs. */
type Of = Pick<Detail, 'id' | 'name' | 'enabled'>;

/** One request to the receiver, the others of its delivery, and behind a verification what was sent and answered. */
export function AttemptSheet({ open, id, webhook, onClose }: Props) {
  return (
    <Sheet open={open} onOpenChange={(next) => next || onClose()} title="Delivery" description={webhook.name}>
      {open && id && <Inspected id={id} webhook={webhook} />}
    </Sheet>
  );
}

function Inspected({ id, webhook }: { id: string; webhook: Of }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const cannotUpdate = useForbidden('webhook:update');
  const hidden = useRevealForbidden('log:read_payload');
  const query = useQuery(trpc.webhooks.inspectLog.queryOptions({ id }));
  const again = useMutation(
    trpc.webhooks.redeliver.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => {
        notifyDone('Queued again');
        return queryClient.invalidateQueries(trpc.webhooks.logs.queryFilter());
      },
    }),
  );
  const row = query.data;
  if (query.isError) return <QueryError query={query} what="Delivery" />;
  if (!row) return <Skeleton lines={8} label="Loading delivery" />;
  return (
    <div className="flex flex-col gap-5">
      <KeyValueList
        items={[
          { label: 'Event', value: <span className="font-mono text-xs">{row.event_type}</span> },
          { label: 'Event ID', value: <CopyText value={row.event_id} label="event ID" /> },
          { label: 'Delivery ID', value: <CopyText value={row.delivery_id} label="delivery ID" /> },
          { label: 'Request', value: <span className="break-all font-mono text-xs">{`${row.http_method} ${row.target_url}`}</span> },
          { label: 'Answer', value: row.success ? <HttpStatus status={row.response_status} /> : (row.error_message ?? problemOf(row)) },
          { label: 'Time', value: row.response_time_ms === null ? '—' : `${row.response_time_ms} ms` },
          { label: 'Sent', value: <Time value={row.executed_at} format="datetime" /> },
          ...(row.next_attempt_at ? [{ label: 'Tried again', value: <Time value={row.next_attempt_at} format="datetime" /> }] : []),
        ]}
      />
      <div>
        <Button
          icon={<RotateCcw />}
          loading={again.isPending}
          disabledReason={cannotUpdate ?? (webhook.enabled ? undefined : 'Enable the webhook first')}
          onClick={() => again.mutate({ id: webhook.id, log_id: row.id })}
        >
          Deliver again
        </Button>
      </div>
      <ApiEquivalent method="POST" path={`/webhooks/${webhook.id}/logs/${row.id}/redeliver`} />
      <section aria-label="Attempts" className="flex flex-col gap-2">
        <h3 className="font-medium">Attempts of this delivery</h3>
        <ol className="flex flex-col gap-1 text-xs">
          {row.attempts.map((one) => (
            <li key={one.id} className="flex flex-wrap items-center gap-x-3">
              <span className="figures">{one.attempt}</span>
              <Time value={one.executed_at} format="datetime" />
              {one.response_status === null ? <span>{problemOf(one)}</span> : <HttpStatus status={one.response_status} />}
              {one.response_time_ms !== null && <span className="figures text-ink-3">{one.response_time_ms} ms</span>}
            </li>
          ))}
        </ol>
      </section>
      <section aria-label="Payload" className="flex flex-col gap-2">
        <h3 className="font-medium">Request and response</h3>
        <p className="text-ink-3 text-xs">
          Headers sent: {row.request_headers.join(', ') || 'none'}. Headers received: {row.response_headers.join(', ') || 'none'}.
        </p>
        <RevealField
          key={row.id}
          tall
          label="request and response"
          disabledReason={hidden}
          reveal={async (reason) => {
            const { payload, reveals_left } = await client.webhooks.revealLog.mutate({ id: row.id }, revealCall(reason));
            const lines = (headers: Record<string, string>) => Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
            const { request, response } = payload;
            const value = [
              ...[`${row.http_method} ${row.target_url}`, ...lines(request.headers), '', request.body ?? '(the event has expired)'],
              ...(response ? ['', '—', '', `${row.response_status}`, ...lines(response.headers), '', response.body] : []),
            ].join('\n');
            return { value, left: reveals_left };
          }}
        />
      </section>
      <CodeBlock
        title="Send it yourself"
        snippets={[
          {
            id: 'curl',
            label: 'cURL',
            language: 'bash',
            code: `curl -X ${row.http_method} "$WEBHOOK_URL" \\\n  -H 'Content-Type: application/json' \\\n  -H 'X-Webhook-Event: ${row.event_type}' \\\n  -H 'X-Webhook-Id: ${row.event_id}' \\\n  --data @body.json`,
          },
        ]}
      />
    </div>
  );
}
