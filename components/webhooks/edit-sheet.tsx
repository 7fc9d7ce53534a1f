'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Form, useZodForm } from '#components/ui/form.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { changesOf, shownInput, valuesOf, WebhookForm } from './form-values.ts';
import { WebhookFields } from './webhook-fields.tsx';
import type { Detail } from './webhook-labels.ts';

const LABELS = {
  ...{ name: 'Name', url: 'URL', description: 'Description', event_types: 'Events', method: 'Method', auth_type: 'Authentication' },
  ...{
    username: 'User name',
    password: 'Password',
    token: 'Token',
    header_name: 'Header',
    header_value: 'Value',
    secret: 'Signing secret',
  },
  ...{ request_headers: 'Headers', hmac_format: 'Signature', hmac_header_name: 'Signature header', hmac_key_id: 'Signed with' },
  ...{ route_filter: 'Routes', status_codes: 'Status codes', audit: 'Audit entries', include_request_body: 'Request body' },
  ...{
    include_response_body: 'Response body',
    include_headers: 'Headers of calls',
    timeout_seconds: 'Timeout',
    retry_on_failure: 'Try again',
  },
  max_retries: 'Retries',
};

type Props = { open: boolean; webhook: Detail; onClose: () => void };

/** Changes a webhook. */
export function EditWebhookSheet({ open, webhook, onClose }: Props) {
  return (
    <Sheet open={open} onOpenChange={(next) => next || onClose()} dismissible={false} title={`Edit ${webhook.name}`}>
      {open && <EditForm webhook={webhook} onClose={onClose} />}
    </Sheet>
  );
}

function EditForm({ webhook, onClose }: Omit<Props, 'open'>) {
  const { space } = useScope();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('webhook:update');
  const form = useZodForm({ schema: WebhookForm, defaultValues: valuesOf(webhook) });
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, { row: webhook, values: valuesOf, labels: LABELS });
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const update = useMutation(
    trpc.webhooks.update.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: async () => {
        await queryClient.invalidateQueries(trpc.webhooks.pathFilter());
        notifyDone('Webhook saved');
        onClose();
      },
    }),
  );
  const before = valuesOf(webhook);
  return (
    <Form
      form={form}
      refusal={refusal}
      onSubmit={(value) => {
        clear();
        update.mutate({ id: webhook.id, ...changesOf(value, before), expected_updated_at: started() });
      }}
      className="grow"
    >
      {panel}
      <WebhookFields form={form} kept />
      <ApiEquivalent method="PATCH" path={`/webhooks/${webhook.id}`} body={shownInput(changesOf(form.watch(), before))} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            keys="mod+enter"
            loading={update.isPending}
            disabledReason={forbidden ?? (dirty ? undefined : 'No changes to save')}
          >
            Save
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
