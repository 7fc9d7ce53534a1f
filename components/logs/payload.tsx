'use client';

import { useQueryClient } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { useDownload } from '#components/trpc/download.ts';
import { usePath, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { RevealField } from '#components/ui/reveal-field.tsx';
import { Time } from '#components/ui/time.tsx';
import type { BodyWithheld, Side } from '#server/domain/request-logs/payloads/stored.shared.ts';
import { bytes } from './compare.ts';
import { payloadText } from './payload-text.ts';
import type { Detail } from './trace.ts';

/** Headers and bodies of a call: what became of them, and the one way to see them. */
export function Payload({ detail }: { detail: Detail }) {
  const { payload_meta: meta, route } = detail;
  const path = usePath();
  return (
    <section aria-label="Payload" className="flex flex-col gap-2">
      <h3 className="font-semibold">Payload</h3>
      {meta.state === 'captured' ? (
        <Kept detail={detail} />
      ) : meta.state === 'pending' ? (
        <Pending requestId={detail.log.request_id} />
      ) : (
        <p className="text-ink-2">
          {WORDS[meta.state]}{' '}
          {meta.state === 'not_captured' && route && (
            <Link className={textLink} href={path(`/routes/${route.id}?tab=config`)}>
              Payloads of this route
            </Link>
          )}
        </p>
      )}
    </section>
  );
}

const WORDS = {
  not_captured: 'Headers and bodies of this call weren’t kept.',
  expired: 'The payload has been deleted. Payloads are kept for at most 30 days.',
  lost: 'The payload of this call couldn’t be kept: the gateway was short of memory or couldn’t reach its database. The call itself wasn’t affected.',
};

function Pending({ requestId }: { requestId: string }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  return (
    <p className="flex flex-wrap items-center gap-2 text-ink-2">
      The payload is being stored.
      <Button size="sm" onClick={() => void cache.invalidateQueries(trpc.requestLogs.inspect.queryFilter({ request_id: requestId }))}>
        Check again
      </Button>
    </p>
  );
}

function Kept({ detail: { log, payload_meta: meta } }: { detail: Detail }) {
  const client = useTRPCClient();
  const forbidden = useRevealForbidden('log:read_payload');
  return (
    <>
      <KeyValueList
        items={[
          {
            label: 'Request',
            value: told(meta.request_content_type, meta.request_bytes),
            ...hintOf(meta.request_body_withheld),
          },
          {
            label: 'Response',
            value: told(meta.response_content_type, meta.response_bytes),
            ...hintOf(meta.response_body_withheld),
          },
          ...(meta.expires_at ? [{ label: 'Kept until', value: <Time value={meta.expires_at} format="date" /> }] : []),
        ]}
      />
      <p className="text-ink-3 text-xs">
        Credentials, card numbers and values of secrets were masked before it was stored.
        {meta.truncated && ' Only the first 32 KiB of each body are kept.'}
      </p>
      <RevealField
        tall
        label="payload of this call"
        disabledReason={forbidden}
        reveal={async (reason) => {
          const { payload } = await client.requestLogs.reveal.mutate({ request_id: log.request_id }, revealCall(reason));
          return { value: payloadText(payload) };
        }}
      />
      <div className="flex flex-wrap gap-2">
        <SaveBody
          requestId={log.request_id}
          side="request"
          size={meta.request_body_withheld ? 0 : meta.request_bytes}
          forbidden={forbidden}
        />
        <SaveBody
          requestId={log.request_id}
          side="response"
          size={meta.response_body_withheld ? 0 : meta.response_bytes}
          forbidden={forbidden}
        />
      </div>
    </>
  );
}

type SaveBodyProps = { requestId: string; side: Side; size: number | null; forbidden: string | undefined };

/** A body as a file: another reveal, with a confirmation of its own. */
function SaveBody({ requestId, side, size, forbidden }: SaveBodyProps) {
  const { busy, save } = useDownload();
  if (!size) return null;
  return (
    <Button
      size="sm"
      icon={<Download />}
      loading={busy}
      disabledReason={forbidden}
      onClick={() => void save(`/admin/logs/${requestId}/file?part=${side}`)}
    >
      {side === 'request' ? 'Request body' : 'Response body'}
    </Button>
  );
}

const told = (type: string | null, size: number | null): string =>
  [type, size === null ? null : bytes(size)].filter(Boolean).join(', ') || '—';

const WHY: Record<BodyWithheld, string> = {
  compressed: 'Body not kept: it was compressed in a way that can’t be searched for secrets',
  binary: 'Body not kept: it is binary, which can’t be searched for the secrets of this call',
  partial: 'Body not kept: it was part of a response, which can’t be searched for secrets',
  complex: 'Body not kept: searching it for secrets took too long',
  not_read: 'Body not kept: the gateway answered without reading it',
};
const hintOf = (withheld: BodyWithheld | null) => (withheld ? { hint: WHY[withheld] } : {});
