'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Form, useZodForm } from '#components/ui/form.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { onceOnly, ShownOnce } from '#components/ui/shown-once.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { EMPTY, inputOf, shownInput, type Values, WebhookForm } from './form-values.ts';
import { WebhookFields } from './webhook-fields.tsx';

type Props = { open: boolean; onClose: () => void; onCreated: (id: string) => void };

/** Makes a webhook, then shows its signing secret once. */
export function CreateWebhookSheet({ open, onClose, onCreated }: Props) {
  const [made, setMade] = useState<{ id: string; secret: string }>();
  return (
    <>
      <Sheet
        open={open && !made}
        onOpenChange={(next) => next || onClose()}
        dismissible={false}
        title="New webhook"
        description="Choose events, and where to send them."
      >
        {open && !made && <CreateForm onClose={onClose} onMade={setMade} />}
      </Sheet>
      <ShownOnce
        value={made?.secret}
        title="Webhook created"
        label="signing secret"
        description={`The receiver verifies every request with it. ${onceOnly('signing secret')}`}
        filename="webhook-secret.txt"
        onGone={() => {
          const id = made?.id;
          setMade(undefined);
          if (id) onCreated(id);
        }}
      />
    </>
  );
}

function CreateForm({ onClose, onMade }: { onClose: () => void; onMade: (made: { id: string; secret: string }) => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const form = useZodForm({ schema: WebhookForm, defaultValues: EMPTY });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.webhooks.create.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: ({ id, secret_key }) => {
        void queryClient.invalidateQueries(trpc.webhooks.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        onMade({ id, secret: secret_key });
      },
    }),
  );
  const bodyOf = (value: Values) => ({ name: value.name, url: value.url, event_types: value.event_types, ...inputOf(value) });
  return (
    <Form
      form={form}
      onSubmit={(value) => {
        clear();
        create.mutate(bodyOf(value));
      }}
      refusal={refusal}
      className="grow"
    >
      {panel}
      <WebhookFields form={form} />
      <ApiEquivalent method="POST" path="/webhooks" body={shownInput(bodyOf(form.watch()))} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Create webhook
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
