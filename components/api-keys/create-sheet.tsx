'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, useZodForm } from '#components/ui/form.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { AccessKeyFields, accessKeyFields } from './access-key-fields.tsx';
import type { NewKey } from './created-card.tsx';
import { KeyAdvisor } from './key-advisor.tsx';
import { KeyFields, keyFields, keyInput } from './key-fields.tsx';
import { narrowestRole } from './key-labels.ts';

const NewApiKey = z.object({ ...keyFields, ...accessKeyFields, key_type: z.enum(['standard', 'access_key']) });

type Props = { open: boolean; onClose: () => void; onCreated: (key: NewKey) => void };

/** Makes a key; what it is shown once is for `onCreated`. */
export function CreateKeySheet({ open, onClose, onCreated }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="New API key"
      description="The key is shown once, right after you create it."
    >
      {open && <CreateForm onClose={onClose} onCreated={onCreated} />}
    </Sheet>
  );
}

function CreateForm({ onClose, onCreated }: { onClose: () => void; onCreated: Props['onCreated'] }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space, role } = useScope();
  const accessReason = useFeatureReason('access_key');
  const form = useZodForm({
    schema: NewApiKey,
    defaultValues: {
      name: '',
      role_ids: narrowestRole(role),
      rate_limit_requests: '',
      rate_limit_window_sec: '60',
      ip_allowlist: '',
      key_type: 'standard',
      expires_at: null,
      scopes: [],
    },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.apiKeys.create.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: ({ api_key, key_id, name }) => {
        void queryClient.invalidateQueries(trpc.apiKeys.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        onCreated({ api_key, key_id, name });
        // The answer holds the key; the card above has the only copy now.
        create.reset();
      },
    }),
  );
  const submit = (value: z.output<typeof NewApiKey>) => {
    clear();
    create.mutate(inputOf(value));
  };
  const inputOf = (value: z.output<typeof NewApiKey>) => {
    const { rate_limit_requests, rate_limit_window_sec, ...input } = keyInput(value);
    return {
      ...input,
      ...(rate_limit_requests === null ? {} : { rate_limit_requests, rate_limit_window_sec }),
      ...(space === 'live' ? { key_type: value.key_type } : {}),
      ...(value.expires_at ? { expires_at: value.expires_at } : {}),
      ...(value.key_type === 'access_key' && value.scopes.length > 0 ? { scopes: value.scopes } : {}),
    };
  };
  const values = form.watch();
  const type = values.key_type;
  return (
    <Form form={form} onSubmit={submit} refusal={refusal} className="grow">
      {panel}
      <KeyAdvisor
        onAdvice={({ role_ids, expires_in_days }) => {
          form.setValue('role_ids', role_ids, { shouldDirty: true });
          const end = expires_in_days === null ? null : new Date(Date.now() + expires_in_days * 86_400_000).toISOString();
          form.setValue('expires_at', end, { shouldDirty: true });
        }}
      />
      <KeyFields form={form}>
        {space === 'live' && (
          <Field group label="Type">
            <RadioCards
              columns={2}
              value={type}
              onValueChange={(next) => form.setValue('key_type', next)}
              options={[
                { value: 'standard', title: 'Standard', description: 'For most applications.' },
                {
                  value: 'access_key',
                  title: 'Access key',
                  description: 'Can be limited to scopes.',
                  ...(accessReason ? { disabledReason: accessReason } : {}),
                },
              ]}
            />
          </Field>
        )}
        {type === 'access_key' && <AccessKeyFields form={form} />}
      </KeyFields>
      <ApiEquivalent method="POST" path="/api-keys" body={inputOf({ ...values, name: values.name || 'NAME' })} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Create key
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
