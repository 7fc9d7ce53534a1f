'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Form, useUnsavedGuard, useZodForm } from '#components/ui/form.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { KeyFields, keyFields, keyInput } from './key-fields.tsx';
import type { Key } from './key-words.ts';

const Edited = z.object(keyFields);

const valuesOf = (key: Key) => ({
  name: key.name,
  role_ids: [...key.role_ids],
  rate_limit_requests: key.rate_limit_requests?.toString() ?? '',
  rate_limit_window_sec: (key.rate_limit_window_sec ?? 60).toString(),
  ip_allowlist: key.ip_allowlist.join('\n'),
});
const LABELS = { role_ids: 'Roles', rate_limit_requests: 'Calls', rate_limit_window_sec: 'Seconds', ip_allowlist: 'Addresses' };

export function EditForm({ apiKey, onDone }: { apiKey: Key; onDone: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const readOnly = useForbidden('api_key:update');
  const form = useZodForm({
    schema: Edited,
    defaultValues: valuesOf(apiKey),
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: apiKey,
    values: valuesOf,
    labels: LABELS,
    draft: { name: `api-keys/${apiKey.id}` },
    onNothingLeft: onDone,
  });
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const update = useMutation(
    trpc.apiKeys.update.mutationOptions({
      onError: refuse,
      onSuccess: () => {
        forget();
        void queryClient.invalidateQueries(trpc.apiKeys.pathFilter());
        notifyDone('Key changed; it applies to the next call');
        onDone();
      },
    }),
  );
  return (
    <Form
      form={form}
      refusal={refusal}
      onSubmit={(value) => {
        clear();
        update.mutate({ id: apiKey.id, ...keyInput(value), expected_updated_at: started() });
      }}
    >
      {panel}
      <KeyFields form={form} />
      <ApiEquivalent method="PATCH" path={`/api-keys/${apiKey.id}`} body={keyInput(form.watch())} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button
          type="submit"
          variant="primary"
          keys="mod+enter"
          loading={update.isPending}
          disabledReason={readOnly ?? (dirty ? undefined : 'Nothing is changed')}
        >
          Save
        </Button>
      </div>
    </Form>
  );
}
