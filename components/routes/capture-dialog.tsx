'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { indented } from '#components/logs/payload-text.ts';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { type Json, JsonView } from '#components/ui/json-view.tsx';
import { RevealField } from '#components/ui/reveal-field.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

type Props = { open: boolean; onOpenChange: (open: boolean) => void; routeId: string; environment: string };
type Link = { token: string; capture_url: string; expires_at: string };

/** "Check payload capture" (interface rule 10 §15.3): a link of five minutes takes one request, whose shape is shown and whose values are revealed. */
export function CaptureDialog({ open, onOpenChange, routeId, environment }: Props) {
  const trpc = useTRPC();
  const named = useEnvironmentLabel();
  const [link, setLink] = useState<Link>();
  const start = useMutation(trpc.routes.startCapture.mutationOptions({ onSuccess: setLink }));
  const begin = () => {
    setLink(undefined);
    start.mutate({ id: routeId, environment });
  };
  const begun = open && (start.isPending || start.isError || link !== undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link is made when the dialog opens, and not again.
  useEffect(() => {
    if (open && !begun) begin();
    if (!open) {
      // The link is a credential: it leaves the page with its dialog.
      setLink(undefined);
      start.reset();
    }
  }, [open]);
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Check a request"
      description={`Send one request to this link to see what your caller sends in ${named(environment)}. It is never forwarded.`}
      footer={<Button onClick={() => onOpenChange(false)}>Close</Button>}
    >
      {start.isError && <MutationError error={start.error} />}
      {link ? (
        <Capture link={link} routeId={routeId} onAgain={begin} onSaved={() => onOpenChange(false)} />
      ) : (
        !start.isError && <Skeleton lines={4} label="Creating the link" />
      )}
    </Dialog>
  );
}

type CaptureProps = { link: Link; routeId: string; onAgain: () => void; onSaved: () => void };

function Capture({ link, routeId, onAgain, onSaved }: CaptureProps) {
  const trpc = useTRPC();
  const status = useQuery({
    ...trpc.routes.captureStatus.queryOptions({ id: routeId, token: link.token }),
    refetchInterval: ({ state }) => (state.data && state.data.state !== 'waiting' && state.data.state !== 'captured' ? false : 2_000),
    gcTime: 0,
  });
  const left = useSecondsLeft(link.expires_at);
  if (status.isError) return <QueryError query={status} what="This link" />;
  const state = left === 0 ? 'expired' : (status.data?.state ?? 'waiting');
  if (state === 'expired')
    return (
      <Callout tone="warn" title="The link has expired" actions={<Button onClick={onAgain}>New link</Button>}>
        A link and what was sent to it are deleted after 5 minutes.
      </Callout>
    );
  if (state === 'waiting' || !status.data) return <Waiting link={link} left={left} />;
  return <Captured link={link} routeId={routeId} left={left} status={status.data} onAgain={onAgain} onSaved={onSaved} />;
}

function Waiting({ link, left }: { link: Link; left: number }) {
  const code = `curl -X POST '${link.capture_url}' \\\n  -H 'Content-Type: application/json' \\\n  -d '{"example": true}'`;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <CodeBlock
        wrap
        snippets={[
          { id: 'url', label: 'Link', language: 'text', code: link.capture_url },
          { id: 'curl', label: 'curl', language: 'bash', code },
        ]}
      />
      <p role="status" className="text-ink-2">
        Waiting for a request with JSON or a form of at most 1 MiB.
      </p>
      <p className="text-ink-3 text-xs">
        Valid for {minutesText(left)}. Anyone with the link can send one request, but can’t read anything.
      </p>
    </div>
  );
}

type Status = { environment: string | null; content_type: string | null; bytes: number | null; structure: unknown };
type CapturedProps = CaptureProps & { left: number; status: Status };

function Captured({ link, routeId, left, status, onAgain, onSaved }: CapturedProps) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const forbidden = useRevealForbidden('log:read_payload');
  const save = useMutation(
    trpc.routes.applyCapture.mutationOptions({
      onSuccess: () => {
        notifyDone('Structure saved');
        onSaved();
        return cache.invalidateQueries(trpc.routes.pathFilter());
      },
    }),
  );
  const named = typeof status.structure === 'object' && status.structure !== null && !Array.isArray(status.structure);
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <p role="status" className="font-medium">
        A request was captured: {status.content_type}, {status.bytes} bytes.
      </p>
      <JsonView label="Structure" value={(status.structure ?? null) as Json} />
      <RevealField
        tall
        label="captured request"
        disabledReason={forbidden}
        reveal={async (reason) => {
          const request = await client.routes.checkCapture.mutate({ id: routeId, token: link.token }, revealCall(reason));
          const head = request.headers.map(({ name, value }) => `${name}: ${value}`).join('\n');
          return { value: `${request.method}\n${head}\n\n${indented(request.body)}` };
        }}
      />
      <p className="text-ink-3 text-xs">
        Deleted in {minutesText(left)}. Saving the structure keeps the names and types of its fields with this environment, and deletes the
        request.
      </p>
      {save.isError && <MutationError error={save.error} />}
      <div className="flex flex-wrap gap-2">
        <Button
          variant="primary"
          loading={save.isPending}
          disabledReason={named ? undefined : 'Only JSON objects and forms have named fields'}
          onClick={() => save.mutate({ id: routeId, token: link.token })}
        >
          Save structure
        </Button>
        <Button onClick={onAgain}>New link</Button>
      </div>
    </div>
  );
}

/** Whole seconds until a time, counted down to 0. */
function useSecondsLeft(until: string): number {
  const rest = () => Math.max(0, Math.ceil((Date.parse(until) - Date.now()) / 1000));
  const [left, setLeft] = useState(rest);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `rest` depends on `until` alone.
  useEffect(() => {
    setLeft(rest());
    const timer = setInterval(() => setLeft(rest()), 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return left;
}

const minutesText = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
