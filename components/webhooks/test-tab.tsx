'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { TEST_EVENT } from '#server/domain/events/catalogue.shared.ts';
import { SamplePayload } from './sample-payload.tsx';
import type { Detail } from './webhook-labels.ts';

/** Sends one event now and says what the receiver answered. */
export function TestTab({ webhook }: { webhook: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('webhook:test');
  const [type, setType] = useState<string>(TEST_EVENT);
  const test = useMutation(
    trpc.webhooks.test.mutationOptions({ onSettled: () => queryClient.invalidateQueries(trpc.webhooks.pathFilter()) }),
  );
  const body = type === TEST_EVENT ? {} : { event_type: type as never };
  const result = test.data;
  return (
    <SectionCard
      title="Send a test"
      description="Goes out like every delivery, signed and without retries. It works while the webhook is paused."
    >
      <div className="flex flex-col gap-4">
        <Field label="Event" hint="Samples of other events have “sample”: true in their data.">
          <Select
            value={type}
            onValueChange={(next) => {
              setType(next);
              test.reset();
            }}
            options={[TEST_EVENT, ...webhook.event_types].map((value) => ({ value, label: value }))}
          />
        </Field>
        <div>
          <Button
            variant="primary"
            icon={<Send />}
            loading={test.isPending}
            disabledReason={forbidden}
            onClick={() => test.mutate({ id: webhook.id, ...body })}
          >
            Send test
          </Button>
        </div>
        <div role="status">
          {test.error ? (
            <Callout tone="bad" title="No test was sent">
              {refusalOf(test.error).message}
            </Callout>
          ) : result?.success ? (
            <Callout tone="good" title={`Delivered: status ${result.status}`}>
              The receiver answered after {result.response_time_ms} ms.
            </Callout>
          ) : (
            result && (
              <Callout tone="warn" title="The test failed">
                {result.error} It took {result.response_time_ms} ms.
              </Callout>
            )
          )}
        </div>
        <SamplePayload type={type} webhook={webhook} />
        <ApiEquivalent method="POST" path={`/webhooks/${webhook.id}/test`} body={body} />
      </div>
    </SectionCard>
  );
}
