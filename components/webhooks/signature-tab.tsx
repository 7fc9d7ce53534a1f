'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { usePath, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { RevealField } from '#components/ui/reveal-field.tsx';
import { Select } from '#components/ui/select.tsx';
import { onceOnly, ShownOnce } from '#components/ui/shown-once.tsx';
import { Time } from '#components/ui/time.tsx';
import { OVERLAPPING, SIGNATURE_HEADERS } from '#server/domain/webhooks/options.shared.ts';
import { snippetsOf } from './snippets.ts';
import { type Detail, FORMATS } from './webhook-labels.ts';

/** How requests are signed, the code that verifies them, and the secret. */
export function SignatureTab({ webhook }: { webhook: Detail }) {
  const path = usePath();
  const header = webhook.hmac_format === 'custom' ? (webhook.hmac_header_name ?? '') : SIGNATURE_HEADERS[webhook.hmac_format];
  return (
    <>
      <SectionCard
        title={`Format: ${FORMATS[webhook.hmac_format].label}`}
        description={`${FORMATS[webhook.hmac_format].about}. The header is ${header}.`}
      >
        <CodeBlock title="Verify a request" snippets={snippetsOf(webhook.hmac_format, header)} />
      </SectionCard>
      {webhook.hmac_key_id === null ? (
        <>
          <SecretCard webhook={webhook} />
          <RotateCard webhook={webhook} />
        </>
      ) : (
        <SectionCard title="Signing key">
          <p>
            A{' '}
            <Link href={path(`/crypto/${webhook.hmac_key_id}`)} className={textLink}>
              crypto key
            </Link>{' '}
            signs this webhook. Rotate it there: the new version signs at once.
          </p>
        </SectionCard>
      )}
    </>
  );
}

function SecretCard({ webhook }: { webhook: Detail }) {
  const client = useTRPCClient();
  const hidden = useRevealForbidden('webhook:reveal_secret');
  return (
    <SectionCard title="Signing secret" description="The receiver verifies requests with it. Its whole text is the key, prefix included.">
      <RevealField
        label="signing secret"
        disabledReason={hidden}
        reveal={async (reason) => {
          const { secret_key, reveals_left } = await client.webhooks.revealSecret.mutate({ id: webhook.id }, revealCall(reason));
          return { value: secret_key, left: reveals_left };
        }}
      />
    </SectionCard>
  );
}

const OVERLAPS = ['0', '1', '24', '72'] as const;
const OVERLAP_LABELS = { '0': 'None: the old secret ends now', '1': '1 hour', '24': '24 hours', '72': '3 days' } as const;

function RotateCard({ webhook }: { webhook: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('webhook:update');
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>(OVERLAPPING.has(webhook.hmac_format) ? '24' : '0');
  const [made, setMade] = useState<string>();
  const rotate = useMutation(
    trpc.webhooks.rotateSecret.mutationOptions({
      gcTime: 0,
      onSuccess: ({ secret_key }) => {
        setMade(secret_key);
        rotate.reset();
        return queryClient.invalidateQueries(trpc.webhooks.get.queryFilter({ id: webhook.id }));
      },
    }),
  );
  const body = { overlap_hours: Number(overlap) };
  return (
    <SectionCard title="Rotate the secret" description="Makes a new one. Give it to the receiver before the old one ends.">
      <div className="flex flex-col gap-4">
        {!OVERLAPPING.has(webhook.hmac_format) && (
          <Callout tone="warn" title="Requests are signed with the new secret at once">
            This format holds one signature. Have the receiver accept both secrets before you rotate.
          </Callout>
        )}
        {webhook.previous_secret_expires_at && (
          <p className="text-ink-2">
            The secret before signs along until <Time value={webhook.previous_secret_expires_at} format="datetime" />.
          </p>
        )}
        <Field label="The old secret signs along for" error={rotate.error ? refusalOf(rotate.error).message : undefined}>
          <Select value={overlap} onValueChange={setOverlap} options={OVERLAPS.map((value) => ({ value, label: OVERLAP_LABELS[value] }))} />
        </Field>
        <div>
          <Button
            icon={<RefreshCw />}
            loading={rotate.isPending}
            disabledReason={forbidden}
            onClick={() => rotate.mutate({ id: webhook.id, ...body })}
          >
            Rotate secret
          </Button>
        </div>
        <ApiEquivalent method="POST" path={`/webhooks/${webhook.id}/rotate-secret`} body={body} />
      </div>
      <ShownOnce
        value={made}
        title="Secret rotated"
        label="signing secret"
        description={onceOnly('signing secret')}
        filename="webhook-secret.txt"
        onGone={() => setMade(undefined)}
      />
    </SectionCard>
  );
}
